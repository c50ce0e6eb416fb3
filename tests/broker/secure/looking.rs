//! Administration, and the command, over secure connections.

use kafka_group::admin::{Admin, AdminError, GroupList, ListOptions, Visibility};
use kafka_group::client::ClientOptions;
use kafka_group::security::{Sasl, Security};

use super::{every_way, identified, names, secured};
use crate::common::kafka::{Listener, Operation, Resource, Secure};
use crate::common::{own_cluster, unique};
use crate::harness::{App, done, member, offsets};

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

/// What is listed to whoever comes in this way.
fn listed(secure: &Secure, listener: Listener, security: Security) -> GroupList {
    let options = ClientOptions::new(secure.bootstrap(listener)).security(security);
    let admin = done(Admin::connect(options)).unwrap();
    done(admin.list_groups(ListOptions::default())).unwrap()
}

#[test]
fn groups_that_a_user_may_not_describe_are_missing_and_that_is_said() {
    let secure = own_cluster!(Secure::shared());
    let (seen, topic) = names(secure);
    let hidden = unique("hidden");
    let apps = [&seen, &hidden].map(|id| App::start(member(secure.plaintext(), id, &[&topic])));
    for app in &apps {
        app.holds(2);
    }
    let sees = |list: &GroupList| {
        [&seen, &hidden].map(|id| list.groups.iter().any(|group| group.group_id == *id))
    };
    let alice = || Security::sasl_plaintext(Sasl::plain("alice", "alice-secret"));
    let list = listed(secure, Listener::SaslPlaintext, alice());
    assert_eq!((list.visibility, sees(&list)), (Visibility::OnlyDescribable, [true, false]));

    let client = || Security::ssl(identified(secure, "client"));
    let list = listed(secure, Listener::Mutual, client());
    assert_eq!((list.visibility, sees(&list)), (Visibility::OnlyDescribable, [true, false]));
    let cluster = "kafka-cluster";
    secure.admin().grant("User:CN=client", Resource::Cluster, cluster, &[Operation::Describe]);
    let list = listed(secure, Listener::Mutual, client());
    assert_eq!((list.visibility, sees(&list)), (Visibility::All, [true, true]));
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

    /// A user over SASL_PLAINTEXT: by PLAIN, which is fast, or where the broker knows it by SCRAM alone, by that. (Other tests
    /// take SCRAM-SHA-256 away from some.)
    fn as_user(user: &str) -> String {
        let mechanism = if matches!(user, "bob" | "cid") { "SCRAM-SHA-512" } else { "PLAIN" };
        format!(
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\nsasl.username={user}\n\
             sasl.password={user}-secret\n"
        )
    }

    #[test]
    fn a_list_that_is_not_whole_says_so_and_one_that_shows_nothing_ends_with_3() {
        let secure = own_cluster!(Secure::shared());
        let (group, topic) = names(secure);
        let app = App::start(member(secure.plaintext(), &group, &[&topic]));
        app.holds(2);
        let note = "only groups that this user may DESCRIBE are listed: it has no DESCRIBE on the cluster (kafka-acls \
                    --add --allow-principal USER --operation Describe --cluster)\n";
        for (user, kind, said, code) in [
            ("alice", "classic", note, 0),
            ("alice", "share", note, 3),
            ("admin", "classic", "", 0),
            ("admin", "share", "", 0),
        ] {
            let list = ["list", "--type", kind];
            let output = run(secure, Listener::SaslPlaintext, &as_user(user), &list);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!((told.as_str(), output.status.code()), (said, Some(code)), "{user} {kind}");
            let shown = String::from_utf8_lossy(&output.stdout).contains(&group);
            assert_eq!(shown, kind == "classic", "{user} {kind}");
        }
    }

    /// A group and its topic, on which alice may do a little, bob all but see the topic, and cid all but read it.
    fn guarded(secure: &Secure) -> (String, String) {
        let (group, topic) = (unique("group"), unique("topic"));
        let admin = secure.admin();
        admin.create_topic(&topic, 1, 1);
        let app = App::start(member(secure.plaintext(), &group, &[&topic]));
        done(app.handle().commit(offsets(&app.holds(1).all, 0))).unwrap();
        app.leave();
        let little = &[Operation::Describe][..];
        let all = &[Operation::Read, Operation::Delete][..];
        for (user, of_group, of_topic) in
            [("alice", little, little), ("bob", all, &[]), ("cid", all, little)]
        {
            let user = format!("User:{user}");
            admin.grant(&user, Resource::Group, &group, of_group);
            admin.grant(&user, Resource::Topic, &topic, of_topic);
        }
        (group, topic)
    }

    #[test]
    fn every_command_names_the_operation_and_the_resource_that_are_missing() {
        let secure = own_cluster!(Secure::shared());
        let (group, topic) = guarded(secure);
        let of_group = |api, needed| {
            format!("not authorised for {api}: {needed} on group `{group}` is needed\n")
        };
        let find = "not authorised for FindCoordinator: DESCRIBE on group `elsewhere` is needed\n";
        let nowhere = || find.to_owned();
        let hidden = || format!("topic `{topic}` may not be described: DESCRIBE on it is needed\n");
        let to_read = || "READ on the topic is needed\n".to_owned();
        let reset = "reset-offsets --topic TOPIC --to-latest --execute --group";
        let forget = "delete-offsets --yes --topic TOPIC --group";
        let remove = "remove-members --yes --instance-ids pod --group";
        for (user, line, of, said) in [
            ("alice", "describe --group", "elsewhere", nowhere()),
            ("alice", remove, "elsewhere", nowhere()),
            ("alice", reset, "elsewhere", nowhere()),
            ("alice", "delete --yes --group", "elsewhere", nowhere()),
            ("alice", remove, &group, of_group("LeaveGroup", "READ")),
            ("alice", reset, &group, of_group("OffsetCommit", "READ")),
            ("alice", forget, &group, of_group("OffsetDelete", "DELETE")),
            ("alice", "delete --yes --group", &group, of_group("DeleteGroups", "DELETE")),
            ("bob", reset, &group, hidden()),
            ("cid", reset, &group, to_read()),
            ("cid", forget, &group, to_read()),
        ] {
            let line = format!("{} {of}", line.replace("TOPIC", &topic));
            let args: Vec<&str> = line.split(' ').collect();
            let output = run(secure, Listener::SaslPlaintext, &as_user(user), &args);
            let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(told.ends_with(&said), "{user}: {line}: {told}");
            assert_eq!(output.status.code(), Some(3), "{user}: {line}: {told}");
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
