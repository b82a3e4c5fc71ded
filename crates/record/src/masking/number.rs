//! Phone and identity card numbers.

use std::ops::Range;

/// The shortest run of digits that can be a number of a person: E.164 with its plus sign.
const SHORTEST: usize = 8;

/// Hexadecimal text this long with letters in it is an id of a machine, whatever digits it has.
const MACHINE_ID: usize = 20;

/// Finds mainland mobile numbers, international ones by their plus sign, and identity card numbers.
#[derive(Debug)]
pub(super) struct Numbers<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Numbers<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// The next run of at least [`SHORTEST`] digits. Such a run covers every eighth byte from here,
    /// so no other byte has to be looked at.
    fn next_run(&mut self) -> Option<Range<usize>> {
        loop {
            let probes = self.text.get(self.at + SHORTEST - 1..)?;
            let hit = probes
                .iter()
                .step_by(SHORTEST)
                .position(u8::is_ascii_digit)?;
            let hit = self.at + SHORTEST - 1 + hit * SHORTEST;
            let before = self.text.get(self.at..hit)?;
            let after = self.text.get(hit..)?;
            let start = hit
                - before
                    .iter()
                    .rev()
                    .take_while(|byte| byte.is_ascii_digit())
                    .count();
            let end = hit
                + after
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit())
                    .count();
            self.at = end;
            if end - start >= SHORTEST {
                return Some(start..end);
            }
        }
    }

    /// The part of a run that is to be hidden.
    fn secret(&self, run: Range<usize>) -> Option<Range<usize>> {
        let digits = self.text.get(run.clone())?;
        let before = self.text.get(..run.start)?;
        let has_plus =
            before.ends_with(b"+") || before.ends_with(b"%2B") || before.ends_with(b"%2b");
        if has_plus && digits.len() <= 15 && digits.first() != Some(&b'0') {
            return Some(run);
        }
        let ends_in_x = matches!(self.text.get(run.end), Some(b'x' | b'X'));
        let found = match digits.len() {
            11 => is_mobile(digits),
            13 => digits.strip_prefix(b"86").is_some_and(is_mobile),
            15 => {
                digits.strip_prefix(b"0086").is_some_and(is_mobile) || is_date(digits.get(6..12)?)
            }
            17 => ends_in_x && is_card(digits),
            18 => is_card(digits),
            _ => false,
        };
        if !found || self.is_machine_id(&run) {
            return None;
        }
        Some(run.start..run.end + usize::from(digits.len() == 17))
    }

    /// UUIDs, hashes and trace ids have runs of digits by chance.
    fn is_machine_id(&self, run: &Range<usize>) -> bool {
        let part_of_id = |byte: &&u8| byte.is_ascii_hexdigit() || **byte == b'-';
        let before = self.text.get(..run.start).unwrap_or_default();
        let after = self.text.get(run.end..).unwrap_or_default();
        let before = before.iter().rev().take(64).take_while(part_of_id);
        let around = before.chain(after.iter().take(64).take_while(part_of_id));
        let (mut length, mut letters) = (run.len(), false);
        for byte in around {
            length += 1;
            letters |= byte.is_ascii_alphabetic();
        }
        letters && length >= MACHINE_ID
    }
}

impl Iterator for Numbers<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let run = self.next_run()?;
            if let Some(secret) = self.secret(run) {
                return Some(secret);
            }
        }
    }
}

/// Eleven digits that begin with 13 to 19.
fn is_mobile(digits: &[u8]) -> bool {
    digits.len() == 11 && matches!(digits, [b'1', b'3'..=b'9', ..])
}

/// Six digits of the region, then the day of birth (GB 11643). The check digit is not asked for: a
/// number with a slip in it is a person's all the same.
fn is_card(digits: &[u8]) -> bool {
    matches!(
        digits,
        [b'1'..=b'9', _, _, _, _, _, b'1', b'8' | b'9', ..]
            | [b'1'..=b'9', _, _, _, _, _, b'2', b'0', ..]
    ) && digits.get(10..14).is_some_and(is_month_and_day)
}

/// Year, month and day of two digits each, as in cards before 1999.
fn is_date(digits: &[u8]) -> bool {
    digits.get(2..).is_some_and(is_month_and_day)
}

fn is_month_and_day(digits: &[u8]) -> bool {
    matches!(digits, [b'0', b'1'..=b'9', ..] | [b'1', b'0'..=b'2', ..])
        && matches!(
            digits.get(2..4),
            Some([b'0', b'1'..=b'9'] | [b'1' | b'2', _] | [b'3', b'0' | b'1'])
        )
}
