//! Families that other parts of the engine register for themselves.

use std::{collections::BTreeMap, sync::Arc};

use super::{cells::Cells, histogram::Buckets, table::Kind, text::Text};

/// Registered families by name, so that the samples of one stand together.
#[derive(Debug, Default)]
pub(crate) struct Custom {
    families: BTreeMap<&'static str, Family>,
}

#[derive(Debug)]
struct Family {
    kind: Kind,
    help: &'static str,
    series: BTreeMap<Vec<Label>, Arc<Cells>>,
}

type Label = (&'static str, Box<str>);

impl Custom {
    /// The cells of a series, the same ones whenever it is registered again.
    pub(crate) fn cells(
        &mut self,
        (name, kind, help): (&'static str, Kind, &'static str),
        labels: &[(&'static str, &str)],
        new: impl FnOnce() -> Cells,
    ) -> Arc<Cells> {
        let family = self.families.entry(name).or_insert_with(|| Family {
            kind,
            help,
            series: BTreeMap::new(),
        });
        debug_assert_eq!(family.kind, kind, "`{name}` is registered as two kinds");
        let labels = labels.iter().map(|(name, value)| (*name, (*value).into()));
        let series = family.series.entry(labels.collect());
        series.or_insert_with(|| Arc::new(new())).clone()
    }

    pub(crate) fn expose(&self, text: &mut Text<'_>) {
        for (name, family) in &self.families {
            text.head(name, family.kind, family.help);
            for (labels, cells) in &family.series {
                let labels: Vec<_> = labels
                    .iter()
                    .map(|(name, value)| (*name, &**value))
                    .collect();
                if family.kind == Kind::Histogram {
                    Buckets(0).expose(cells, text, name, &labels);
                    continue;
                }
                text.sample(name, "", &labels, None);
                match family.kind {
                    Kind::Counter => text.number(cells.sum(0)),
                    Kind::Gauge | Kind::Histogram | Kind::Summary => {
                        text.number(cells.sum(0).cast_signed());
                    }
                }
            }
        }
    }
}
