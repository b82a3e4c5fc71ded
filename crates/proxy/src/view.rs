//! One thread's own handles on a snapshot: counted without atomics.

use std::{
    cell::{OnceCell, RefCell},
    rc::Rc,
    sync::Arc,
};

use sluicegate_core::RouteFacts;
use sluicegate_filters::Chain;
use sluicegate_record::{Policy, RouteText};
use sluicegate_router::Scratch;

pub(crate) use crate::snapshot::Terminal;
use crate::{
    answers::Answers,
    snapshot::{Route, Snapshot},
    upstream::pool::Pool,
};

/// A snapshot as one thread sees it. Built when the thread first looks after a change.
pub(crate) struct View {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) entry: Rc<EntryView>,
    routes: Vec<OnceCell<Rc<RouteView>>>,
    pub(crate) scratch: RefCell<Scratch>,
    pub(crate) scratch_path: RefCell<String>,
}

/// What an exchange keeps of the listener's side: it outlives the snapshot with the last exchange.
pub(crate) struct EntryView {
    pub(crate) chain: Arc<Chain>,
    pub(crate) answers: Arc<Answers>,
    pub(crate) version: u64,
    /// How much is recorded of exchanges without a route.
    pub(crate) record: Arc<Policy>,
}

/// What an exchange keeps of its route (RT-30). With many routes every request finds it outside the
/// cache, so it is one block instead of pointers to others.
pub(crate) struct RouteView {
    pub(crate) route: Route,
    pub(crate) facts: Rc<RouteFacts>,
    /// What every record of the route has in common.
    pub(crate) text: RouteText,
    /// This thread's connections to the upstream, once asked for.
    pub(crate) pool: OnceCell<Rc<Pool>>,
}

impl View {
    pub(crate) fn new(snapshot: Arc<Snapshot>) -> Self {
        let entry = EntryView {
            chain: snapshot.entry.clone(),
            answers: snapshot.answers.clone(),
            version: snapshot.version,
            record: snapshot.record.clone(),
        };
        Self {
            routes: snapshot.routes.iter().map(|_| OnceCell::new()).collect(),
            entry: Rc::new(entry),
            snapshot,
            scratch: RefCell::default(),
            scratch_path: RefCell::default(),
        }
    }

    pub(crate) fn route(&self, index: usize) -> Option<Rc<RouteView>> {
        let cell = self.routes.get(index)?;
        if let Some(route) = cell.get() {
            return Some(route.clone());
        }
        let route = self.snapshot.routes.get(index)?;
        let facts = RouteFacts {
            id: route.id.clone(),
            template: route.template.clone(),
            upstream: match &route.terminal {
                Terminal::Upstream(shared) => shared.id.clone(),
                Terminal::Answer(_) => Box::default(),
            },
            snapshot: self.snapshot.version,
            version: route.version,
        };
        let view = RouteView {
            route: Route::clone(route),
            text: RouteText::new(&facts),
            facts: Rc::new(facts),
            pool: OnceCell::new(),
        };
        Some(cell.get_or_init(|| Rc::new(view)).clone())
    }
}
