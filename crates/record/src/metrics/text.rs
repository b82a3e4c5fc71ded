//! The Prometheus text format, version 0.0.4.

use super::table::{Kind, Metric};

/// The text of one scrape while it is written.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    out: &'a mut String,
    prefix: &'a str,
}

impl<'a> Text<'a> {
    /// Appends to `out`; names begin with `prefix`.
    pub(crate) fn new(out: &'a mut String, prefix: &'a str) -> Self {
        Self { out, prefix }
    }

    /// Opens the family of a metric of the table.
    pub(crate) fn family(&mut self, metric: &Metric) {
        self.head(metric.name, metric.kind, metric.meaning);
    }

    /// Opens a family: its samples follow, and nothing else until the next one.
    pub(crate) fn head(&mut self, name: &str, kind: Kind, help: &str) {
        self.out.push_str("# HELP ");
        self.name(name);
        self.out.push(' ');
        escape(help, false, self.out);
        self.out.push_str("\n# TYPE ");
        self.name(name);
        self.out.push(' ');
        self.out.push_str(kind.name());
        self.out.push('\n');
    }

    /// Begins a sample; its value comes next.
    pub(crate) fn sample(
        &mut self,
        name: &str,
        suffix: &str,
        labels: &[(&str, &str)],
        last: Option<(&str, &str)>,
    ) {
        self.name(name);
        self.out.push_str(suffix);
        let mut open = '{';
        for (label, value) in labels.iter().copied().chain(last) {
            self.out.push(open);
            self.out.push_str(label);
            self.out.push_str("=\"");
            escape(value, true, self.out);
            self.out.push('"');
            open = ',';
        }
        if open == ',' {
            self.out.push('}');
        }
        self.out.push(' ');
    }

    /// A whole number ends the sample.
    pub(crate) fn number(&mut self, value: impl itoa::Integer) {
        self.out.push_str(itoa::Buffer::new().format(value));
        self.out.push('\n');
    }

    /// Nanoseconds, shown as seconds with microseconds, end the sample.
    pub(crate) fn seconds(&mut self, nanos: u64) {
        let micros = nanos / 1_000;
        self.out
            .push_str(itoa::Buffer::new().format(micros / 1_000_000));
        // The leading one keeps the zeros of the fraction and is cut off again.
        let mut buffer = itoa::Buffer::new();
        let fraction = buffer.format(1_000_000 + micros % 1_000_000);
        self.out.push('.');
        self.out.push_str(fraction.get(1..).unwrap_or_default());
        self.out.push('\n');
    }

    /// `process_…` is a name that all programs share, `gateway_…` one of another name set: neither
    /// takes a prefix.
    fn name(&mut self, name: &str) {
        if !name.starts_with("process_") && !name.starts_with("gateway_") {
            self.out.push_str(self.prefix);
            self.out.push('_');
        }
        self.out.push_str(name);
    }
}

fn escape(text: &str, quotes: bool, out: &mut String) {
    for part in text.split_inclusive(['\\', '\n', '"']) {
        let Some(last) = part.chars().next_back() else {
            continue;
        };
        let kept = part.strip_suffix(last).unwrap_or_default();
        match last {
            '\\' => out.extend([kept, "\\\\"]),
            '\n' => out.extend([kept, "\\n"]),
            '"' if quotes => out.extend([kept, "\\\""]),
            _ => out.push_str(part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_help_are_escaped_as_the_format_demands() {
        let mut out = String::new();
        let mut text = Text::new(&mut out, "x");

        text.head("a_total", Kind::Counter, "a \\ \"b\"\nc");
        text.sample("a_total", "", &[("route", "a\"b\\c\nd")], None);
        text.number(7);

        assert_eq!(
            out,
            "# HELP x_a_total a \\\\ \"b\"\\nc\n# TYPE x_a_total counter\n\
             x_a_total{route=\"a\\\"b\\\\c\\nd\"} 7\n"
        );
    }

    #[test]
    fn seconds_keep_their_zeros() {
        let mut out = String::new();
        let mut text = Text::new(&mut out, "x");

        text.seconds(1_000_002_999);

        assert_eq!(out, "1.000002\n");
    }
}
