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
    /// Lines of a properties file, before those of `properties`.
    file: String,
    /// Further listeners of the first node: name, protocol, port.
    listeners: Vec<(String, String, u16)>,
    /// Users with SCRAM, known from the first start on.
    users: Vec<(String, String)>,
    environment: Vec<(String, String)>,
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
        Self {
            nodes,
            properties: properties.map(|(key, value)| (key.into(), value.into())).into(),
            file: String::new(),
            listeners: Vec::new(),
            users: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// Sets a broker property.
    #[must_use]
    pub(crate) fn set(mut self, key: &str, value: &str) -> Self {
        self.properties.retain(|(known, _)| known != key);
        self.properties.push((key.into(), value.into()));
        self
    }

    /// Takes the properties of a file, too; [`Self::set`] overrides them.
    #[must_use]
    pub(super) fn file(mut self, text: &str) -> Self {
        self.file += text;
        self
    }

    /// Listens there, too.
    #[must_use]
    pub(super) fn listener(mut self, name: &str, protocol: &str, port: u16) -> Self {
        self.listeners.push((name.into(), protocol.into(), port));
        self
    }

    /// Knows a user by SCRAM.
    #[must_use]
    pub(super) fn user(mut self, name: &str, password: &str) -> Self {
        self.users.push((name.into(), password.into()));
        self
    }

    /// Sets a variable of the environment that nodes run in.
    #[must_use]
    pub(super) fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    pub(super) fn variables(&self) -> &[(String, String)] {
        &self.environment
    }

    /// What the storage is formatted with.
    pub(super) fn format_arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        for (name, password) in &self.users {
            for mechanism in ["SCRAM-SHA-256", "SCRAM-SHA-512"] {
                arguments.push("-S".to_owned());
                arguments.push(format!("{mechanism}=[name={name},password={password}]"));
            }
        }
        arguments
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
        let more = |each: &dyn Fn(&(String, String, u16)) -> String| {
            self.listeners.iter().map(each).collect::<Vec<_>>().concat()
        };
        let listeners = more(&|(name, _, port)| format!(",{name}://127.0.0.1:{port}"));
        let protocols = more(&|(name, protocol, _)| format!(",{name}:{protocol}"));
        let mut text = format!(
            "process.roles=broker,controller\n\
             node.id={node}\n\
             broker.rack=rack-{node}\n\
             log.dirs={data}\n\
             controller.quorum.voters={voters}\n\
             controller.listener.names=CONTROLLER\n\
             inter.broker.listener.name=INTERNAL\n\
             listeners=PLAINTEXT://127.0.0.1:{client},INTERNAL://127.0.0.1:{internal},CONTROLLER://127.0.0.1:{controller}{listeners}\n\
             advertised.listeners=PLAINTEXT://127.0.0.1:{client},INTERNAL://127.0.0.1:{internal}{listeners}\n\
             listener.security.protocol.map=PLAINTEXT:PLAINTEXT,INTERNAL:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT{protocols}\n\
             listener.name.internal.sasl.enabled.mechanisms=PLAIN\n\
             listener.name.controller.sasl.enabled.mechanisms=PLAIN\n\
             sasl.mechanism.inter.broker.protocol=PLAIN\n\
             sasl.mechanism.controller.protocol=PLAIN\n\
             listener.name.internal.plain.sasl.jaas.config={login}\n\
             listener.name.controller.plain.sasl.jaas.config={login}\n\
             super.users=User:node\n",
            data = data.display(),
            voters = voters.collect::<Vec<_>>().join(","),
        );
        text += &self.file;
        for (key, value) in &self.properties {
            text += &format!("{key}={value}\n");
        }
        text
    }
}
