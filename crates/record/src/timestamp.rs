//! Wall-clock time as people and machines read it.

use std::time::Duration;

const DAY: u64 = 86_400;

/// Time since the Unix epoch as ISO 8601 in UTC with milliseconds: `2024-06-15T14:30:22.123Z`.
///
/// Keeps the last text: of the lines that follow each other most differ in the milliseconds only.
#[derive(Debug, Default)]
pub(crate) struct Timestamp {
    second: u64,
    text: Option<[u8; 20]>,
}

impl Timestamp {
    pub(crate) fn write(&mut self, unix: Duration, out: &mut Vec<u8>) {
        let second = unix.as_secs();
        let text = match self.text {
            Some(text) if self.second == second => text,
            Some(_) | None => {
                self.second = second;
                *self.text.insert(to_the_second(second))
            }
        };
        let millis = u64::from(unix.subsec_millis());
        out.extend_from_slice(&text);
        out.extend_from_slice(&[digit(millis / 100), digit(millis / 10), digit(millis), b'Z']);
    }
}

/// `2024-06-15T14:30:22.`
fn to_the_second(second: u64) -> [u8; 20] {
    let (year, month, day) = date(second / DAY);
    let clock = second % DAY;
    let (hour, minute, second) = (clock / 3_600, clock / 60 % 60, clock % 60);
    #[rustfmt::skip]
    let text = [
        digit(year / 1_000), digit(year / 100), digit(year / 10), digit(year), b'-',
        digit(month / 10), digit(month), b'-', digit(day / 10), digit(day), b'T',
        digit(hour / 10), digit(hour), b':', digit(minute / 10), digit(minute), b':',
        digit(second / 10), digit(second), b'.',
    ];
    text
}

/// The last decimal digit.
fn digit(number: u64) -> u8 {
    b'0' + u8::try_from(number % 10).unwrap_or(0)
}

/// Year, month and day of a day since 1970, by eras of 400 years that begin in March, so that the
/// leap day is the last of its year.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(stamp: &mut Timestamp, millis: u64) -> String {
        let mut out = Vec::new();
        stamp.write(Duration::from_millis(millis), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_time_is_iso_8601_in_utc_with_milliseconds() {
        let mut stamp = Timestamp::default();
        for (millis, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_718_461_822_123, "2024-06-15T14:30:22.123Z"),
            (1_718_461_822_999, "2024-06-15T14:30:22.999Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (1_735_689_599_001, "2024-12-31T23:59:59.001Z"),
        ] {
            assert_eq!(written(&mut stamp, millis), expected);
        }
    }
}
