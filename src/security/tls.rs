//! What a TLS connection is made with.

use std::path::PathBuf;

use super::Secret;

/// Whom a TLS connection trusts, and what it shows of itself. Versions 1.2 and 1.3 are spoken.
///
/// A broker's certificate must come from one of the roots, be valid today, and name the host that is connected to:
/// what `advertised.listeners` says, not only what is in `bootstrap.servers`.
#[derive(Clone, Debug)]
pub struct Tls {
    pub(crate) roots: Roots,
    pub(crate) identity: Option<Identity>,
    pub(crate) checks_host_name: bool,
}

/// Whom to trust.
#[derive(Clone, Debug)]
pub(crate) enum Roots {
    System,
    Given(Pem),
}

/// Who we are: a certificate with those that lead to its root, and its key.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) certificates: Pem,
    pub(crate) key: Pem,
}

/// PEM, and which property gave it.
#[derive(Clone, Debug)]
pub(crate) struct Pem {
    pub(crate) property: &'static str,
    pub(crate) source: Source,
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    File(PathBuf),
    Text(Secret),
}

impl Tls {
    /// Trusts what the system trusts; `SSL_CERT_FILE` and `SSL_CERT_DIR` name other files.
    pub fn system_roots() -> Self {
        Self::trusting(Roots::System)
    }

    /// Trusts the certificates in this PEM file, and no others. Kafka: `ssl.truststore.location` of type PEM;
    /// librdkafka: `ssl.ca.location`.
    pub fn ca_file(path: impl Into<PathBuf>) -> Self {
        Self::trusting(Roots::Given(Pem::file("ssl.ca.location", path)))
    }

    /// Trusts the certificates in this PEM text, and no others. Kafka: `ssl.truststore.certificates`; librdkafka:
    /// `ssl.ca.pem`.
    pub fn ca_pem(text: impl Into<String>) -> Self {
        Self::trusting(Roots::Given(Pem::text("ssl.ca.pem", text)))
    }

    pub(crate) fn trusting(roots: Roots) -> Self {
        Self { roots, identity: None, checks_host_name: true }
    }

    /// Shows brokers that ask for it a certificate: two PEM files, the second with the key, which must not be
    /// encrypted. librdkafka: `ssl.certificate.location` and `ssl.key.location`; Kafka has both in
    /// `ssl.keystore.location` of type PEM.
    #[must_use]
    pub fn client_certificate_files(
        self,
        certificates: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        self.identity(Identity {
            certificates: Pem::file("ssl.certificate.location", certificates),
            key: Pem::file("ssl.key.location", key),
        })
    }

    /// As [`client_certificate_files`](Self::client_certificate_files), from PEM texts. Kafka:
    /// `ssl.keystore.certificate.chain` and `ssl.keystore.key`; librdkafka: `ssl.certificate.pem` and `ssl.key.pem`.
    #[must_use]
    pub fn client_certificate_pem(
        self,
        certificates: impl Into<String>,
        key: impl Into<String>,
    ) -> Self {
        self.identity(Identity {
            certificates: Pem::text("ssl.certificate.pem", certificates),
            key: Pem::text("ssl.key.pem", key),
        })
    }

    pub(crate) fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Takes any certificate of the roots for any broker: `ssl.endpoint.identification.algorithm` empty or `none`.
    ///
    /// The trap: whoever has a certificate of the same CA can then pass for a broker.
    #[must_use]
    pub fn any_host_name(mut self) -> Self {
        self.checks_host_name = false;
        self
    }
}

impl Pem {
    pub(crate) fn file(property: &'static str, path: impl Into<PathBuf>) -> Self {
        Self { property, source: Source::File(path.into()) }
    }

    pub(crate) fn text(property: &'static str, text: impl Into<String>) -> Self {
        Self { property, source: Source::Text(Secret::new(in_lines(&text.into()))) }
    }
}

/// PEM as everybody reads it. Properties files tend to have it in one line, whose parts went on behind backslashes, and
/// Kafka takes that.
fn in_lines(text: &str) -> String {
    let mut lines = String::with_capacity(text.len() + text.len() / 32);
    let mut rest = text;
    while let Some((before, label, behind)) = marked(rest, "-----BEGIN ") {
        let Some((body, end, after)) = marked(behind, "-----END ") else { break };
        lines.push_str(before);
        if !matches!(lines.chars().last(), None | Some('\n')) {
            lines.push('\n');
        }
        lines.push_str(label);
        if body.trim_start_matches([' ', '\t']).starts_with(['\n', '\r']) {
            lines.push_str(body);
        } else {
            let letters = body.chars().filter(|c| !c.is_whitespace());
            for (at, letter) in letters.enumerate() {
                if at % LINE == 0 {
                    lines.push('\n');
                }
                lines.push(letter);
            }
            lines.push('\n');
        }
        lines.push_str(end);
        rest = after;
    }
    lines + rest
}

/// How long lines of PEM are.
const LINE: usize = 64;

/// What is before such a mark, the mark, and what is behind it.
fn marked<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str, &'a str)> {
    const DASHES: &str = "-----";
    let begin = text.find(mark)?;
    let label = begin + mark.len();
    let end = label + text.get(label..)?.find(DASHES)? + DASHES.len();
    Some((text.get(..begin)?, text.get(begin..end)?, text.get(end..)?))
}
