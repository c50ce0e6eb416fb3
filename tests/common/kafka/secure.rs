//! The broker with TLS, SASL and access rules, on `compose/`'s properties and certificates.

use std::{collections::BTreeMap, fmt, fs, path::PathBuf, process::Command, sync::OnceLock};

use super::{Admin, Kafka, Settings, cluster, run::RunFolder, source};

const COMPOSE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/compose");

/// Where the broker listens; `compose/secure.properties` says what is special about each.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Listener {
    Ssl,
    Mutual,
    Expired,
    Elsewhere,
    SaslPlaintext,
    SaslSsl,
    PlainOnly,
    Brief,
}

const LISTENERS: [(Listener, &str, &str); 8] = [
    (Listener::Ssl, "SSL", "SSL"),
    (Listener::Mutual, "MUTUAL", "SSL"),
    (Listener::Expired, "EXPIRED", "SSL"),
    (Listener::Elsewhere, "ELSEWHERE", "SSL"),
    (Listener::SaslPlaintext, "SASL_PLAINTEXT", "SASL_PLAINTEXT"),
    (Listener::SaslSsl, "SASL_SSL", "SASL_SSL"),
    (Listener::PlainOnly, "PLAIN_ONLY", "SASL_PLAINTEXT"),
    (Listener::Brief, "BRIEF", "SASL_PLAINTEXT"),
];

/// Users beside the anonymous one, who comes in without SASL and may do all.
/// Bob and Cid are there to be taken away.
const USERS: [&str; 4] = ["admin", "alice", "bob", "cid"];

/// One node with every kind of listener.
pub(crate) struct Secure {
    kafka: Kafka,
    ports: BTreeMap<Listener, u16>,
    secrets: RunFolder,
}

impl Secure {
    /// The one that all tests of this process share. Use unique names on it.
    ///
    /// `None` where brokers are not processes of ours: use `own_cluster!`.
    pub(crate) fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Result<Option<Secure>, String>> = OnceLock::new();
        let shared = SHARED.get_or_init(Self::start).as_ref();
        shared.unwrap_or_else(|error| panic!("{error}")).as_ref()
    }

    fn start() -> Result<Option<Self>, String> {
        if !source::is_jars() {
            return Ok(None);
        }
        let secrets = RunFolder::create().map_err(|error| error.to_string())?;
        certificates(&secrets)?;
        let ports = cluster::free_numbers(LISTENERS.len()).map_err(|error| error.to_string())?;
        let ports: BTreeMap<_, _> =
            LISTENERS.iter().map(|(listener, ..)| *listener).zip(ports).collect();
        let properties = fs::read_to_string(format!("{COMPOSE}/secure.properties"));
        let mut settings = Settings::new(1)
            .file(&properties.map_err(|error| error.to_string())?)
            .environment("SECRETS", &secrets.path().display().to_string())
            .set("allow.everyone.if.no.acl.found", "false")
            .set("super.users", "User:node;User:ANONYMOUS;User:admin");
        for (listener, name, protocol) in LISTENERS {
            settings = settings.listener(name, protocol, ports[&listener]);
        }
        for user in USERS {
            settings = settings.user(user, &format!("{user}-secret"));
        }
        let kafka = Kafka::start(&settings)?;
        Ok(Some(Self { kafka, ports, secrets }))
    }

    /// `bootstrap.servers` of a listener.
    pub(crate) fn bootstrap(&self, listener: Listener) -> String {
        format!("127.0.0.1:{}", self.ports[&listener])
    }

    /// `bootstrap.servers` of the listener without TLS and SASL, where whoever comes may do all.
    pub(crate) fn plaintext(&self) -> &str {
        self.kafka.bootstrap()
    }

    /// One of the files that `compose/certificates.sh` makes.
    pub(crate) fn file(&self, name: &str) -> String {
        let path: PathBuf = self.secrets.path().join(name);
        path.display().to_string()
    }

    /// Requests that a test needs besides the client under test.
    pub(crate) fn admin(&self) -> Admin {
        self.kafka.admin()
    }
}

fn certificates(folder: &RunFolder) -> Result<(), String> {
    let made =
        Command::new("sh").arg(format!("{COMPOSE}/certificates.sh")).arg(folder.path()).output();
    match made {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!(
            "no certificates (is openssl there? Debian: apt-get install openssl): {}",
            String::from_utf8_lossy(&output.stderr)
        )),
        Err(error) => Err(format!("no certificates: {error}")),
    }
}

impl fmt::Debug for Secure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secure").field("ports", &self.ports).finish_non_exhaustive()
    }
}
