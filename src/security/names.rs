//! The properties of security, in Kafka's and in librdkafka's words: which are read, and what to do instead of the rest.

use super::InvalidSecurity;
use crate::types::nearest;

/// The properties that [`Security::from_properties`](super::Security::from_properties) reads.
///
/// Kafka's `ssl.truststore.*` and `ssl.keystore.*` mean PEM; librdkafka's `ssl.ca.*`, `ssl.certificate.*` and `ssl.key.*`
/// say the same. `sasl.jaas.config` may hold `PlainLoginModule`, `ScramLoginModule` or `OAuthBearerLoginModule`.
pub const PROPERTIES: &[&str] = &[
    "enable.sasl.oauthbearer.unsecure.jwt",
    "enable.ssl.certificate.verification",
    "sasl.jaas.config",
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.method",
    "sasl.password",
    "sasl.username",
    "security.protocol",
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.certificate.location",
    "ssl.certificate.pem",
    "ssl.endpoint.identification.algorithm",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.key.pem",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.location",
    "ssl.keystore.type",
    "ssl.truststore.certificates",
    "ssl.truststore.location",
    "ssl.truststore.type",
];

const PEM_ONLY: &str = "belongs to JKS and PKCS#12 stores, which are not read: give PEM files without a password, by \
                        ssl.ca.location, ssl.certificate.location and ssl.key.location";
const TLS_CHOICE: &str =
    "is not read: TLS 1.2 and 1.3 are spoken, with rustls's cipher suites. Leave it out";
const JAVA_CLASS: &str = "names a class of Java's, which cannot be loaded here. Leave it out";
const TOKENS: &str = "is not read: tokens come from a `TokenProvider`, given by `Sasl::oauth_bearer` or \
                      `Security::from_properties_with_tokens`";
const KERBEROS: &str = "belongs to GSSAPI (Kerberos), which is not spoken: use SCRAM-SHA-512 or OAUTHBEARER, or a client certificate";
const LOGIN: &str =
    "is not read: a token is fetched again when four fifths of its life are over. Leave it out";
const OPENSSL: &str = "is OpenSSL's, and our own connections speak TLS by rustls. Leave it out";

/// Known and not read. A name that ends in `.*` stands for all that begin so.
const REFUSED: &[(&str, &str)] = &[
    ("https.ca.location", TOKENS),
    ("https.ca.pem", TOKENS),
    ("sasl.client.callback.handler.class", JAVA_CLASS),
    ("sasl.kerberos.*", KERBEROS),
    ("sasl.login.callback.handler.class", TOKENS),
    ("sasl.login.class", JAVA_CLASS),
    ("sasl.login.*", LOGIN),
    ("sasl.oauthbearer.*", TOKENS),
    ("security.providers", JAVA_CLASS),
    (
        "ssl.ca.certificate.stores",
        "is Windows' alone: the system's roots are trusted where no CA is given",
    ),
    ("ssl.cipher.suites", TLS_CHOICE),
    (
        "ssl.crl.location",
        "is not read: revocation lists are not checked. Trust a CA of the brokers' own instead",
    ),
    ("ssl.curves.list", TLS_CHOICE),
    ("ssl.enabled.protocols", TLS_CHOICE),
    ("ssl.engine.factory.class", JAVA_CLASS),
    ("ssl.engine.id", OPENSSL),
    ("ssl.engine.location", OPENSSL),
    ("ssl.keymanager.algorithm", JAVA_CLASS),
    ("ssl.keystore.password", PEM_ONLY),
    ("ssl.protocol", TLS_CHOICE),
    ("ssl.provider", JAVA_CLASS),
    ("ssl.providers", OPENSSL),
    ("ssl.secure.random.implementation", JAVA_CLASS),
    ("ssl.sigalgs.list", TLS_CHOICE),
    ("ssl.trustmanager.algorithm", JAVA_CLASS),
    ("ssl.truststore.password", PEM_ONLY),
];

/// Whether a property is of this kind, known or not. In any case: with another than Kafka's it is mistyped, and its value
/// may be a secret all the same.
pub(crate) fn is_security(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    const FAMILIES: [&str; 6] =
        ["ssl.", "sasl.", "security.", "https.ca.", "enable.ssl.", "enable.sasl."];
    FAMILIES.iter().any(|family| name.starts_with(family))
}

/// The property's name, if it is one that is read. Unknown ones of these families are errors: a mistyped switch of a
/// check must not be passed over.
pub(super) fn known(name: &str) -> Result<Option<&'static str>, InvalidSecurity> {
    if !is_security(name) {
        return Ok(None);
    }
    if let Some(known) = PROPERTIES.iter().find(|known| **known == name) {
        return Ok(Some(*known));
    }
    let stands_for = |entry: &str| match entry.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == entry,
    };
    match REFUSED.iter().find(|(entry, _)| stands_for(entry)) {
        Some((entry, instead)) if entry.ends_with('*') => {
            Err(InvalidSecurity::new(entry, format!("(here `{name}`) {instead}")))
        }
        Some((entry, instead)) => Err(InvalidSecurity::new(entry, *instead)),
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> InvalidSecurity {
    let lower = name.trim().to_ascii_lowercase();
    let family = match lower.as_str() {
        lower if lower.contains("sasl") => "sasl.*",
        lower if lower.starts_with("security.") => "security.*",
        _ => "ssl.*",
    };
    let why = match nearest(&lower, PROPERTIES.iter().copied()) {
        Some(near) => format!("has no `{name}`: is `{near}` meant?"),
        None => format!("has no `{name}`"),
    };
    InvalidSecurity::new(family, why)
}
