//! What the prover says against all requests of a small world.

use proptest::prelude::*;
use sluicegate_router::{
    Finding, Found, Kind, Limits, Report, RouteSpec, Router, Scratch, Subject, Test,
};

use crate::support::{Conditions, Request, equals, get, matches, route};

const HOSTS: [&str; 5] = ["a.test", "b.a.test", "c.b.a.test", "d.test", "other"];
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "BREW", "OPTIONS"];
const SEGMENTS: [&str; 11] = [
    "a", "b", "ab", "aa", "aba", "z", "az", "za", "aza", "bz", "ba",
];
const VALUES: [Option<&str>; 5] = [None, Some("1"), Some("2"), Some("v1"), Some("")];
const ALL: Limits = Limits {
    findings: usize::MAX,
    work: 1_000_000_000,
    pairs: 1_000_000,
};

/// Every path of two segments, and what is needed to tell templates of two segments apart.
fn paths() -> Vec<String> {
    let mut paths = vec!["/".to_owned()];
    for first in SEGMENTS {
        paths.extend([format!("/{first}"), format!("/{first}/")]);
        for second in SEGMENTS {
            let path = format!("/{first}/{second}");
            paths.extend([format!("{path}/z"), format!("{path}/"), path]);
        }
    }
    paths
}

fn requests(values: &[Option<&str>]) -> Vec<Request> {
    let mut requests = Vec::new();
    for path in paths() {
        for host in HOSTS {
            for method in METHODS {
                for value in values {
                    let request = get(&path).at(host).by(method);
                    requests.push(match value {
                        Some(value) => request.with("x", value),
                        None => request,
                    });
                }
            }
        }
    }
    requests
}

/// For each route, which requests it takes alone, and which it answers among the others.
struct World {
    taken: Vec<Vec<bool>>,
    answered: Vec<Vec<bool>>,
}

impl World {
    fn new(specs: &[RouteSpec], requests: &[Request]) -> Self {
        let scratch = &mut Scratch::default();
        let mut taken = Vec::new();
        for spec in specs {
            let alone = Router::build(vec![spec.clone()]).unwrap();
            let mut takes = |request| alone.find(request, scratch) == Found::Route(0);
            taken.push(requests.iter().map(&mut takes).collect());
        }
        let router = Router::build(specs.to_vec()).unwrap();
        let mut answered = vec![vec![false; requests.len()]; specs.len()];
        for (place, request) in requests.iter().enumerate() {
            if let Found::Route(index) = router.find(request, scratch) {
                answered[index][place] = true;
            }
        }
        Self { taken, answered }
    }
}

fn is_none(requests: &[bool]) -> bool {
    !requests.contains(&true)
}

fn are_within(some: &[bool], all: &[bool]) -> bool {
    some.iter().zip(all).all(|(some, all)| !some || *all)
}

fn meet(one: &[bool], other: &[bool]) -> bool {
    one.iter().zip(other).any(|(one, other)| *one && *other)
}

fn is_unreached(finding: &Finding) -> bool {
    matches!(
        finding.kind,
        Kind::Impossible | Kind::Equal | Kind::Shadowed
    )
}

/// Each witness does what is claimed of it, by the table itself.
fn judge_witnesses(specs: &[RouteSpec], report: &Report) {
    let router = Router::build(specs.to_vec()).unwrap();
    for finding in &report.findings {
        let Some(witness) = &finding.witness else {
            continue;
        };
        let answer = router.find(witness, &mut Scratch::default());
        let answered = finding.answered_by.map_or(Found::NotFound, Found::Route);
        assert_eq!(answer, answered, "{finding:?}");
        let takes = |index: usize| {
            let alone = Router::build(vec![specs[index].clone()]).unwrap();
            alone.find(witness, &mut Scratch::default()) == Found::Route(0)
        };
        match finding.kind {
            // These show what is not taken.
            Kind::NoRest | Kind::SlashOnly => assert!(!takes(finding.route), "{finding:?}"),
            _ => assert!(takes(finding.route), "{finding:?}"),
        }
        if matches!(finding.kind, Kind::SlashTwin | Kind::CaseTwin) {
            continue;
        }
        if !is_unreached(finding) {
            assert!(
                finding.others.iter().all(|other| takes(*other)),
                "{finding:?}"
            );
        } else if finding.kind != Kind::Impossible {
            assert_ne!(finding.answered_by, None, "{finding:?}");
        }
        let mut scratch = String::new();
        let normal = sluicegate_router::normalize(witness.path(), &mut scratch);
        assert_eq!(
            normal,
            Ok(sluicegate_router::Normal::Unchanged),
            "{finding:?}"
        );
    }
}

/// What is said to be never reached is not, and sets are what the kinds say.
fn judge_claims(world: &World, report: &Report) {
    let (taken, answered) = (&world.taken, &world.answered);
    for finding in &report.findings {
        let own = &taken[finding.route];
        if is_unreached(finding) {
            assert!(is_none(&answered[finding.route]), "{finding:?}");
            let by_one = |place: usize| finding.others.iter().any(|one| taken[*one][place]);
            let by_others: Vec<bool> = (0..own.len()).map(by_one).collect();
            assert!(are_within(own, &by_others), "{finding:?}");
        }
        match finding.kind {
            Kind::Impossible => assert!(is_none(own), "{finding:?}"),
            Kind::Equal => assert_eq!(own, &taken[finding.others[0]], "{finding:?}"),
            Kind::Inside => assert!(are_within(&taken[finding.others[0]], own), "{finding:?}"),
            _ => {}
        }
    }
}

fn a_template() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a", "b", "ab", "{p}", "{p}", "a{p}", "{p}a", "a{p}a", "b{p}",
    ]);
    let end = prop::sample::select(vec!["", "", "/", "/**"]);
    (prop::collection::vec(part, 0..3), end).prop_map(|(parts, end)| {
        let mut path = String::new();
        for (place, part) in parts.iter().enumerate() {
            path.push('/');
            path.push_str(&part.replace("{p}", &format!("{{p{place}}}")));
        }
        path.push_str(end);
        if path.is_empty() {
            "/".to_owned()
        } else {
            path
        }
    })
}

fn a_route(tests: Vec<Option<Test>>) -> impl Strategy<Value = RouteSpec> {
    let hosts = prop::sample::select(vec![
        vec![],
        vec![],
        vec!["a.test"],
        vec!["*.test"],
        vec!["*.a.test"],
        vec!["b.a.test", "*.test"],
        vec!["d.test", "a.test"],
    ]);
    let methods = prop::sample::select(vec![
        vec![],
        vec![],
        vec!["GET"],
        vec!["POST"],
        vec!["HEAD"],
        vec!["PUT", "BREW"],
        vec!["GET", "POST"],
    ]);
    let tests = prop::collection::vec(prop::sample::select(tests), 0..3);
    (a_template(), hosts, methods, -1..2_i32, tests).prop_map(
        |(path, hosts, methods, priority, tests)| {
            let spec = route(&path)
                .hosts(&hosts)
                .methods(&methods)
                .priority(priority);
            tests
                .into_iter()
                .flatten()
                .fold(spec, |spec, test| spec.header("x", test))
        },
    )
}

fn with_ids(mut specs: Vec<RouteSpec>) -> Vec<RouteSpec> {
    for (index, spec) in specs.iter_mut().enumerate() {
        spec.id = index.to_string();
    }
    if let Err(problems) = Router::build(specs.clone()) {
        let mut twins: Vec<usize> = problems.iter().map(|problem| problem.route).collect();
        twins.reverse();
        for twin in twins {
            specs.remove(twin);
        }
    }
    specs
}

fn prove(specs: &[RouteSpec]) -> Report {
    let upstreams = vec![Some("one"); specs.len()];
    let router = Router::build(specs.to_vec()).expect("no twins are left");
    router.prove(&upstreams, ALL)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    // spec: RT-29
    // spec: CF-22
    /// Without patterns everything is decided: a route is never reached exactly when the prover
    /// says so, and two routes meet exactly when it says so.
    #[test]
    fn the_prover_says_what_all_requests_say(
        specs in prop::collection::vec(a_route(vec![
            None, None, Some(equals("1")), Some(Test::Present(true)), Some(Test::Present(false)),
        ]), 1..9),
    ) {
        let specs = with_ids(specs);
        let requests = requests(&VALUES[..3]);
        let world = World::new(&specs, &requests);

        let report = prove(&specs);

        judge_witnesses(&specs, &report);
        judge_claims(&world, &report);
        prop_assert!(report.undecided.is_empty());
        prop_assert_eq!(report.cut_short, 0);
        for (index, answered) in world.answered.iter().enumerate() {
            let said = report.findings.iter().any(|one| one.route == index && is_unreached(one));
            prop_assert_eq!(said, is_none(answered), "route {}: {:#?}", index, report);
        }
        for one in 0..specs.len() {
            for other in 0..one {
                let either_unreached = is_none(&world.answered[one]) || is_none(&world.answered[other]);
                let meet = meet(&world.taken[one], &world.taken[other]);
                let said = report.findings.iter().any(|finding| {
                    matches!(finding.kind, Kind::Inside | Kind::Partial | Kind::Hidden)
                        && [(one, other), (other, one)].contains(&(finding.route, finding.others[0]))
                });
                prop_assert_eq!(said, meet && !either_unreached, "{} {}: {:#?}", one, other, report);
            }
        }
    }

    // spec: RT-29
    /// With patterns it may not know, but what it claims is so.
    #[test]
    fn nothing_wrong_is_said_of_patterns(
        specs in prop::collection::vec(a_route(vec![
            None,
            Some(equals("1")),
            Some(equals("v1")),
            Some(matches("[0-9]+")),
            Some(matches("v[0-9]")),
            Some(matches(".*")),
            Some(matches("(1|2)")),
            Some(Test::Present(true)),
            Some(Test::Present(false)),
        ]), 1..9),
    ) {
        let specs = with_ids(specs);
        let world = World::new(&specs, &requests(&VALUES));

        let report = prove(&specs);

        judge_witnesses(&specs, &report);
        judge_claims(&world, &report);
    }
}
