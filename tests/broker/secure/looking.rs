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
