//! Administration, and the command, over secure connections.

use kafka_group::admin::{Admin, AdminError};
use kafka_group::client::ClientOptions;
use kafka_group::security::{Sasl, Security};

use super::{every_way, names, secured};
use crate::common::kafka::{Listener, Operation, Resource, Secure};
use crate::common::{own_cluster, unique};
use crate::harness::{App, done};

#[test]
fn groups_are_described_every_way_there_is() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    secure.admin().grant("User:alice", Resource::Group, &group, &[Operation::Describe]);
    let alice = Security::sasl_plaintext(Sasl::plain("alice", "alice-secret"));
    let ann = App::start(secured(secure, Listener::SaslPlaintext, &group, &topic).security(alice));
    ann.holds(2);
    for (listener, security) in every_way(secure) {
        let options = ClientOptions::new(secure.bootstrap(listener)).security(security);
        let admin = done(Admin::connect(options)).unwrap();
        let described = done(admin.describe_group(&*group)).unwrap();
        assert_eq!(described.members.len(), 1, "{listener:?}");
    }
}

#[test]
fn an_acl_that_is_missing_is_named_to_administrators_as_well() {
    let secure = own_cluster!(Secure::shared());
    let alice = Security::sasl_plaintext(Sasl::plain("alice", "alice-secret"));
    let options = ClientOptions::new(secure.bootstrap(Listener::SaslPlaintext)).security(alice);
    let admin = done(Admin::connect(options)).unwrap();
    let group = unique("forbidden");
    let error = done(admin.describe_group(&*group)).unwrap_err();
    assert!(matches!(error, AdminError::NotAuthorized { .. }), "{error}");
}

#[cfg(feature = "cli")]
mod command {
    //! `--command-config`, as Kafka's own tools have it.

    use std::process::{Command, Output};

    use super::*;

    /// Runs the command at a listener with these lines in its properties file.
    fn run(secure: &Secure, at: Listener, lines: &str, arguments: &[&str]) -> Output {
        let config = secure.file(&unique("command.properties"));
        std::fs::write(&config, lines).unwrap();
        Command::new(env!("CARGO_BIN_EXE_kafka-group"))
            .args(arguments)
            .args(["--bootstrap-server", &secure.bootstrap(at), "--command-config", &config])
            .output()
            .unwrap()
    }

    /// Alice over SASL_SSL, in Kafka's words.
    fn alice(secure: &Secure, password: &str) -> String {
        let ca = secure.file("ca.pem");
        let login = "org.apache.kafka.common.security.scram.ScramLoginModule";
        format!(
            "security.protocol=SASL_SSL\nssl.truststore.type=PEM\nssl.truststore.location={ca}\n\
             sasl.mechanism=SCRAM-SHA-512\n\
             sasl.jaas.config={login} required \\\n  username=\"alice\" password=\"{password}\";\n"
        )
    }

    #[test]
    fn the_command_goes_the_same_ways_by_kafkas_properties() {
        let secure = own_cluster!(Secure::shared());
        let (group, topic) = names(secure);
        let scram = Security::sasl_plaintext(Sasl::plain("alice", "alice-secret"));
        let ann =
            App::start(secured(secure, Listener::SaslPlaintext, &group, &topic).security(scram));
        ann.holds(2);
        let ssl = format!("security.protocol=SSL\nssl.ca.location={}\n", secure.file("ca.pem"));
        let mutual = format!(
            "{ssl}ssl.certificate.location={}\nssl.key.location={}\n",
            secure.file("client.pem"),
            secure.file("client-key.pem")
        );
        for (listener, lines) in [
            (Listener::SaslSsl, alice(secure, "alice-secret")),
            (Listener::Ssl, ssl),
            (Listener::Mutual, mutual),
        ] {
            let output = run(secure, listener, &lines, &["describe", "--group", &group]);
            let shown = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && shown.contains(&topic), "{output:?}");
        }
    }

    #[test]
    fn the_command_says_what_is_wrong_and_nothing_secret_and_ends_with_3() {
        let secure = own_cluster!(Secure::shared());
        let refused = run(secure, Listener::SaslSsl, &alice(secure, "s3cret"), &["list"]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(3), "{refused:?}");
        assert!(said.contains("sasl.password") && !said.contains("s3cret"), "{said}");
        let mistyped = run(secure, Listener::SaslSsl, "sasl.pasword=s3cret\n", &["list"]);
        let said = String::from_utf8_lossy(&mistyped.stderr);
        assert_eq!(mistyped.status.code(), Some(2), "{mistyped:?}");
        assert!(said.contains("is `sasl.password` meant?") && !said.contains("s3cret"), "{said}");
    }
}
