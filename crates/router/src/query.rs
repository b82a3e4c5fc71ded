//! Names and values of a query string (`application/x-www-form-urlencoded`).

/// Calls `each` with the raw value of every parameter of this name.
pub(crate) fn values_of<'q>(query: &'q str, name: &str, mut each: impl FnMut(&'q str)) {
    for pair in query.split('&') {
        let (raw, value) = pair.split_once('=').unwrap_or((pair, ""));
        if !pair.is_empty() && decoded(raw).eq(name.bytes()) {
            each(value);
        }
    }
}

/// The bytes that a raw name or value stands for; an invalid escape stands for itself.
pub(crate) fn decoded(raw: &str) -> impl Iterator<Item = u8> {
    let mut rest = raw.as_bytes();
    std::iter::from_fn(move || {
        let (&first, after) = rest.split_first()?;
        rest = after;
        match first {
            b'+' => Some(b' '),
            b'%' => {
                if let [high, low, after @ ..] = rest
                    && let (Some(high), Some(low)) = (digit(*high), digit(*low))
                {
                    rest = after;
                    return Some(high << 4 | low);
                }
                Some(b'%')
            }
            other => Some(other),
        }
    })
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: RT-19
    #[test]
    fn values_are_found_under_every_spelling_of_the_name() {
        let mut values = Vec::new();

        values_of("a=1&b=2&%61=3&a&=4&a=x=y&&", "a", |value| {
            values.push(value);
        });

        assert_eq!(values, ["1", "3", "", "x=y"]);
    }

    // spec: RT-19
    #[test]
    fn escapes_are_decoded_once_and_bad_ones_stand_for_themselves() {
        let text: Vec<u8> = decoded("a%20b+c%2525%zz%").collect();

        assert_eq!(text, b"a b c%25%zz%");
    }
}
