//! Standpoints by host and template, to find those whose hosts and paths meet another's.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::host::HostPattern;
use crate::template::{Segment, Template};

use super::segment;

/// Ranks of standpoints, put in one after another.
#[derive(Debug)]
pub(super) struct Shelf<'r> {
    nodes: Vec<Node<'r>>,
    /// Roots under host names read from the right (`com.example.api.`), so that what is under a
    /// name stands side by side.
    exact: BTreeMap<String, usize>,
    under: BTreeMap<String, usize>,
    any: Option<usize>,
}

#[derive(Debug, Default)]
struct Node<'r> {
    literals: BTreeMap<&'r str, usize>,
    /// By the texts around the parameter.
    forms: BTreeMap<(&'r str, &'r str), (&'r Segment, usize)>,
    ends: Vec<u32>,
    rests: Vec<u32>,
}

/// Whether to go on.
pub(super) type GoOn = bool;

impl<'r> Shelf<'r> {
    pub(super) fn new() -> Self {
        Self {
            nodes: Vec::new(),
            exact: BTreeMap::new(),
            under: BTreeMap::new(),
            any: None,
        }
    }

    pub(super) fn insert(&mut self, host: &HostPattern, template: &'r Template, rank: u32) {
        let mut at = self.root(host);
        for segment in template.segments() {
            at = self.child(at, segment);
        }
        if let Some(node) = self.nodes.get_mut(at) {
            let ranks = if template.is_open() {
                &mut node.rests
            } else {
                &mut node.ends
            };
            ranks.push(rank);
        }
    }

    /// Calls `each` for every rank whose host and template meet these, and for every node on the
    /// way with `None`; ends when it says so.
    pub(super) fn meeting(
        &self,
        host: &HostPattern,
        template: &Template,
        each: &mut impl FnMut(Option<u32>) -> GoOn,
    ) -> GoOn {
        self.roots(host)
            .into_iter()
            .all(|root| self.below(root, template, 0, each))
    }

    fn below(
        &self,
        at: usize,
        template: &Template,
        depth: usize,
        each: &mut impl FnMut(Option<u32>) -> GoOn,
    ) -> GoOn {
        let Some(node) = self.nodes.get(at) else {
            return true;
        };
        if !each(None) || !node.rests.iter().all(|rank| each(Some(*rank))) {
            return false;
        }
        let Some(segment) = template.segments().get(depth) else {
            return node.ends.iter().all(|rank| each(Some(*rank)))
                && (!template.is_open() || self.all_below(node, each));
        };
        let mut go_down = |child: usize| self.below(child, template, depth + 1, each);
        let is_done = match segment {
            Segment::Literal(text) => {
                let child = node.literals.get(&**text);
                child.is_none_or(|child| go_down(*child))
            }
            Segment::Parameter { .. } => node
                .literals
                .iter()
                .filter(|(text, _)| segment.takes(text))
                .all(|(_, child)| go_down(*child)),
        };
        is_done
            && node
                .forms
                .values()
                .filter(|(form, _)| segment::meet(form, segment))
                .all(|(_, child)| go_down(*child))
    }

    /// Everything under a node, without what ends at it.
    fn all_below(&self, node: &Node<'r>, each: &mut impl FnMut(Option<u32>) -> GoOn) -> GoOn {
        let forms = node.forms.values().map(|(_, child)| child);
        node.literals.values().chain(forms).all(|child| {
            self.nodes.get(*child).is_none_or(|node| {
                let mut ranks = node.ends.iter().chain(&node.rests);
                each(None) && ranks.all(|rank| each(Some(*rank))) && self.all_below(node, each)
            })
        })
    }

    fn roots(&self, host: &HostPattern) -> Vec<usize> {
        let mut roots: Vec<usize> = self.any.into_iter().collect();
        match host {
            HostPattern::Any => {
                roots.extend(self.exact.values().chain(self.under.values()));
            }
            HostPattern::Exact(name) => {
                let name = backwards(name);
                roots.extend(self.exact.get(&name));
                roots.extend(self.above(&name));
            }
            HostPattern::Under(suffix) => {
                let name = backwards(suffix);
                let from = (Bound::Excluded(&name), Bound::Unbounded);
                let is_below = |(key, _): &(&String, &usize)| key.starts_with(&name);
                let exact = self.exact.range::<String, _>(from).take_while(is_below);
                let under = self.under.range::<String, _>(from).take_while(is_below);
                roots.extend(exact.chain(under).map(|(_, root)| root));
                roots.extend(self.under.get(&name));
                roots.extend(self.above(&name));
            }
        }
        roots
    }

    /// Wildcards for shorter suffixes of a name read from the right.
    fn above<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s usize> {
        let ends = name.match_indices('.').map(|(dot, _)| dot + 1);
        ends.filter(|end| *end < name.len())
            .filter_map(|end| self.under.get(name.get(..end)?))
    }

    fn root(&mut self, host: &HostPattern) -> usize {
        let next = self.nodes.len();
        let root = match host {
            HostPattern::Any => *self.any.get_or_insert(next),
            HostPattern::Exact(name) => *self.exact.entry(backwards(name)).or_insert(next),
            HostPattern::Under(suffix) => *self.under.entry(backwards(suffix)).or_insert(next),
        };
        self.make(root)
    }

    fn child(&mut self, at: usize, segment: &'r Segment) -> usize {
        let next = self.nodes.len();
        let Some(node) = self.nodes.get_mut(at) else {
            return at;
        };
        let child = match segment {
            Segment::Literal(text) => *node.literals.entry(text).or_insert(next),
            Segment::Parameter { prefix, suffix, .. } => {
                let key = (&**prefix, &**suffix);
                node.forms.entry(key).or_insert((segment, next)).1
            }
        };
        self.make(child)
    }

    /// The node, which is new when it is the next.
    fn make(&mut self, node: usize) -> usize {
        if node == self.nodes.len() {
            self.nodes.push(Node::default());
        }
        node
    }
}

/// `api.example.com` as `com.example.api.`.
fn backwards(name: &str) -> String {
    let mut text: String = name.rsplit('.').flat_map(|label| [label, "."]).collect();
    if name.starts_with('[') {
        // An address has no labels, and nothing is under it.
        name.clone_into(&mut text);
    }
    text
}
