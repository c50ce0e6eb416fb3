//! `host:port`, and lists of it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Where a broker listens.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Address {
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    pub(crate) host: Arc<str>,
    pub(crate) port: u16,
}

/// Why a text is no `host:port`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAddress {
    /// Nothing before the port.
    #[error("has no host")]
    NoHost,
    /// Nothing after the host. Kafka has no default port.
    #[error("has no port; write `host:9092`")]
    NoPort,
    /// A port that is no number from 1 to 65535.
    #[error("has no port from 1 to 65535")]
    Port,
    /// An IPv6 address without brackets, or brackets that are not a pair.
    #[error("is no host; an IPv6 address is written `[::1]:9092`")]
    Brackets,
    /// A scheme or a path, as in a URL. A listener's name (`PLAINTEXT://`) is not part of the address here.
    #[error("is a URL; write `host:port` alone")]
    Url,
}

impl Address {
    pub(crate) fn new(host: impl Into<Arc<str>>, port: u16) -> Self {
        Self { host: host.into(), port }
    }
}

impl FromStr for Address {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        if text.contains('/') {
            return Err(InvalidAddress::Url);
        }
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => bracketed(rest)?,
            None => text.rsplit_once(':').ok_or(InvalidAddress::NoPort)?,
        };
        if host.is_empty() {
            return Err(InvalidAddress::NoHost);
        }
        if !text.starts_with('[') && host.contains([':', '[', ']']) {
            return Err(InvalidAddress::Brackets);
        }
        match port.parse() {
            Ok(port) if port > 0 => Ok(Self::new(host, port)),
            _ => Err(InvalidAddress::Port),
        }
    }
}

/// What follows the opening bracket: the host, the closing one, the port.
fn bracketed(rest: &str) -> Result<(&str, &str), InvalidAddress> {
    let (host, tail) = rest.split_once(']').ok_or(InvalidAddress::Brackets)?;
    let port = tail.strip_prefix(':').ok_or(InvalidAddress::NoPort)?;
    Ok((host, port))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_kafka_writes_them() {
        for (text, expected) in [
            ("kafka-1:9092", Ok(Address::new("kafka-1", 9092))),
            ("10.0.0.1:1", Ok(Address::new("10.0.0.1", 1))),
            ("[::1]:9092", Ok(Address::new("::1", 9092))),
            ("kafka-1", Err(InvalidAddress::NoPort)),
            ("[::1]", Err(InvalidAddress::NoPort)),
            ("::1:9092", Err(InvalidAddress::Brackets)),
            ("[::1:9092", Err(InvalidAddress::Brackets)),
            (":9092", Err(InvalidAddress::NoHost)),
            ("[]:9092", Err(InvalidAddress::NoHost)),
            ("kafka-1:0", Err(InvalidAddress::Port)),
            ("kafka-1:65536", Err(InvalidAddress::Port)),
            ("kafka-1:", Err(InvalidAddress::Port)),
            ("PLAINTEXT://kafka-1:9092", Err(InvalidAddress::Url)),
        ] {
            assert_eq!(text.parse(), expected, "{text}");
        }
    }

    #[test]
    fn an_address_is_written_as_it_is_read() {
        for text in ["kafka-1:9092", "[::1]:9092"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }
}
