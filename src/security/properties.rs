//! From properties to [`Security`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::jaas::{Login, Module};
use super::names;
use super::{
    Identity, InvalidSecurity, Pem, Protocol, Roots, Sasl, Secret, Security, Tls, TokenProvider,
};

/// Properties of security that were set one by one, in any order; read when all are there.
///
/// Every value may be a secret, so `Debug` shows names alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecurityProperties(BTreeMap<&'static str, Secret>);

/// How librdkafka and Kafka name the same mechanism property.
const MECHANISM: [&str; 2] = ["sasl.mechanism", "sasl.mechanisms"];
const MECHANISMS: &str = "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER";
const UNSECURED: &str = "enable.sasl.oauthbearer.unsecure.jwt";

impl SecurityProperties {
    /// Sets one; says whether it is of this kind. Unknown ones of the kind, and those that are not supported, are errors.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<bool, InvalidSecurity> {
        let Some(name) = names::known(name)? else { return Ok(false) };
        self.0.insert(name, Secret::new(value));
        Ok(true)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What they say together. `provider` gives OAUTHBEARER's tokens.
    pub(crate) fn read(
        &self,
        provider: Option<Arc<dyn TokenProvider>>,
    ) -> Result<Security, InvalidSecurity> {
        let protocol = self.protocol()?;
        let (has_tls, has_sasl) = match protocol {
            Protocol::Plaintext => (false, false),
            Protocol::Ssl => (true, false),
            Protocol::SaslPlaintext => (false, true),
            Protocol::SaslSsl => (true, true),
        };
        self.refuse_what_nobody_reads(protocol, has_tls, has_sasl)?;
        if !has_sasl && provider.is_some() {
            let why = format!("is {protocol}, under which nobody asks the token provider");
            return Err(InvalidSecurity::new("security.protocol", why));
        }
        Ok(Security {
            tls: if has_tls { Some(self.tls()?) } else { None },
            sasl: if has_sasl { Some(self.sasl(provider)?) } else { None },
        })
    }

    fn protocol(&self) -> Result<Protocol, InvalidSecurity> {
        let Some(value) = self.text("security.protocol") else { return Ok(Protocol::Plaintext) };
        match value.trim().to_ascii_uppercase().as_str() {
            "PLAINTEXT" => Ok(Protocol::Plaintext),
            "SSL" => Ok(Protocol::Ssl),
            "SASL_PLAINTEXT" => Ok(Protocol::SaslPlaintext),
            "SASL_SSL" => Ok(Protocol::SaslSsl),
            _ => Err(wrong(
                "security.protocol",
                "must be PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL",
            )),
        }
    }

    /// Whoever sets `ssl.ca.location` believes that it counts.
    fn refuse_what_nobody_reads(
        &self,
        protocol: Protocol,
        has_tls: bool,
        has_sasl: bool,
    ) -> Result<(), InvalidSecurity> {
        let is_sasl = |name: &str| name.starts_with("sasl.") || name == UNSECURED;
        let is_tls = |name: &str| name.starts_with("ssl.") || name.starts_with("enable.ssl.");
        let unread = |name: &str| (is_tls(name) && !has_tls) || (is_sasl(name) && !has_sasl);
        match self.0.keys().copied().find(|name| unread(name)) {
            Some(name) => {
                let why = format!(
                    "is set, and security.protocol is {protocol}, under which nobody reads it"
                );
                Err(InvalidSecurity::new(name, why))
            }
            None => Ok(()),
        }
    }

    fn tls(&self) -> Result<Tls, InvalidSecurity> {
        for store in ["ssl.truststore.type", "ssl.keystore.type"] {
            if self.text(store).is_some_and(|kind| !kind.trim().eq_ignore_ascii_case("PEM")) {
                return Err(wrong(
                    store,
                    "must be PEM: JKS and PKCS#12 stores are not read. `keytool -exportcert -rfc` and `openssl pkcs12 \
                     -nodes` write PEM",
                ));
            }
        }
        if self.text("ssl.key.password").is_some_and(|password| !password.is_empty()) {
            return Err(wrong(
                "ssl.key.password",
                "is set, and encrypted keys are not read: `openssl pkcs8 -in KEY -out PLAIN` writes the key without a \
                 password; let the service alone read that file",
            ));
        }
        if self.flag("enable.ssl.certificate.verification")? == Some(false) {
            return Err(wrong(
                "enable.ssl.certificate.verification",
                "cannot be false: give the brokers' CA by ssl.ca.location; ssl.endpoint.identification.algorithm = none \
                 leaves out the check of the host's name alone",
            ));
        }
        let mut tls = Tls::trusting(self.roots()?);
        tls.identity = self.identity()?;
        tls.checks_host_name =
            match self.text("ssl.endpoint.identification.algorithm").map(str::trim) {
                None => true,
                Some(value) if value.eq_ignore_ascii_case("https") => true,
                Some(value) if value.is_empty() || value.eq_ignore_ascii_case("none") => false,
                Some(_) => {
                    return Err(wrong(
                        "ssl.endpoint.identification.algorithm",
                        "must be `https`, or empty or `none` for no check of the host's name",
                    ));
                }
            };
        Ok(tls)
    }

    fn roots(&self) -> Result<Roots, InvalidSecurity> {
        const FILES: [&str; 2] = ["ssl.ca.location", "ssl.truststore.location"];
        const TEXTS: [&str; 2] = ["ssl.ca.pem", "ssl.truststore.certificates"];
        match self.pem(&FILES, &TEXTS)? {
            Some(_) if self.text("ssl.ca.location").map(str::trim) == Some("probe") => {
                Ok(Roots::System)
            }
            Some(pem) => Ok(Roots::Given(pem)),
            None => Ok(Roots::System),
        }
    }

    fn identity(&self) -> Result<Option<Identity>, InvalidSecurity> {
        const BOTH: &str = "ssl.keystore.location";
        let certificates = self.pem(
            &["ssl.certificate.location", BOTH],
            &["ssl.certificate.pem", "ssl.keystore.certificate.chain"],
        )?;
        let key = self.pem(&["ssl.key.location", BOTH], &["ssl.key.pem", "ssl.keystore.key"])?;
        match (certificates, key) {
            (None, None) => Ok(None),
            (Some(certificates), Some(key)) => Ok(Some(Identity { certificates, key })),
            (Some(pem), None) => {
                Err(wrong(pem.property, "is a certificate without a key: set ssl.key.location"))
            }
            (None, Some(pem)) => Err(wrong(
                pem.property,
                "is a key without a certificate: set ssl.certificate.location",
            )),
        }
    }

    /// The one of these that is set.
    fn pem(
        &self,
        files: &[&'static str],
        texts: &[&'static str],
    ) -> Result<Option<Pem>, InvalidSecurity> {
        let mut found: Option<Pem> = None;
        let files = files.iter().map(|name| (*name, true));
        let texts = texts.iter().map(|name| (*name, false));
        for (name, is_file) in files.chain(texts) {
            let Some(value) = self.text(name).filter(|value| !value.trim().is_empty()) else {
                continue;
            };
            if let Some(other) = found {
                let why = format!("is set, and {} too: one of them", other.property);
                return Err(InvalidSecurity::new(name, why));
            }
            found =
                Some(if is_file { Pem::file(name, value.trim()) } else { Pem::text(name, value) });
        }
        Ok(found)
    }

    fn sasl(&self, provider: Option<Arc<dyn TokenProvider>>) -> Result<Sasl, InvalidSecurity> {
        let login = match self.text("sasl.jaas.config") {
            Some(text) => Some(Login::read(text).map_err(|why| wrong("sasl.jaas.config", why))?),
            None => None,
        };
        let mechanism = self.mechanism()?;
        let fits = |module| match mechanism.as_str() {
            "PLAIN" => module == Module::Plain,
            "OAUTHBEARER" => module == Module::OAuthBearer,
            _ => module == Module::Scram,
        };
        if login.as_ref().is_some_and(|login| !fits(login.module)) {
            return Err(wrong(
                "sasl.jaas.config",
                "has the login module of another sasl.mechanism",
            ));
        }
        let login = login.as_ref();
        if provider.is_some() && mechanism != "OAUTHBEARER" {
            return Err(wrong(MECHANISM[0], "must be OAUTHBEARER where a token provider is given"));
        }
        match mechanism.as_str() {
            "PLAIN" => self.credentials(login).map(|(name, word)| Sasl::plain(name, word)),
            "SCRAM-SHA-256" => {
                self.credentials(login).map(|(name, word)| Sasl::scram_sha_256(name, word))
            }
            "SCRAM-SHA-512" => {
                self.credentials(login).map(|(name, word)| Sasl::scram_sha_512(name, word))
            }
            "OAUTHBEARER" => self.tokens(login, provider),
            "GSSAPI" => Err(InvalidSecurity::new(
                MECHANISM[0],
                format!(
                    "is GSSAPI (Kerberos), which is not spoken: use {MECHANISMS}, or a client certificate"
                ),
            )),
            _ => Err(InvalidSecurity::new(MECHANISM[0], format!("must be {MECHANISMS}"))),
        }
    }

    /// Its default, GSSAPI, would be a surprise.
    fn mechanism(&self) -> Result<String, InvalidSecurity> {
        let [one, other] = MECHANISM.map(|name| self.text(name).map(str::trim));
        let named = match (one, other) {
            (Some(one), Some(other)) if !one.eq_ignore_ascii_case(other) => {
                return Err(wrong(MECHANISM[1], "is set, and sasl.mechanism to something else"));
            }
            (one, other) => one.or(other),
        };
        match named {
            Some(named) if !named.is_empty() => Ok(named.to_ascii_uppercase()),
            _ => Err(InvalidSecurity::new(
                MECHANISM[0],
                format!("must be set: {MECHANISMS}. Kafka's default, GSSAPI, is not spoken"),
            )),
        }
    }

    fn credentials(&self, login: Option<&Login>) -> Result<(String, String), InvalidSecurity> {
        let one = |property: &'static str, option: &str| {
            let said = (self.text(property), login.and_then(|login| login.option(option)));
            match said {
                (Some(_), Some(_)) => Err(wrong(property, "is set, and in sasl.jaas.config too")),
                (None, None) => Err(wrong(property, "must be set, or sasl.jaas.config")),
                (Some(text), None) | (None, Some(text)) => Ok(text.to_owned()),
            }
        };
        Ok((one("sasl.username", "username")?, one("sasl.password", "password")?))
    }

    fn tokens(
        &self,
        login: Option<&Login>,
        provider: Option<Arc<dyn TokenProvider>>,
    ) -> Result<Sasl, InvalidSecurity> {
        if self.text("sasl.oauthbearer.method").is_some_and(|method| method.trim() != "default") {
            return Err(wrong(
                "sasl.oauthbearer.method",
                "must be `default`: tokens come from a `TokenProvider`, which may ask an identity provider (OIDC)",
            ));
        }
        if let Some(provider) = provider {
            return Ok(Sasl::provided(provider));
        }
        let of_login = |option: &str| login.and_then(|login| login.option(option));
        if let Some(principal) = of_login("unsecuredLoginStringClaim_sub") {
            let lifetime = seconds("sasl.jaas.config", of_login("unsecuredLoginLifetimeSeconds"))?;
            return Ok(Sasl::unsecured(principal.to_owned(), lifetime));
        }
        if self.flag(UNSECURED)? == Some(true) {
            return self.librdkafkas_unsecured();
        }
        Err(wrong(
            MECHANISM[0],
            "is OAUTHBEARER, which needs tokens: give a `TokenProvider`, by `Sasl::oauth_bearer` or \
             `Security::from_properties_with_tokens`",
        ))
    }

    /// `principal=alice lifeSeconds=3600`.
    fn librdkafkas_unsecured(&self) -> Result<Sasl, InvalidSecurity> {
        const CONFIG: &str = "sasl.oauthbearer.config";
        let (mut principal, mut life) = (None, None);
        for word in self.text(CONFIG).unwrap_or_default().split_whitespace() {
            match word.split_once('=') {
                Some(("principal", name)) => principal = Some(name),
                Some(("lifeSeconds", number)) => life = Some(number),
                _ => {
                    return Err(wrong(CONFIG, "takes `principal=NAME` and `lifeSeconds=NUMBER`"));
                }
            }
        }
        let principal = principal.ok_or_else(|| wrong(CONFIG, "must hold `principal=NAME`"))?;
        Ok(Sasl::unsecured(principal.to_owned(), seconds(CONFIG, life)?))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(Secret::reveal)
    }

    fn flag(&self, name: &'static str) -> Result<Option<bool>, InvalidSecurity> {
        match self.text(name).map(|value| value.trim().to_ascii_lowercase()).as_deref() {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(wrong(name, "must be `true` or `false`")),
        }
    }
}

/// How long a token of a test lives: an hour, if nothing is said.
fn seconds(property: &'static str, text: Option<&str>) -> Result<Duration, InvalidSecurity> {
    match text.unwrap_or("3600").parse::<u32>() {
        Ok(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds.into())),
        _ => Err(wrong(property, "has a lifetime that is no whole number of seconds above 0")),
    }
}

fn wrong(property: &'static str, why: &str) -> InvalidSecurity {
    InvalidSecurity::new(property, why)
}
