//! Which name was meant by one that nobody knows.

/// How many letters may differ.
const MOST: usize = 3;

/// The known name that the fewest changes lead to, if they are few.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.into_iter().map(|known| (strsim::levenshtein(name, known), known));
    let (distance, nearest) = distances.min()?;
    (distance <= MOST).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_seen_and_another_word_is_not() {
        let known = ["session.timeout.ms", "ssl.ca.location", "ssl.key.location"];
        for (name, meant) in [
            ("sesion.timeout.ms", Some("session.timeout.ms")),
            ("session.timeout", Some("session.timeout.ms")),
            ("ssl.ca.locaton", Some("ssl.ca.location")),
            ("fetch.min.bytes", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), meant, "{name}");
        }
        assert_eq!(nearest("x", []), None);
    }
}
