//! The path normal form: RFC 3986 and the cases of requests that hide their path.

use proptest::prelude::*;
use sluicegate_router::{BadPath, Normal, fuzz, has_encoded_slash, normalize};

fn normal(path: &str) -> Result<String, BadPath> {
    let mut scratch = String::from("left over");
    Ok(match normalize(path, &mut scratch)? {
        Normal::Unchanged => path.to_owned(),
        Normal::Changed => scratch,
    })
}

// spec: RT-21
#[test]
fn dot_segments_go_and_slashes_are_merged() {
    for (path, expected) in [
        ("/", "/"),
        ("", "/"),
        ("/a/b", "/a/b"),
        ("/a/b/", "/a/b/"),
        ("//a///b//", "/a/b/"),
        ("/a/./b/.", "/a/b/"),
        ("/a/b/..", "/a/"),
        ("/a/../../../b", "/b"),
        ("/..", "/"),
        ("/a/b/c/./../../g", "/a/g"),
        ("/mid/content=5/../6", "/mid/6"),
        ("/a//../b", "/b"),
        ("/.well-known/x", "/.well-known/x"),
        ("/...", "/..."),
        ("/..a/.b/c..", "/..a/.b/c.."),
    ] {
        assert_eq!(normal(path).as_deref(), Ok(expected), "{path}");
    }
}

// spec: RT-21
// case: PA-01
#[test]
fn every_disguise_of_a_protected_path_is_its_plain_form_or_refused() {
    for path in [
        "/public/../admin/x",
        "/public/./../admin/x",
        "/public//../admin/x",
        "//admin/x",
        "/./admin/x",
        "/public/%2e%2e/admin/x",
        "/public/%2E./admin/x",
        "/public/.%2e/admin/x",
        "/%61dmin/x",
        "/public/%2e/%2e%2E//admin/x",
    ] {
        assert_eq!(normal(path).as_deref(), Ok("/admin/x"), "{path}");
    }
    for path in [
        r"/public\..\admin\x",
        "/public%5C..%5Cadmin",
        "/public/%5c../admin",
        "/public/..;/admin/x",
        "/public/..;a=b/admin/x",
        "/public/.;/admin/x",
        "/public/%2e%2e;/admin/x",
        "/public/..%3B/admin/x",
        "/public/..%3b/admin/x",
        "/;/admin/x",
        "/;x=1/admin/x",
        "/public/..%2Fadmin/x",
        "/public/x%2f..%2fadmin",
        "/public/%2e%2e%2fadmin",
        "/public/x%2F..;/admin",
    ] {
        assert!(normal(path).is_err(), "{path}");
    }
}

// spec: RT-21
// case: PA-02
#[test]
fn reserved_characters_stay_as_received_and_nothing_is_decoded_twice() {
    for (path, expected) in [
        ("/t/a%2Fb", "/t/a%2Fb"),
        ("/t/a%2fb", "/t/a%2Fb"),
        ("/t/a%252Fb", "/t/a%252Fb"),
        ("/t/%252e%252e/x", "/t/%252e%252e/x"),
        ("/t/(x,y)", "/t/(x,y)"),
        ("/t/%28x,y%29", "/t/%28x,y%29"),
        ("/t/a%20b", "/t/a%20b"),
        ("/t/a+b", "/t/a+b"),
        ("/t/a%2Bb", "/t/a%2Bb"),
        ("/t/%C3%A9", "/t/%C3%A9"),
        ("/t/%c3%a9", "/t/%C3%A9"),
        ("/t/é", "/t/%C3%A9"),
        ("/t/%7Euser/%41%2d%5F", "/t/~user/A-_"),
        ("/t/a;v=1", "/t/a;v=1"),
        ("/t/%FF", "/t/%FF"),
    ] {
        assert_eq!(normal(path).as_deref(), Ok(expected), "{path}");
    }
}

// spec: RT-21
// case: PA-02
#[test]
fn what_has_no_one_reading_is_refused() {
    for path in [
        "/t/a%",
        "/t/%zz",
        "/t/%2",
        "/t/%2x",
        "/%",
        "/t/%é",
        "/t/%00",
        "/t/%0a",
        "/t/%1F",
        "/t/%7f",
        "/t/\0",
        "/t/\u{7f}",
        "/t/a b",
        "/t/a\tb",
        "/t/a?b",
        "/t/a#b",
        "t/a",
        "*",
        "http://a/b",
    ] {
        let reason = normal(path).expect_err(path).reason();
        assert!(reason.starts_with("the path "), "{path}: {reason}");
    }
}

// case: PA-03
#[test]
fn near_spellings_stay_different_paths() {
    let spellings = [
        "/svc/admin",
        "/svc/admin/",
        "/svc/ADMIN",
        "/svc/admin;v=1",
        "/svc/admin%20",
        "/svc/admin.",
    ];

    for path in spellings {
        assert_eq!(normal(path).as_deref(), Ok(path));
    }
    assert_eq!(normal("/svc/admin//").as_deref(), Ok("/svc/admin/"));
}

// case: PA-02
#[test]
fn an_encoded_slash_is_seen_in_either_case() {
    assert!(has_encoded_slash("/a%2Fb"));
    assert!(has_encoded_slash("/a%2f"));
    assert!(!has_encoded_slash("/a%252Fb/%2"));
}

proptest! {
    // spec: RT-21
    /// Whatever is accepted is a fixed point without dot segments.
    #[test]
    fn a_normal_form_is_final(path in "/?([a-b./%;\\\\2eE5Ff3B~é]|%2[eEfF]|%5[cC]|/\\.\\.?|;|%3b){0,24}") {
        fuzz::path(path.as_bytes());
    }

    // spec: RT-21
    /// Nothing is said to have changed that has not.
    #[test]
    fn unchanged_means_equal(path in "/([a-c./]|%2[eEfF]|%[34][0-9a-fA-F]|;){0,24}") {
        let mut scratch = String::new();
        match normalize(&path, &mut scratch) {
            Ok(Normal::Unchanged) => {
                prop_assert!(scratch.is_empty());
                prop_assert_eq!(normal(&path), Ok(path));
            }
            Ok(Normal::Changed) => prop_assert_ne!(scratch, path),
            Err(_) => {}
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic(path in any::<String>()) {
        fuzz::path(path.as_bytes());
    }
}
