//! What the prover says.

use super::witness::Witness;

/// What is said of a route, alone or beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Its own conditions exclude each other: no request meets them.
    Impossible,
    /// Another route takes exactly the same requests and wins.
    Equal,
    /// Other routes take all its requests and win: it is never reached.
    Shadowed,
    /// A broader route has a higher priority and so takes requests of a more precise one.
    Hidden,
    /// It differs from another route by its trailing slash, and goes elsewhere.
    SlashTwin,
    /// It ends with a slash, so it takes that one path: neither what is below nor the path without.
    SlashOnly,
    /// It takes one path and nothing below, where its neighbours take what is below.
    NoRest,
    /// It differs from another route by capitals only.
    CaseTwin,
    /// A literal segment looks like a parameter of another notation.
    LooksLikeParameter,
    /// Each of two routes takes requests that the other does not, and some are taken by both.
    Partial,
    /// A precise route within a broader one, which wins: as it should be.
    Inside,
}

/// Whether somebody should look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Hardly meant.
    Warning,
    /// Normal, or a matter of taste.
    Note,
}

/// What decides between two routes that both match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
    /// The higher priority.
    Priority,
    /// The more precise host.
    Host,
    /// The more precise path.
    Path,
    /// The number of other conditions.
    Conditions,
    /// One is for `HEAD` itself.
    Head,
    /// The place in the document.
    Place,
}

/// One thing that is so, with a request that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is so.
    pub kind: Kind,
    /// Whether somebody should look.
    pub level: Level,
    /// Index of the route that loses, or that the finding is about.
    pub route: usize,
    /// The routes that win over it, or that it is compared with.
    pub others: Vec<usize>,
    /// What decides between it and the first of the others.
    pub decided: Option<Decided>,
    /// A request that shows it; none is found where two patterns may or may not meet.
    pub witness: Option<Witness>,
    /// The route that answers the witness; none when it is not answered.
    pub answered_by: Option<usize>,
    /// What would be right, where that can be said.
    pub expected: Option<String>,
}

/// All that is found, the worst first, and what was left out.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Number of routes.
    pub routes: usize,
    /// Number of pairs of routes whose hosts and paths meet and which were compared.
    pub pairs: usize,
    /// Pairs among them that meet only where a header, parameter or cookie is sent twice with
    /// different values; nothing more is said of them.
    pub pairs_by_repetition: usize,
    /// At most so many of each kind as the limits say.
    pub findings: Vec<Finding>,
    /// How many of each kind there are, those left out among them.
    pub totals: Vec<(Kind, usize)>,
    /// Routes for which it is not known whether a request reaches them, because patterns could
    /// not be solved or it would have taken too long.
    pub undecided: Vec<usize>,
    /// Routes that were compared with a part of their competitors only.
    pub cut_short: usize,
}

impl Kind {
    /// The word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Impossible => "impossible_route",
            Self::Equal => "equal_route",
            Self::Shadowed => "shadowed_route",
            Self::Hidden => "hidden_route",
            Self::SlashTwin => "slash_twin",
            Self::SlashOnly => "slash_only",
            Self::NoRest => "no_rest",
            Self::CaseTwin => "case_twin",
            Self::LooksLikeParameter => "looks_like_parameter",
            Self::Partial => "partial_overlap",
            Self::Inside => "precise_inside_broad",
        }
    }
}

impl Decided {
    /// The word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Priority => "priority",
            Self::Host => "host",
            Self::Path => "path",
            Self::Conditions => "conditions",
            Self::Head => "head",
            Self::Place => "place",
        }
    }
}
