//! Entry points for fuzzing: plain functions of bytes that fail where a law is broken.

use crate::normal_form::{Normal, normalize};

/// A normal form has nothing left to change, and no dot segment, empty segment or odd byte.
pub fn path(bytes: &[u8]) {
    let Ok(path) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut scratch = String::new();
    let normal = match normalize(path, &mut scratch) {
        Ok(Normal::Unchanged) => path,
        Ok(Normal::Changed) => scratch.as_str(),
        Err(_) => return,
    };

    assert!(normal.starts_with('/'), "no leading slash: {normal:?}");
    assert!(
        normal
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\'),
        "{normal:?}"
    );
    assert!(!normal.contains("//"), "empty segment: {normal:?}");
    assert!(
        !normal.split('/').any(|name| name == "." || name == ".."),
        "{normal:?}"
    );
    let again = normalize(normal, &mut String::new());
    assert_eq!(again, Ok(Normal::Unchanged), "changes again: {normal:?}");
}
