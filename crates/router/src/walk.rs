//! The walk of the tree that yields every template matching a path, the most precise first.
//!
//! A node has one parent, so a walk meets it once at most: it can take no more steps than the
//! table has nodes, whatever the path.

use crate::template::split_segment;
use crate::tree::{Entry, NOBODY, Node, Tree};

/// A walk with the best candidate so far; what cannot be better is not looked at.
pub(crate) struct Walk<'t, F> {
    tree: &'t Tree,
    limit: u32,
    accept: F,
}

impl<'t, F: FnMut(&Entry) -> bool> Walk<'t, F> {
    /// A walk that asks `accept` about candidates and keeps the best accepted.
    pub(crate) fn new(tree: &'t Tree, accept: F) -> Self {
        Self {
            tree,
            limit: NOBODY,
            accept,
        }
    }

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
        let Some(node) = tree.node(at) else {
            return;
        };
        if node.best >= self.limit {
            return;
        }
        match tail {
            None => self.judge(tree.ends(node)),
            Some(tail) => self.descend(at, node, tail),
        }
        self.judge(tree.rests(node));
    }

    fn descend(&mut self, at: u32, node: &Node, tail: &str) {
        let (segment, next) = split_segment(tail);
        if let Some(child) = self.tree.literal(at, node, segment) {
            self.visit(child, next);
        }
        for &form in self.tree.forms(node) {
            if let Some(child) = self.tree.formed(at, form, segment) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::MethodSet;
    use crate::template::Template;
    use crate::tree::Growing;

    // spec: RT-23
    // spec: RT-26
    /// Every mixture of literal, parameter and form to a depth: as many ways as there can be.
    #[test]
    fn a_walk_meets_every_entry_once_at_most() {
        let mut growing = Growing::default();
        let root = growing.new_root();
        let kinds = ["a", "{p}", "{p}a", "a{p}"];
        for mixture in 0..4_u32.pow(5) {
            let names = (0..5).map(|depth| {
                let kind = kinds[(mixture / 4_u32.pow(depth) % 4) as usize];
                format!("/{}", kind.replace('p', &format!("p{depth}")))
            });
            let template = Template::parse(&(names.collect::<String>() + "/**")).unwrap();
            let entry = Entry {
                rank: mixture,
                route: mixture,
                methods: MethodSet::new([]).bits(),
                is_plain: true,
            };
            growing.insert(root, &template, entry);
        }
        let tree = growing.finish();
        let mut met = vec![0; 4_usize.pow(5)];

        let mut walk = Walk::new(&tree, |entry| {
            met[entry.rank as usize] += 1;
            false
        });
        walk.below(root, &"/aaa".repeat(1_000));

        assert!(met.iter().all(|count| *count <= 1));
        assert_eq!(met.iter().sum::<usize>(), 3_usize.pow(5));
    }
}
