//! The tree of path templates, one segment a level, that yields every template matching a path.
//!
//! The children of all nodes are in one hash table under (node, text), so a node with ten thousand
//! of them costs what a node with one costs, also below a parameter. Templates that differ in
//! parameter names only share their nodes. A walk meets a node once at most: it can take no more
//! steps than the table has nodes, whatever the path.

use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::method::Bits;
use crate::template::{Segment, Tail, Template, between, split_segment};

const NOBODY: u32 = u32::MAX;

/// One route below one host, at the end of its template.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Place in the competition of the whole table; the lowest wins.
    pub(crate) rank: u32,
    /// Index of the route.
    pub(crate) route: u32,
    /// Copied from the route, so that most candidates are judged without touching it.
    pub(crate) methods: Bits,
    /// Whether nothing but the method is asked.
    pub(crate) is_plain: bool,
}

/// All the trees of a table.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    edges: HashTable<Edge>,
    texts: String,
    hasher: RandomState,
}

#[derive(Debug)]
struct Node {
    /// The lowest rank at or below this node.
    best: u32,
    /// The child for a whole segment of any text.
    any: u32,
    has_literals: bool,
    /// For templates that end here.
    ends: Vec<Entry>,
    /// For templates that go on with `/**`.
    rests: Vec<Entry>,
    /// Lengths of prefix and suffix of parameters within a segment, longest text first.
    forms: Vec<Form>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    prefix: u32,
    suffix: u32,
}

#[derive(Debug)]
struct Edge {
    parent: u32,
    child: u32,
    /// Where the text of a literal, or prefix and suffix of a form, are in `texts`.
    text: Range<u32>,
    form: Option<Form>,
}

/// The best candidate so far; whoever cannot be better is not looked at.
pub(crate) struct Walk<'t, F> {
    tree: &'t Tree,
    limit: u32,
    accept: F,
}

impl Tree {
    /// A node without a parent.
    pub(crate) fn new_root(&mut self) -> u32 {
        self.new_node()
    }

    /// Adds a route below a root. Entries must come in the order of their ranks.
    pub(crate) fn insert(&mut self, root: u32, template: &Template, entry: Entry) {
        let mut at = root;
        self.note_rank(at, entry.rank);
        for segment in template.segments() {
            at = self.descend(at, segment);
            self.note_rank(at, entry.rank);
        }
        let Some(node) = self.nodes.get_mut(at as usize) else {
            return;
        };
        match template.tail() {
            Tail::End => node.ends.push(entry),
            Tail::Rest(_) => node.rests.push(entry),
        }
    }

    /// A walk that asks `accept` about candidates and keeps the best accepted.
    pub(crate) fn walk<F: FnMut(&Entry) -> bool>(&self, accept: F) -> Walk<'_, F> {
        Walk {
            tree: self,
            limit: NOBODY,
            accept,
        }
    }

    fn new_node(&mut self) -> u32 {
        let index = u32::try_from(self.nodes.len()).unwrap_or(NOBODY);
        self.nodes.push(Node {
            best: NOBODY,
            any: NOBODY,
            has_literals: false,
            ends: Vec::new(),
            rests: Vec::new(),
            forms: Vec::new(),
        });
        index
    }

    fn note_rank(&mut self, at: u32, rank: u32) {
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.best = node.best.min(rank);
        }
    }

    /// The child for a segment, made when there is none.
    fn descend(&mut self, at: u32, segment: &Segment) -> u32 {
        match segment {
            Segment::Literal(text) => self
                .literal(at, text)
                .unwrap_or_else(|| self.add_edge(at, text, "", None)),
            Segment::Parameter { prefix, suffix, .. } if prefix.is_empty() && suffix.is_empty() => {
                let any = self.nodes.get(at as usize).map_or(NOBODY, |node| node.any);
                if any != NOBODY {
                    return any;
                }
                let child = self.new_node();
                if let Some(node) = self.nodes.get_mut(at as usize) {
                    node.any = child;
                }
                child
            }
            Segment::Parameter { prefix, suffix, .. } => {
                let form = Form::of(prefix, suffix);
                self.formed(at, form, prefix, suffix)
                    .unwrap_or_else(|| self.add_edge(at, prefix, suffix, Some(form)))
            }
        }
    }

    fn add_edge(&mut self, parent: u32, prefix: &str, suffix: &str, form: Option<Form>) -> u32 {
        let child = self.new_node();
        if let Some(node) = self.nodes.get_mut(parent as usize) {
            match form {
                None => node.has_literals = true,
                Some(form) if node.forms.contains(&form) => {}
                Some(form) => {
                    node.forms.push(form);
                    node.forms.sort_by_key(|form| {
                        std::cmp::Reverse((form.prefix + form.suffix, form.prefix))
                    });
                }
            }
        }
        let start = u32::try_from(self.texts.len()).unwrap_or(NOBODY);
        self.texts.push_str(prefix);
        self.texts.push_str(suffix);
        let end = u32::try_from(self.texts.len()).unwrap_or(NOBODY);
        let edge = Edge {
            parent,
            child,
            text: start..end,
            form,
        };
        let hash = self.hash(parent, prefix, suffix);
        let (hasher, texts) = (&self.hasher, &self.texts);
        self.edges.insert_unique(hash, edge, |edge| {
            let (prefix, suffix) = edge.parts(texts);
            hasher.hash_one((edge.parent, prefix, suffix))
        });
        child
    }

    fn literal(&self, parent: u32, text: &str) -> Option<u32> {
        let edge = self.edges.find(self.hash(parent, text, ""), |edge| {
            edge.parent == parent && edge.form.is_none() && edge.parts(&self.texts).0 == text
        })?;
        Some(edge.child)
    }

    fn formed(&self, parent: u32, form: Form, prefix: &str, suffix: &str) -> Option<u32> {
        let edge = self.edges.find(self.hash(parent, prefix, suffix), |edge| {
            edge.parent == parent
                && edge.form == Some(form)
                && edge.parts(&self.texts) == (prefix, suffix)
        })?;
        Some(edge.child)
    }

    fn hash(&self, parent: u32, prefix: &str, suffix: &str) -> u64 {
        self.hasher.hash_one((parent, prefix, suffix))
    }
}

impl<F: FnMut(&Entry) -> bool> Walk<'_, F> {
    /// Visits the templates below a root that match a path in normal form.
    pub(crate) fn below(&mut self, root: u32, path: &str) {
        if let Some(tail) = path.strip_prefix('/') {
            self.visit(root, Some(tail));
        }
    }

    /// The rank of the best accepted.
    pub(crate) fn best(&self) -> Option<u32> {
        (self.limit != NOBODY).then_some(self.limit)
    }

    /// `tail` is what follows the slash after the segments consumed; `None` at the path's end.
    fn visit(&mut self, at: u32, tail: Option<&str>) {
        let tree = self.tree;
        let Some(node) = tree.nodes.get(at as usize) else {
            return;
        };
        if node.best >= self.limit {
            return;
        }
        match tail {
            None => self.judge(&node.ends),
            Some(tail) => self.descend(at, node, tail),
        }
        self.judge(&node.rests);
    }

    fn descend(&mut self, at: u32, node: &Node, tail: &str) {
        if !node.has_literals && node.any == NOBODY && node.forms.is_empty() {
            return;
        }
        let (segment, next) = split_segment(tail);
        if node.has_literals
            && let Some(child) = self.tree.literal(at, segment)
        {
            self.visit(child, next);
        }
        for &form in &node.forms {
            if let Some(child) = self.tree.child_of_form(at, form, segment) {
                self.visit(child, next);
            }
        }
        if node.any != NOBODY && !segment.is_empty() {
            self.visit(node.any, next);
        }
    }

    fn judge(&mut self, entries: &[Entry]) {
        for entry in entries {
            if entry.rank >= self.limit {
                return;
            }
            if (self.accept)(entry) {
                self.limit = entry.rank;
                return;
            }
        }
    }
}

impl Tree {
    fn child_of_form(&self, at: u32, form: Form, segment: &str) -> Option<u32> {
        let prefix = segment.get(..form.prefix as usize)?;
        let suffix = segment.get(segment.len().checked_sub(form.suffix as usize)?..)?;
        between(segment, prefix, suffix)?;
        self.formed(at, form, prefix, suffix)
    }
}

impl Form {
    /// Templates are short (see `Template::parse`), so lengths fit.
    fn of(prefix: &str, suffix: &str) -> Self {
        let length = |text: &str| u32::try_from(text.len()).unwrap_or(NOBODY);
        Self {
            prefix: length(prefix),
            suffix: length(suffix),
        }
    }
}

impl Edge {
    fn parts<'t>(&self, texts: &'t str) -> (&'t str, &'t str) {
        let text = texts
            .get(self.text.start as usize..self.text.end as usize)
            .unwrap_or_default();
        let prefix = self.form.map_or(text.len(), |form| form.prefix as usize);
        text.split_at_checked(prefix).unwrap_or_default()
    }
}
