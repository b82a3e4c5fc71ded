//! The tree of path templates, one segment a level.
//!
//! The children of all nodes are in one hash table under (node, text), so a node with ten thousand
//! of them costs what a node with one costs, also below a parameter. Templates that differ in
//! parameter names only share their nodes.

use std::cmp::Reverse;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::method::Bits;
use crate::template::{Segment, Tail, Template, between};

/// In the place of a node or a rank that is not there.
pub(crate) const NOBODY: u32 = u32::MAX;

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

/// All the trees of a table, to be read only.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    edges: HashTable<Edge>,
    texts: String,
    entries: Vec<Entry>,
    forms: Vec<Form>,
    hasher: RandomState,
}

/// A tree that still grows.
#[derive(Debug, Default)]
pub(crate) struct Growing {
    tree: Tree,
    entries: Vec<(u32, End, Entry)>,
    forms: Vec<(u32, Reverse<Form>)>,
}

/// One place in a template; small, because random paths meet it outside the cache.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// The lowest rank at or below this node.
    pub(crate) best: u32,
    /// The child for a whole segment of any text.
    pub(crate) any: u32,
    literals: Literals,
    ends: Range<u32>,
    rests: Range<u32>,
    forms: Range<u32>,
}

/// How the children for literal segments are found.
#[derive(Debug, Default)]
enum Literals {
    #[default]
    None,
    /// The usual case below the first levels: compare, without a trip to the hash table.
    One {
        text: Range<u32>,
        child: u32,
    },
    Many,
}

/// How a template ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Here,
    Rest,
}

/// Lengths of the texts around a parameter; the longest text first, then the longest prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Form {
    both: u32,
    prefix: u32,
}

#[derive(Debug)]
struct Edge {
    parent: u32,
    child: u32,
    /// Where the text of a literal, or prefix and suffix of a form, are in `texts`.
    text: Range<u32>,
    form: Option<Form>,
}

impl Growing {
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
        let end = match template.tail() {
            Tail::End => End::Here,
            Tail::Rest(_) => End::Rest,
        };
        self.entries.push((at, end, entry));
    }

    /// Puts what belongs to one node side by side.
    pub(crate) fn finish(self) -> Tree {
        let Self {
            mut tree,
            mut entries,
            mut forms,
        } = self;
        entries.sort_by_key(|(node, end, entry)| (*node, *end, entry.rank));
        for ((at, end, entry), place) in entries.into_iter().zip(0..) {
            tree.entries.push(entry);
            if let Some(node) = tree.nodes.get_mut(at as usize) {
                match end {
                    End::Here => extend(&mut node.ends, place),
                    End::Rest => extend(&mut node.rests, place),
                }
            }
        }
        forms.sort_unstable();
        forms.dedup();
        for ((at, Reverse(form)), place) in forms.into_iter().zip(0..) {
            tree.forms.push(form);
            if let Some(node) = tree.nodes.get_mut(at as usize) {
                extend(&mut node.forms, place);
            }
        }
        tree
    }

    fn new_node(&mut self) -> u32 {
        let index = u32::try_from(self.tree.nodes.len()).unwrap_or(NOBODY);
        self.tree.nodes.push(Node {
            best: NOBODY,
            any: NOBODY,
            ..Node::default()
        });
        index
    }

    fn note_rank(&mut self, at: u32, rank: u32) {
        if let Some(node) = self.tree.nodes.get_mut(at as usize) {
            node.best = node.best.min(rank);
        }
    }

    /// The child for a segment, made when there is none.
    fn descend(&mut self, at: u32, segment: &Segment) -> u32 {
        match segment {
            Segment::Literal(text) => self
                .tree
                .find(at, text, "", None)
                .unwrap_or_else(|| self.add_literal(at, text)),
            Segment::Parameter { prefix, suffix, .. } if prefix.is_empty() && suffix.is_empty() => {
                self.any_child(at)
            }
            Segment::Parameter { prefix, suffix, .. } => {
                let form = Form::of(prefix, suffix);
                self.tree
                    .find(at, prefix, suffix, Some(form))
                    .unwrap_or_else(|| {
                        self.forms.push((at, Reverse(form)));
                        self.add_edge(at, prefix, suffix, Some(form)).1
                    })
            }
        }
    }

    fn any_child(&mut self, at: u32) -> u32 {
        let any = self.tree.node(at).map_or(NOBODY, |node| node.any);
        if any != NOBODY {
            return any;
        }
        let child = self.new_node();
        if let Some(node) = self.tree.nodes.get_mut(at as usize) {
            node.any = child;
        }
        child
    }

    fn add_literal(&mut self, at: u32, text: &str) -> u32 {
        let (text, child) = self.add_edge(at, text, "", None);
        if let Some(node) = self.tree.nodes.get_mut(at as usize) {
            node.literals = match node.literals {
                Literals::None => Literals::One { text, child },
                Literals::One { .. } | Literals::Many => Literals::Many,
            };
        }
        child
    }

    fn add_edge(
        &mut self,
        parent: u32,
        prefix: &str,
        suffix: &str,
        form: Option<Form>,
    ) -> (Range<u32>, u32) {
        let child = self.new_node();
        let tree = &mut self.tree;
        let start = length(&tree.texts);
        tree.texts.push_str(prefix);
        tree.texts.push_str(suffix);
        let text = start..length(&tree.texts);
        let edge = Edge {
            parent,
            child,
            text: text.clone(),
            form,
        };
        let hash = hash(&tree.hasher, parent, prefix, suffix);
        let (hasher, texts) = (&tree.hasher, &tree.texts);
        tree.edges.insert_unique(hash, edge, |edge| {
            let (prefix, suffix) = edge.parts(texts);
            crate::tree::hash(hasher, edge.parent, prefix, suffix)
        });
        (text, child)
    }
}

impl Tree {
    pub(crate) fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.get(at as usize)
    }

    /// Routes whose template ends at the node, by rank.
    pub(crate) fn ends(&self, node: &Node) -> &[Entry] {
        slice(&self.entries, &node.ends)
    }

    /// Routes whose template goes on with `/**` from the node, by rank.
    pub(crate) fn rests(&self, node: &Node) -> &[Entry] {
        slice(&self.entries, &node.rests)
    }

    /// The forms of parameters within a segment that follow the node, the most text first.
    pub(crate) fn forms(&self, node: &Node) -> &[Form] {
        slice(&self.forms, &node.forms)
    }

    /// The child for exactly this segment.
    pub(crate) fn literal(&self, at: u32, node: &Node, segment: &str) -> Option<u32> {
        match &node.literals {
            Literals::None => None,
            Literals::One { text, child } => {
                let text = self
                    .texts
                    .as_bytes()
                    .get(text.start as usize..text.end as usize);
                (text == Some(segment.as_bytes())).then_some(*child)
            }
            Literals::Many => self.find(at, segment, "", None),
        }
    }

    /// The child for a parameter with texts of these lengths, when the segment has its texts.
    pub(crate) fn formed(&self, at: u32, form: Form, segment: &str) -> Option<u32> {
        let prefix = segment.get(..form.prefix as usize)?;
        let suffix = (form.both - form.prefix) as usize;
        let suffix = segment.get(segment.len().checked_sub(suffix)?..)?;
        between(segment, prefix, suffix)?;
        self.find(at, prefix, suffix, Some(form))
    }

    fn find(&self, parent: u32, prefix: &str, suffix: &str, form: Option<Form>) -> Option<u32> {
        let hash = hash(&self.hasher, parent, prefix, suffix);
        let edge = self.edges.find(hash, |edge| {
            edge.parent == parent
                && edge.form == form
                && edge.parts(&self.texts) == (prefix, suffix)
        })?;
        Some(edge.child)
    }
}

impl Form {
    fn of(prefix: &str, suffix: &str) -> Self {
        Self {
            both: length(prefix) + length(suffix),
            prefix: length(prefix),
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

/// Different edges may share a hash; they are compared afterwards.
fn hash(hasher: &RandomState, parent: u32, prefix: &str, suffix: &str) -> u64 {
    let mut state = hasher.build_hasher();
    state.write_u32(parent);
    state.write(prefix.as_bytes());
    if !suffix.is_empty() {
        state.write(suffix.as_bytes());
    }
    state.finish()
}

fn extend(range: &mut Range<u32>, place: u32) {
    if range.start == range.end {
        *range = place..place;
    }
    range.end = place + 1;
}

fn slice<'t, T>(all: &'t [T], range: &Range<u32>) -> &'t [T] {
    all.get(range.start as usize..range.end as usize)
        .unwrap_or_default()
}

/// Templates are short (see `Template::parse`) and all of a table's texts far below 4 GiB.
fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(NOBODY)
}
