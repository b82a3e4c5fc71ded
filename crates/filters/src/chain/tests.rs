//! Tests of the chain and the table behind it.

use serde_json::json;

use super::*;

fn spec(name: &str) -> FilterSpec {
    let config = match name {
        "header_rewrite" => json!({"request": {"remove": ["X-A"]}}),
        "path_rewrite" => json!({"strip_segments": 1}),
        _ => json!({}),
    };
    FilterSpec::new(name, config)
}

fn entry(specs: &[FilterSpec]) -> Result<Chain, Vec<Problem>> {
    Chain::build(Stage::Entry, specs, "entry:http", &States::default())
}

fn route(specs: &[FilterSpec]) -> Result<Chain, Vec<Problem>> {
    Chain::build(Stage::Route, specs, "route:orders", &States::default())
}

fn problems(result: Result<Chain, Vec<Problem>>) -> Vec<Problem> {
    result.err().unwrap()
}

#[test]
fn filters_stand_in_the_order_of_phases_and_else_as_the_user_wrote() {
    let chain = entry(&[
        spec("header_hygiene"),
        spec("trace_context"),
        spec("request_id"),
    ])
    .unwrap();

    let order: Vec<_> = chain.links().iter().map(|link| &*link.id).collect();
    assert_eq!(order, ["trace_context", "request_id", "header_hygiene"]);
}

#[test]
fn respond_filters_stand_apart() {
    let respond = FilterSpec::new("header_rewrite", json!({"response": {"remove": ["Via"]}}));
    let chain = route(&[respond, spec("path_rewrite")]).unwrap();

    assert_eq!(&*chain.inbound()[0].id, "path_rewrite");
    assert_eq!(&*chain.respond()[0].id, "header_rewrite");
    assert!(chain.respond()[0].sees_response);
    assert!(!chain.inbound()[0].sees_response);
    assert_eq!(chain.needs_body(), None);
    assert_eq!(chain.path_params().count(), 0);
}

#[test]
fn all_problems_of_all_filters_are_found_with_their_places() {
    let found = problems(entry(&[
        FilterSpec::new("reqest_id", json!({})),
        FilterSpec::new("request_id", json!({"heder": "X", "keep": "yes"})),
        spec("path_rewrite"),
        FilterSpec::new("trace_context", json!({"sample": 2})),
    ]));

    let pointers: Vec<_> = found
        .iter()
        .map(|problem| problem.pointer.as_str())
        .collect();
    let expected = [
        "/0/name",
        "/1/config/heder",
        "/1/config/keep",
        "/2/name",
        "/3/config/sample",
    ];
    assert_eq!(pointers.len(), expected.len(), "{found:?}");
    assert!(
        expected.iter().all(|pointer| pointers.contains(pointer)),
        "{found:?}"
    );
    assert_eq!(found[0].code, "unknown_filter");
    assert_eq!(found[0].suggestion.as_deref(), Some("request_id"));
    let field = found
        .iter()
        .find(|problem| problem.pointer == "/1/config/heder")
        .unwrap();
    assert_eq!(field.suggestion.as_deref(), Some("header"));
    assert_eq!(
        field.expected.as_deref(),
        Some("one of: header, keep, respond")
    );
}

#[test]
fn the_same_filter_twice_needs_ids_of_its_own() {
    let found = problems(route(&[spec("path_rewrite"), spec("path_rewrite")]));
    assert_eq!(
        (found[0].pointer.as_str(), found[0].code),
        ("/1/name", "duplicate_filter")
    );

    let named = FilterSpec {
        id: Some("second".to_owned()),
        ..spec("path_rewrite")
    };
    assert_eq!(
        route(&[spec("path_rewrite"), named]).unwrap().links().len(),
        2
    );
}

#[test]
fn a_filter_cannot_be_moved_to_a_phase_it_does_not_allow() {
    let moved = FilterSpec {
        phase: Some(Phase::Respond),
        ..spec("request_id")
    };
    let found = problems(entry(&[moved]));

    assert_eq!(found[0].pointer, "/0/phase");
    assert_eq!(found[0].expected.as_deref(), Some("one of: identify"));
}

#[test]
fn a_spec_reads_from_the_document_and_refuses_unknown_fields() {
    let read = |value| serde_json::from_value::<FilterSpec>(value);

    let spec = read(json!({"name": "request_id", "phase": "identify"})).unwrap();
    assert_eq!(
        (spec.id(), spec.phase),
        ("request_id", Some(Phase::Identify))
    );
    assert_eq!(spec.config, json!({}));
    assert!(read(json!({"name": "request_id", "order": 3})).is_err());
}

#[test]
fn every_row_documents_itself() {
    for row in AnyFilter::rows() {
        assert!(row.phase.is_some(), "{}", row.name);
        assert!(row.docs.len() > 40, "{}", row.name);
        let fields = row.schema["properties"].as_object().unwrap();
        for (field, schema) in fields {
            assert!(schema.get("description").is_some(), "{}: {field}", row.name);
        }
        assert_eq!(
            row.schema["additionalProperties"],
            json!(false),
            "{}",
            row.name
        );
    }
}
