//! Clients' hosts, as brokers write them: like Java, `NAME/ADDRESS`, mostly without the name.

/// As it is shown: without the slash that stands in front of an address alone.
pub(crate) fn shown(written: &str) -> &str {
    written.strip_prefix('/').unwrap_or(written)
}

/// The address alone.
pub(crate) fn address(written: &str) -> &str {
    written.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_read_as_brokers_write_it() {
        for (written, host) in [
            ("/10.0.0.1", "10.0.0.1"),
            ("10.0.0.1", "10.0.0.1"),
            ("pod/10.0.0.1", "10.0.0.1"),
            ("", ""),
        ] {
            assert_eq!(address(written), host, "{written}");
        }
        assert_eq!(["/10.0.0.1", "pod/10.0.0.1"].map(shown), ["10.0.0.1", "pod/10.0.0.1"]);
    }
}
