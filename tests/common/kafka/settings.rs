//! What a cluster is set to.

use std::path::Path;

/// Where a node listens: for clients, for the other brokers, for the other controllers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ports {
    pub(super) client: u16,
    pub(super) internal: u16,
    pub(super) controller: u16,
}

/// The size of a cluster and the broker properties that differ from the tests' usual ones.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    nodes: i32,
    properties: Vec<(String, String)>,
}

impl Settings {
    /// One node, or three.
    pub(crate) fn new(nodes: i32) -> Self {
        let replication = nodes.min(3).to_string();
        let properties = [
            ("group.initial.rebalance.delay.ms", "0"),
            ("group.min.session.timeout.ms", "1000"),
            ("offsets.topic.num.partitions", "6"),
            ("offsets.topic.replication.factor", &replication),
            ("transaction.state.log.num.partitions", "6"),
            ("transaction.state.log.replication.factor", &replication),
            ("transaction.state.log.min.isr", "1"),
            ("default.replication.factor", &replication),
            ("auto.create.topics.enable", "false"),
            ("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
            ("allow.everyone.if.no.acl.found", "true"),
        ];
        Self { nodes, properties: properties.map(|(key, value)| (key.into(), value.into())).into() }
    }

    /// Sets a broker property.
    #[must_use]
    pub(crate) fn set(mut self, key: &str, value: &str) -> Self {
        self.properties.retain(|(known, _)| known != key);
        self.properties.push((key.into(), value.into()));
        self
    }

    pub(super) fn nodes(&self) -> i32 {
        self.nodes
    }

    pub(super) fn properties(&self) -> &[(String, String)] {
        &self.properties
    }

    /// The `server.properties` of one node that is broker and controller.
    ///
    /// Tests come in as `User:ANONYMOUS`, on whom access rules work; the nodes among themselves as a super user.
    pub(super) fn server_properties(&self, node: i32, ports: &[Ports], data: &Path) -> String {
        let Ports { client, internal, controller } = ports[super::index(node)];
        let voters =
            (1..).zip(ports).map(|(id, ports)| format!("{id}@127.0.0.1:{}", ports.controller));
        let login = "org.apache.kafka.common.security.plain.PlainLoginModule required \
                     username=\"node\" password=\"node\" user_node=\"node\";";
        let mut text = format!(
            "process.roles=broker,controller\n\
             node.id={node}\n\
             broker.rack=rack-{node}\n\
             log.dirs={data}\n\
             controller.quorum.voters={voters}\n\
             controller.listener.names=CONTROLLER\n\
             inter.broker.listener.name=INTERNAL\n\
             listeners=PLAINTEXT://127.0.0.1:{client},INTERNAL://127.0.0.1:{internal},CONTROLLER://127.0.0.1:{controller}\n\
             advertised.listeners=PLAINTEXT://127.0.0.1:{client},INTERNAL://127.0.0.1:{internal}\n\
             listener.security.protocol.map=PLAINTEXT:PLAINTEXT,INTERNAL:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT\n\
             sasl.enabled.mechanisms=PLAIN\n\
             sasl.mechanism.inter.broker.protocol=PLAIN\n\
             sasl.mechanism.controller.protocol=PLAIN\n\
             listener.name.internal.plain.sasl.jaas.config={login}\n\
             listener.name.controller.plain.sasl.jaas.config={login}\n\
             super.users=User:node\n",
            data = data.display(),
            voters = voters.collect::<Vec<_>>().join(","),
        );
        for (key, value) in &self.properties {
            text += &format!("{key}={value}\n");
        }
        text
    }
}
