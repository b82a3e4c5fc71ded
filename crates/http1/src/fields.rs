//! `Fields`: the header fields of a message, in order, and their edits.

use std::fmt;

use crate::field_name::{FieldName, Name, last_of};
use crate::known::{Known, KnownSet};
use crate::malformed::Fault;
use crate::octets::{is_token_text, is_value_text};

/// A name or value has a byte that it may not have, or is longer than a head can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidField;

impl fmt::Display for InvalidField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a byte that may not stand here")
    }
}

impl std::error::Error for InvalidField {}

/// Fields in the order and with the case in which they came, names compared without case.
///
/// All of them share one buffer, whose lines have the form `name: value` CRLF, so that what
/// nobody edited is written by one copy. An edit appends a line and moves a range.
#[derive(Default, Clone)]
pub struct Fields {
    bytes: Vec<u8>,
    lines: Vec<Line>,
    seen: KnownSet,
}

/// Where one line lies in the buffer.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    start: u32,
    value_len: u32,
    name_len: u16,
    /// Last byte of the name in lower case: tells most names of one length apart.
    last: u8,
    known: Known,
}

impl Line {
    fn new(start: usize, name: Name<'_>, value_len: usize) -> Option<Self> {
        let line = Self {
            start: u32::try_from(start).ok()?,
            value_len: u32::try_from(value_len).ok()?,
            name_len: u16::try_from(name.text.len()).ok()?,
            last: name.last,
            known: name.known,
        };
        u32::try_from(line.end()).ok()?;
        Some(line)
    }

    pub(crate) fn known(&self) -> Known {
        self.known
    }

    pub(crate) fn start(&self) -> usize {
        self.start as usize
    }

    pub(crate) fn end(&self) -> usize {
        self.value_start() + self.value_len as usize + 2
    }

    fn value_start(&self) -> usize {
        self.start() + usize::from(self.name_len) + 2
    }

    fn name<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes
            .get(self.start()..self.start() + usize::from(self.name_len))
            .unwrap_or_default()
    }

    fn value<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes
            .get(self.value_start()..self.value_start() + self.value_len as usize)
            .unwrap_or_default()
    }

    fn is_named(&self, name: &[u8], bytes: &[u8]) -> bool {
        usize::from(self.name_len) == name.len()
            && self.last == last_of(name)
            && self.name(bytes).eq_ignore_ascii_case(name)
    }
}

impl Fields {
    /// The first value of that name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let name = name.as_bytes();
        let line = self
            .lines
            .iter()
            .find(|line| line.is_named(name, &self.bytes))?;
        Some(line.value(&self.bytes))
    }

    /// The first value of that name, if it is UTF-8.
    pub fn get_str(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.get(name)?).ok()
    }

    /// All values of that name, in order.
    pub fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let name = name.as_bytes();
        self.lines
            .iter()
            .filter(move |line| line.is_named(name, &self.bytes))
            .map(|line| line.value(&self.bytes))
    }

    /// How many fields have that name.
    pub fn count(&self, name: &str) -> usize {
        self.get_all(name).count()
    }

    /// Whether a field has that name.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Name and value of each field, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.lines
            .iter()
            .map(|line| (line.name(&self.bytes), line.value(&self.bytes)))
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Makes this the only field of that name, in the place of the first one, else at the end.
    ///
    /// # Errors
    ///
    /// `name` is not a token, or `value` has control characters or white space at an end; then
    /// nothing changed.
    pub fn set(&mut self, name: &str, value: &[u8]) -> Result<(), InvalidField> {
        let name = checked(name)?;
        let line = self.new_line(name, value)?;
        self.put(name, line);
        Ok(())
    }

    /// As [`Fields::set`], by a name that was checked before.
    ///
    /// # Errors
    ///
    /// `value` has control characters or white space at an end; then nothing changed.
    pub fn set_named(&mut self, name: &FieldName, value: &[u8]) -> Result<(), InvalidField> {
        let name = name.borrowed();
        let line = self.new_line(name, value)?;
        self.put(name, line);
        Ok(())
    }

    /// Puts a line in the place of the first one of its name, else at the end.
    fn put(&mut self, name: Name<'_>, line: Line) {
        self.seen.insert(line.known);
        let place = self.place_of(name);
        let Some(first) = place.and_then(|place| self.lines.get_mut(place)) else {
            self.lines.push(line);
            return;
        };
        *first = line;
        let mut after = place.map_or(0, |place| place + 1);
        while let Some(old) = self.lines.get(after) {
            if old.is_named(name.text, &self.bytes) {
                self.lines.remove(after);
            } else {
                after += 1;
            }
        }
    }

    fn place_of(&self, name: Name<'_>) -> Option<usize> {
        // The three small facts dismiss nearly every line before its bytes are looked at.
        self.lines.iter().position(|line| {
            line.last == name.last
                && usize::from(line.name_len) == name.text.len()
                && line.name(&self.bytes).eq_ignore_ascii_case(name.text)
        })
    }

    /// Adds a field at the end.
    ///
    /// # Errors
    ///
    /// As for [`Fields::set`].
    pub fn append(&mut self, name: &str, value: &[u8]) -> Result<(), InvalidField> {
        self.append_bytes(name.as_bytes(), value)
    }

    /// As [`Fields::append`], by a name that was checked before.
    ///
    /// # Errors
    ///
    /// As for [`Fields::set_named`].
    pub fn append_named(&mut self, name: &FieldName, value: &[u8]) -> Result<(), InvalidField> {
        let line = self.new_line(name.borrowed(), value)?;
        self.seen.insert(line.known);
        self.lines.push(line);
        Ok(())
    }

    pub(crate) fn append_bytes(&mut self, name: &[u8], value: &[u8]) -> Result<(), InvalidField> {
        if !is_token_text(name) {
            return Err(InvalidField);
        }
        let line = self.new_line(Name::of(name), value)?;
        self.seen.insert(line.known);
        self.lines.push(line);
        Ok(())
    }

    /// Removes all fields of that name; true if there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        let name = name.as_bytes();
        let bytes = &self.bytes;
        // Mostly there is none, and then no line is moved.
        if !self.lines.iter().any(|line| line.is_named(name, bytes)) {
            return false;
        }
        self.lines.retain(|line| !line.is_named(name, bytes));
        self.seen.remove(Known::of(name));
        true
    }

    /// Removes the fields whose name, in the case it came, `matches`.
    pub fn remove_where(&mut self, mut matches: impl FnMut(&[u8]) -> bool) {
        // Mostly there is none, and then no line is moved.
        if self
            .lines
            .iter()
            .any(|line| matches(line.name(&self.bytes)))
        {
            self.retain(|name, _| !matches(name));
        }
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&[u8], Known) -> bool) {
        let bytes = &self.bytes;
        let mut seen = KnownSet::default();
        self.lines.retain(|line| {
            let is_kept = keep(line.name(bytes), line.known);
            if is_kept {
                seen.insert(line.known);
            }
            is_kept
        });
        self.seen = seen;
    }

    /// Removes all fields, keeping the buffers.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.lines.clear();
        self.seen = KnownSet::default();
    }

    pub(crate) fn seen(&self) -> KnownSet {
        self.seen
    }

    /// The values of a known name, in order.
    pub(crate) fn known(&self, known: Known) -> impl Iterator<Item = &[u8]> {
        let lines = if self.seen.contains(known) {
            self.lines.as_slice()
        } else {
            &[]
        };
        lines
            .iter()
            .filter(move |line| line.known == known)
            .map(|line| line.value(&self.bytes))
    }

    /// The buffer and the places of the lines in it.
    pub(crate) fn raw(&self) -> (&[u8], &[Line]) {
        (&self.bytes, &self.lines)
    }

    /// Marks the fields that the values of `Connection` name as [`Known::Nominated`].
    pub(crate) fn mark_nominated(&mut self) {
        for index in 0..self.lines.len() {
            let Some(&line) = self
                .lines
                .get(index)
                .filter(|line| line.known == Known::Connection)
            else {
                continue;
            };
            for member in crate::list::members(line.value(&self.bytes)) {
                for other in &mut self.lines {
                    if other.known.can_be_nominated() && other.is_named(member, &self.bytes) {
                        other.known = Known::Nominated;
                    }
                }
            }
        }
    }

    /// Takes over the fields that `httparse` found in `input`, whose head ends at `head_end`.
    pub(crate) fn take_over(
        &mut self,
        input: &[u8],
        head_end: usize,
        found: &[httparse::Header<'_>],
    ) -> Result<(), Fault> {
        self.clear();
        // Seen from the end: CRLF of the last line, then the empty line. A bare LF hides here ...
        if input.get(head_end.wrapping_sub(4)..head_end) != Some(b"\r\n\r\n") {
            return Err(Fault::BadLineEnd);
        }
        let Some(first) = found.first() else {
            return Ok(());
        };
        let block_start = offset_in(input, first.name.as_bytes());
        let block = input.get(block_start..head_end - 2).unwrap_or_default();
        self.bytes.extend_from_slice(block);

        for field in found {
            let name = field.name.as_bytes();
            let start = offset_in(input, name);
            // ... or before a name.
            if input.get(start.wrapping_sub(2)) != Some(&b'\r') {
                return Err(Fault::BadLineEnd);
            }
            let start = start.wrapping_sub(block_start);
            let line = if is_plain_line(block, start, name.len(), field.value) {
                Line::new(start, Name::of(name), field.value.len())
            } else {
                self.push_line(Name::of(name), field.value)
            };
            let line = line.ok_or(Fault::HeadTooLarge)?;
            self.seen.insert(line.known);
            self.lines.push(line);
        }
        Ok(())
    }

    fn new_line(&mut self, name: Name<'_>, value: &[u8]) -> Result<Line, InvalidField> {
        if !is_value_text(value) {
            return Err(InvalidField);
        }
        self.push_line(name, value).ok_or(InvalidField)
    }

    fn push_line(&mut self, name: Name<'_>, value: &[u8]) -> Option<Line> {
        let line = Line::new(self.bytes.len(), name, value.len())?;
        self.bytes.reserve(name.text.len() + value.len() + 4);
        self.bytes.extend_from_slice(name.text);
        self.bytes.extend_from_slice(b": ");
        self.bytes.extend_from_slice(value);
        self.bytes.extend_from_slice(b"\r\n");
        Some(line)
    }
}

fn checked(name: &str) -> Result<Name<'_>, InvalidField> {
    let name = name.as_bytes();
    if is_token_text(name) {
        Ok(Name::of(name))
    } else {
        Err(InvalidField)
    }
}

/// Names only: values may be secrets.
impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|(name, _)| String::from_utf8_lossy(name)))
            .finish()
    }
}

/// Where `part`, a slice of `whole`, begins in it.
fn offset_in(whole: &[u8], part: &[u8]) -> usize {
    part.as_ptr().addr().wrapping_sub(whole.as_ptr().addr())
}

/// Whether the line already has the form `name: value` CRLF.
fn is_plain_line(block: &[u8], start: usize, name_len: usize, value: &[u8]) -> bool {
    let colon = start + name_len;
    if value.is_empty() {
        return block.get(colon..colon + 4) == Some(b": \r\n");
    }
    block.get(colon..colon + 2) == Some(b": ")
        && offset_in(block, value) == colon + 2
        && block.get(colon + 2 + value.len()) == Some(&b'\r')
}
