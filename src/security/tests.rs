//! Properties read, refused and kept secret.

use super::tls::Source;
use super::*;

fn read(properties: &[(&str, &str)]) -> Result<Security, InvalidSecurity> {
    Security::from_properties(properties.iter().copied())
}

fn refused(properties: &[(&str, &str)]) -> InvalidSecurity {
    let read = read(properties);
    read.err().unwrap_or_else(|| panic!("{properties:?} is read"))
}

const SCRAM: [(&str, &str); 2] =
    [("security.protocol", "SASL_PLAINTEXT"), ("sasl.mechanism", "SCRAM-SHA-512")];

/// With these, too.
fn scram(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    [&SCRAM, more].concat()
}

#[test]
fn nothing_said_is_plaintext() {
    let security = read(&[]).unwrap();
    assert!(security.tls.is_none() && security.sasl.is_none());
}

#[test]
fn kafkas_names_and_librdkafkas_say_the_same() {
    let kafkas = read(&[
        ("security.protocol", "SASL_SSL"),
        ("ssl.truststore.type", "PEM"),
        ("ssl.truststore.location", "ca.pem"),
        ("ssl.keystore.type", "PEM"),
        ("ssl.keystore.location", "both.pem"),
        ("sasl.mechanism", "PLAIN"),
        (
            "sasl.jaas.config",
            "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"a\" password=\"b\";",
        ),
    ]);
    let librdkafkas = read(&[
        ("security.protocol", "sasl_ssl"),
        ("ssl.ca.location", "ca.pem"),
        ("ssl.certificate.location", "both.pem"),
        ("ssl.key.location", "both.pem"),
        ("sasl.mechanisms", "PLAIN"),
        ("sasl.username", "a"),
        ("sasl.password", "b"),
    ]);
    for security in [kafkas.unwrap(), librdkafkas.unwrap()] {
        let tls = security.tls.unwrap();
        assert!(tls.checks_host_name && tls.identity.is_some());
        assert!(
            matches!(&tls.roots, Roots::Given(pem) if matches!(&pem.source, Source::File(path) if path.ends_with("ca.pem")))
        );
        let Mechanism::Plain { username, password } = security.sasl.unwrap().mechanism().clone()
        else {
            panic!("not PLAIN");
        };
        assert_eq!((username.as_str(), password.reveal()), ("a", "b"));
    }
}

#[test]
fn the_check_of_the_hosts_name_is_left_out_only_where_that_is_said() {
    for (value, expected) in [("https", true), ("HTTPS", true), ("", false), ("none", false)] {
        let security =
            read(&[("security.protocol", "SSL"), ("ssl.endpoint.identification.algorithm", value)]);
        assert_eq!(security.unwrap().tls.unwrap().checks_host_name, expected, "{value:?}");
    }
}

#[test]
fn every_property_that_is_not_right_is_named() {
    let tls = ("security.protocol", "SSL");
    let word = [("sasl.username", "a"), ("sasl.password", "b")];
    for (properties, named) in [
        (vec![("security.protocol", "TLS")], "security.protocol"),
        (vec![("ssl.ca.location", "ca.pem")], "ssl.ca.location"),
        (vec![tls, ("sasl.username", "a")], "sasl.username"),
        (vec![tls, ("ssl.truststore.type", "JKS")], "ssl.truststore.type"),
        (vec![tls, ("ssl.key.password", "secret")], "ssl.key.password"),
        (vec![tls, ("ssl.key.location", "k")], "ssl.key.location"),
        (vec![tls, ("ssl.certificate.pem", "c")], "ssl.certificate.pem"),
        (vec![tls, ("ssl.ca.location", "a"), ("ssl.ca.pem", "b")], "ssl.ca.pem"),
        (
            vec![tls, ("ssl.endpoint.identification.algorithm", "ldaps")],
            "ssl.endpoint.identification.algorithm",
        ),
        (
            vec![tls, ("enable.ssl.certificate.verification", "false")],
            "enable.ssl.certificate.verification",
        ),
        (vec![("security.protocol", "SASL_SSL")], "sasl.mechanism"),
        (vec![SCRAM[0], ("sasl.mechanism", "GSSAPI")], "sasl.mechanism"),
        (vec![SCRAM[0], ("sasl.mechanism", "OAUTHBEARER")], "sasl.mechanism"),
        (scram(&[("sasl.mechanisms", "PLAIN")]), "sasl.mechanisms"),
        (scram(&word[..1]), "sasl.password"),
        (scram(&[("sasl.jaas.config", "required")]), "sasl.jaas.config"),
    ] {
        assert_eq!(refused(&properties).property, named, "{properties:?}");
    }
}

#[test]
fn what_is_known_and_not_supported_names_what_to_do_instead() {
    for (name, instead) in [
        ("ssl.keystore.password", "PEM"),
        ("ssl.cipher.suites", "Leave it out"),
        ("ssl.enabled.protocols", "TLS 1.2 and 1.3"),
        ("sasl.kerberos.service.name", "SCRAM-SHA-512"),
        ("sasl.oauthbearer.token.endpoint.url", "TokenProvider"),
        ("sasl.login.callback.handler.class", "TokenProvider"),
        ("sasl.login.refresh.window.factor", "Leave it out"),
        ("ssl.engine.factory.class", "Java"),
    ] {
        let error = refused(&[(name, "secret")]).to_string();
        assert!(error.contains(instead) && !error.contains("secret"), "{error}");
    }
}

#[test]
fn a_mistyped_property_is_an_error_that_knows_what_was_meant() {
    let error = refused(&[("ssl.endpoint.identification.algorithmn", "none")]).to_string();
    assert!(error.contains("is `ssl.endpoint.identification.algorithm` meant?"), "{error}");
    let error = refused(&[("sasl.user", "alice")]).to_string();
    assert_eq!(error, "`sasl.*` has no `sasl.user`");
    let mut properties = SecurityProperties::default();
    assert_eq!(properties.set("session.timeout.ms", "1"), Ok(false));
    let error = properties.set("SASL.Password ", "s3cret").unwrap_err().to_string();
    assert_eq!(error, "`sasl.*` has no `SASL.Password `: is `sasl.password` meant?");
}

#[test]
fn tokens_of_tests_are_said_in_both_dialects() {
    let bearer = [SCRAM[0], ("sasl.mechanism", "OAUTHBEARER")];
    let kafkas = (
        "sasl.jaas.config",
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required \
         unsecuredLoginStringClaim_sub=\"alice\";",
    );
    let librdkafkas = [
        ("enable.sasl.oauthbearer.unsecure.jwt", "true"),
        ("sasl.oauthbearer.config", "principal=alice lifeSeconds=3600"),
    ];
    for more in [&[kafkas][..], &librdkafkas] {
        let security = read(&[&bearer, more].concat()).unwrap();
        let sasl = security.sasl.as_ref().unwrap();
        assert!(matches!(sasl.mechanism(), Mechanism::UnsecuredToken { principal, lifetime }
                if principal == "alice" && lifetime.as_secs() == 3600));
        assert_eq!(security.warnings().len(), 1);
    }
}

#[test]
fn no_secret_is_in_debug() {
    let security = Security::sasl_ssl(
        Tls::ca_pem("open").client_certificate_pem("open", "s3cret"),
        Sasl::plain("alice", "s3cret"),
    );
    let mut properties = SecurityProperties::default();
    for name in ["sasl.password", "sasl.jaas.config", "ssl.keystore.key"] {
        properties.set(name, "s3cret").unwrap();
    }
    let provided = Sasl::oauth_bearer(Never);
    let shown = format!("{security:?} {properties:?} {provided:?} {:?}", security.sasl);
    assert!(shown.contains("alice") && !shown.contains("s3cret"), "{shown}");
}

#[test]
fn plain_without_tls_is_warned_of() {
    let plain = || Sasl::plain("alice", "secret");
    assert_eq!(Security::sasl_plaintext(plain()).warnings().len(), 1);
    assert!(Security::sasl_ssl(Tls::system_roots(), plain()).warnings().is_empty());
}

#[test]
fn a_name_or_a_password_that_cannot_be_sent_is_refused() {
    for sasl in [Sasl::plain("", "b"), Sasl::plain("a", "b\0c"), Sasl::unsecured_token("a\"b")] {
        assert!(Security::sasl_plaintext(sasl).check().is_err());
    }
}

struct Never;

#[async_trait::async_trait]
impl TokenProvider for Never {
    async fn token(&self) -> Result<Token, Box<dyn std::error::Error + Send + Sync>> {
        Err("never".into())
    }
}

#[test]
fn what_a_broker_says_before_it_is_trusted_is_shown_in_a_few_harmless_words() {
    let mut offered = vec!["\u{1b}[2JPLAIN".repeat(100), "SCRAM-SHA-512".to_owned()];
    offered.extend((0..1000).map(|number| format!("X-{number}")));
    let not_offered = SaslError::NotOffered { mechanism: "PLAIN", offered: offered.clone() };
    let names = offered.clone();
    let other_host = TlsError::HostName { host: "broker".into(), names };
    for shown in
        [not_offered.to_string(), SaslError::Wanted { offered }.to_string(), other_host.to_string()]
    {
        assert!(shown.contains("SCRAM-SHA-512, X-0") && shown.contains("and 994 more"), "{shown}");
        assert!(shown.len() < 600 && !shown.contains(char::is_control), "{shown}");
    }
}
