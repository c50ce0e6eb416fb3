//! What librdkafka is told of TLS and SASL: the same as our own connections, in its words.

use std::ffi::OsString;

use rdkafka::ClientConfig;

use crate::error::Error;
use crate::security::{Mechanism, Pem, Roots, Sasl, Security, Source, Tls};

/// Says it all in librdkafka's words; an error says what this build of librdkafka lacks.
pub(super) fn secure(config: &mut ClientConfig, security: &Security) -> Result<(), Error> {
    refuse_what_is_not_built_in(security, &built_in()?)?;
    for (property, value) in properties(security) {
        config.set(property, value);
    }
    Ok(())
}

fn properties(security: &Security) -> Vec<(&'static str, String)> {
    let mut said = vec![("security.protocol", security.protocol().to_string())];
    if let Some(tls) = &security.tls {
        say_tls(tls, &mut said);
    }
    if let Some(sasl) = &security.sasl {
        say_sasl(sasl, &mut said);
    }
    said
}

fn say_tls(tls: &Tls, said: &mut Vec<(&'static str, String)>) {
    match &tls.roots {
        Roots::System => {
            said.push(("ssl.ca.location", system_roots(|name| std::env::var_os(name))))
        }
        Roots::Given(pem) => said.push(pem_as(pem, "ssl.ca.location", "ssl.ca.pem")),
    }
    if let Some(identity) = &tls.identity {
        let certificates =
            pem_as(&identity.certificates, "ssl.certificate.location", "ssl.certificate.pem");
        said.extend([certificates, pem_as(&identity.key, "ssl.key.location", "ssl.key.pem")]);
    }
    let checks = if tls.checks_host_name { "https" } else { "none" };
    said.push(("ssl.endpoint.identification.algorithm", checks.to_owned()));
}

/// Where our own connections find them: librdkafka looks for the system's by itself, and would not ask the environment.
fn system_roots(variable: impl Fn(&str) -> Option<OsString>) -> String {
    let set = |name| variable(name)?.into_string().ok().filter(|path| !path.is_empty());
    // Of several directories librdkafka takes one.
    let directory = || set("SSL_CERT_DIR")?.split(':').next().map(str::to_owned);
    set("SSL_CERT_FILE").or_else(directory).unwrap_or_else(|| "probe".to_owned())
}

fn pem_as(pem: &Pem, file: &'static str, text: &'static str) -> (&'static str, String) {
    match &pem.source {
        Source::File(path) => (file, path.display().to_string()),
        Source::Text(pem) => (text, pem.reveal().to_owned()),
    }
}

/// OAUTHBEARER's tokens come by the refresh callback.
fn say_sasl(sasl: &Sasl, said: &mut Vec<(&'static str, String)>) {
    let mechanism = sasl.mechanism();
    said.push(("sasl.mechanism", mechanism.name().to_owned()));
    match mechanism {
        Mechanism::Plain { username, password } | Mechanism::Scram { username, password, .. } => {
            said.push(("sasl.username", username.clone()));
            said.push(("sasl.password", password.reveal().to_owned()));
        }
        Mechanism::OAuthBearer(_) | Mechanism::UnsecuredToken { .. } => {}
    }
}

/// What this librdkafka can do, as it says itself: with dynamic linking only it knows. Asked without the application's
/// properties, since whoever makes the consumer says better what is wrong with them.
fn built_in() -> Result<String, Error> {
    let native = ClientConfig::new().create_native_config();
    native
        .and_then(|native| native.get("builtin.features"))
        .map_err(|error| Error::DataPlane(error.to_string()))
}

fn refuse_what_is_not_built_in(security: &Security, built_in: &str) -> Result<(), Error> {
    let mut needed = Vec::new();
    if security.tls.is_some() {
        needed.push(("security.protocol", "ssl"));
    }
    match security.sasl.as_ref().map(Sasl::mechanism) {
        None => {}
        Some(Mechanism::Plain { .. }) => needed.push(("sasl.mechanism", "sasl_plain")),
        Some(Mechanism::Scram { .. }) => needed.push(("sasl.mechanism", "sasl_scram")),
        Some(Mechanism::OAuthBearer(_) | Mechanism::UnsecuredToken { .. }) => {
            needed.push(("sasl.mechanism", "sasl_oauthbearer"));
        }
    }
    let is_there = |feature: &str| built_in.split(',').any(|there| there.trim() == feature);
    match needed.into_iter().find(|(_, feature)| !is_there(feature)) {
        None => Ok(()),
        Some((property, feature)) => Err(Error::option(
            property,
            format!(
                "needs a librdkafka with `{feature}`, and this one has {built_in}: enable the cargo feature `rdkafka-ssl` \
                 (or `rdkafka-ssl-vendored`) of kafka-group"
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(security: &Security) -> Vec<(&'static str, String)> {
        properties(security)
    }

    #[test]
    fn librdkafka_is_told_the_same_in_its_own_words() {
        let tls = Tls::ca_file("ca.pem").client_certificate_pem("certificate", "key");
        let security = Security::sasl_ssl(tls, Sasl::scram_sha_256("alice", "secret"));
        let expected = [
            ("security.protocol", "SASL_SSL"),
            ("ssl.ca.location", "ca.pem"),
            ("ssl.certificate.pem", "certificate"),
            ("ssl.key.pem", "key"),
            ("ssl.endpoint.identification.algorithm", "https"),
            ("sasl.mechanism", "SCRAM-SHA-256"),
            ("sasl.username", "alice"),
            ("sasl.password", "secret"),
        ];
        assert_eq!(said(&security), expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn a_host_name_that_is_not_checked_here_is_not_checked_there() {
        let security = Security::ssl(Tls::system_roots().any_host_name());
        assert!(
            said(&security).contains(&("ssl.endpoint.identification.algorithm", "none".into()))
        );
        let roots = system_roots(|name| std::env::var_os(name));
        assert!(said(&security).contains(&("ssl.ca.location", roots)));
    }

    #[test]
    fn both_planes_trust_the_roots_that_the_environment_names() {
        for (set, expected) in [
            (&[("SSL_CERT_FILE", "roots.pem"), ("SSL_CERT_DIR", "roots")][..], "roots.pem"),
            (&[("SSL_CERT_DIR", "roots")], "roots"),
            (&[], "probe"),
        ] {
            let variable = |name: &str| set.iter().find(|(set, _)| *set == name);
            assert_eq!(
                system_roots(|name| variable(name).map(|(_, value)| value.into())),
                expected
            );
        }
    }

    #[test]
    fn a_variable_that_is_empty_names_nothing_and_of_a_list_of_directories_the_first_is_taken() {
        let roots = system_roots(|name| match name {
            "SSL_CERT_DIR" => Some("/one:/two".into()),
            _ => Some("".into()),
        });
        assert_eq!(roots, "/one");
        assert_eq!(system_roots(|_| Some("".into())), "probe");
    }

    #[test]
    fn what_librdkafka_was_built_without_is_named_with_the_feature_that_brings_it() {
        let bare = "gzip,snappy,sasl,regex,lz4,sasl_plain,plugins";
        for (security, missing) in [
            (Security::ssl(Tls::system_roots()), "`ssl`"),
            (Security::sasl_plaintext(Sasl::scram_sha_512("a", "b")), "`sasl_scram`"),
            (Security::sasl_plaintext(Sasl::unsecured_token("a")), "`sasl_oauthbearer`"),
        ] {
            let error = refuse_what_is_not_built_in(&security, bare).unwrap_err().to_string();
            assert!(error.contains(missing) && error.contains("`rdkafka-ssl`"), "{error}");
        }
        let plain = Security::sasl_plaintext(Sasl::plain("a", "b"));
        assert_eq!(refuse_what_is_not_built_in(&plain, bare), Ok(()));
    }
}
