//! The values of a route's path parameters.

/// What the parameters of the matched template stand for, as the characters of the path's normal form.
///
/// Empty, and without an allocation, unless a filter of the route asks for them
/// ([`Filter::path_params`](crate::Filter::path_params)).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Params(Vec<(Box<str>, Box<str>)>);

impl Params {
    /// The value of the parameter `name`: one segment, or the rest of the path.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find_map(|(known, value)| (known == name).then_some(value))
    }

    /// Names and values, in the order of the template.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Params {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        Self(
            pairs
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_found_by_its_name() {
        let params: Params = [("id", "a%2Fb"), ("rest", "")].into_iter().collect();

        assert_eq!(params.get("id"), Some("a%2Fb"));
        assert_eq!(params.get("rest"), Some(""));
        assert_eq!(params.get("other"), None);
    }
}
