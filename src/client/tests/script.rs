//! Brokers that follow a script, at the other end of pipes. For tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::messages::api_versions_response::{ApiVersion, ApiVersionsResponse};
use kafka_protocol::messages::find_coordinator_response::{Coordinator, FindCoordinatorResponse};
use kafka_protocol::messages::metadata_response::{
    MetadataResponse, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::protocol::{Encodable, StrBytes};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, copy_bidirectional, duplex};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::client::{ApiKey, Client, ClientOptions};
use crate::transport::{Address, Connect, ConnectError, Stream};
use crate::types::{Generation, MemberId};
use crate::wire::Layout;
use crate::wire::api::HeartbeatRequest;

/// A broker's end of a connection.
pub(in crate::client) struct Peer(pub(in crate::client) DuplexStream);

/// A request as a broker sees it.
#[derive(Clone, Debug)]
pub(in crate::client) struct Received {
    pub(in crate::client) api: i16,
    pub(in crate::client) version: i16,
    pub(in crate::client) id: i32,
    pub(in crate::client) body: Bytes,
}

impl Peer {
    /// The next request; none once the client has closed the connection.
    pub(in crate::client) async fn receive(&mut self) -> Option<Received> {
        let length = self.0.read_i32().await.ok()?;
        let mut frame = vec![0; usize::try_from(length).unwrap()];
        self.0.read_exact(&mut frame).await.ok()?;
        let mut frame = Bytes::from(frame);
        let (api, version, id) = (frame.get_i16(), frame.get_i16(), frame.get_i32());
        let client_id = frame.get_i16();
        frame.advance(usize::try_from(client_id).unwrap());
        Some(Received { api, version, id, body: frame })
    }

    /// Answers with what follows the correlation id.
    pub(in crate::client) async fn answer(&mut self, id: i32, rest: &[u8]) {
        let mut frame = BytesMut::new();
        frame.put_i32(i32::try_from(rest.len() + 4).unwrap());
        frame.put_i32(id);
        frame.put_slice(rest);
        self.say(&frame).await;
    }

    /// Writes bytes as they are. That nobody may read them is part of some scripts.
    pub(in crate::client) async fn say(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.ok();
    }

    /// Answers ApiVersions as a Kafka that speaks `ranges` and ApiVersions 0 to 4.
    pub(in crate::client) async fn tell_versions(&mut self, ranges: &[(ApiKey, i16, i16)]) {
        let asked = self.receive().await.unwrap();
        assert_eq!(asked.api, ApiKey::ApiVersions.number(), "the first request");
        let answer = versions(&asked, ranges);
        self.answer(asked.id, &answer).await;
    }
}

/// The versions that most scripts speak: old ones, whose answers are quickly written by hand.
pub(in crate::client) const VERSIONS: &[(ApiKey, i16, i16)] = &[
    (ApiKey::Metadata, 1, 9),
    (ApiKey::FindCoordinator, 0, 3),
    (ApiKey::Heartbeat, 0, 3),
    (ApiKey::JoinGroup, 0, 5),
    (ApiKey::SyncGroup, 0, 3),
    (ApiKey::OffsetFetch, 1, 7),
    (ApiKey::ListOffsets, 1, 5),
    (ApiKey::SaslHandshake, 0, 1),
    (ApiKey::SaslAuthenticate, 0, 2),
];

/// An answer to ApiVersions.
pub(in crate::client) fn versions(asked: &Received, ranges: &[(ApiKey, i16, i16)]) -> Bytes {
    let range = |(api, min, max): &(ApiKey, i16, i16)| {
        ApiVersion::default()
            .with_api_key(api.number())
            .with_min_version(*min)
            .with_max_version(*max)
    };
    let message = ApiVersionsResponse::default().with_api_keys(ranges.iter().map(range).collect());
    let mut body = BytesMut::new();
    message.encode(&mut body, asked.version).unwrap();
    body.freeze()
}

/// The answer to a Heartbeat of version 1 to 3.
pub(in crate::client) fn alive() -> Bytes {
    Bytes::from_static(&[0, 0, 0, 0, 0, 0])
}

/// Any request that is quickly written and answered.
pub(in crate::client) fn heartbeat(group: &str) -> HeartbeatRequest {
    HeartbeatRequest {
        group_id: group.to_owned(),
        generation: Generation(1),
        member_id: MemberId::new("member"),
        group_instance_id: None,
    }
}

/// What a broker does about a request.
#[derive(Debug)]
pub(in crate::client) enum Reply {
    /// Answers.
    Answer(Bytes),
    /// Never answers, nor anything behind it.
    Silence,
    /// Closes the connection.
    Close,
}

/// A cluster of brokers that follow one script. Names are `broker-1:9092` and so on.
#[derive(Clone)]
pub(in crate::client) struct Script(Arc<Mutex<State>>, Arc<Behaviour>);

type Behaviour = dyn Fn(&str, &Received) -> Reply + Send + Sync;

#[derive(Default)]
struct State {
    refusing: BTreeSet<String>,
    /// Accepts, and says nothing at all.
    silent: BTreeSet<String>,
    /// Answers whatever it is asked with these bytes.
    garbled: BTreeMap<String, &'static [u8]>,
    seen: Vec<(String, ApiKey)>,
    tries: BTreeMap<String, Vec<Instant>>,
    closing: Vec<tokio::task::AbortHandle>,
}

impl Script {
    /// Brokers that answer ApiVersions with [`VERSIONS`], and everything else as `behaviour` says.
    pub(in crate::client) fn new(
        behaviour: impl Fn(&str, &Received) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::default(), Arc::new(behaviour))
    }

    /// A client of these brokers, on the test's own runtime.
    pub(in crate::client) fn client(&self, bootstrap: &str) -> Client {
        self.client_with(ClientOptions::new(bootstrap))
    }

    pub(in crate::client) fn client_with(&self, options: ClientOptions) -> Client {
        client_over(self.clone(), options)
    }

    /// From now on nobody listens there.
    pub(in crate::client) fn refuse(&self, address: &str) {
        self.0.lock().unwrap().refusing.insert(address.to_owned());
    }

    /// From now on connections are accepted there, and nothing is said.
    pub(in crate::client) fn silence(&self, address: &str) {
        self.0.lock().unwrap().silent.insert(address.to_owned());
    }

    /// From now on something else than a broker listens there.
    pub(in crate::client) fn garble(&self, address: &str, answer: &'static [u8]) {
        self.0.lock().unwrap().garbled.insert(address.to_owned(), answer);
    }

    /// Follows the script for whoever connects to a real port.
    pub(in crate::client) async fn listen(self, listener: TcpListener) {
        while let Ok((mut socket, address)) = listener.accept().await {
            let (mut ours, theirs) = duplex(4096);
            tokio::spawn(self.clone().serve(address.to_string(), theirs));
            tokio::spawn(async move { copy_bidirectional(&mut socket, &mut ours).await });
        }
    }

    /// Closes every connection.
    pub(in crate::client) fn close_all(&self) {
        self.0.lock().unwrap().closing.drain(..).for_each(|serving| serving.abort());
    }

    /// Who was asked what, but for ApiVersions, in order.
    pub(in crate::client) fn seen(&self) -> Vec<(String, ApiKey)> {
        self.0.lock().unwrap().seen.clone()
    }

    /// How often a kind of request came, to all brokers together.
    pub(in crate::client) fn count(&self, api: ApiKey) -> usize {
        self.seen().iter().filter(|(_, seen)| *seen == api).count()
    }

    /// When connections to an address were tried.
    pub(in crate::client) fn tries(&self, address: &str) -> Vec<Instant> {
        self.0.lock().unwrap().tries.get(address).cloned().unwrap_or_default()
    }

    async fn serve(self, address: String, stream: DuplexStream) {
        let mut peer = Peer(stream);
        let garbled = self.0.lock().unwrap().garbled.get(&address).copied();
        while let Some(request) = peer.receive().await {
            if let Some(garbled) = garbled {
                peer.say(garbled).await;
                return;
            }
            let api = ApiKey::ALL.into_iter().find(|api| api.number() == request.api).unwrap();
            if api == ApiKey::ApiVersions {
                peer.answer(request.id, &versions(&request, VERSIONS)).await;
                continue;
            }
            self.0.lock().unwrap().seen.push((address.clone(), api));
            match (self.1)(&address, &request) {
                Reply::Answer(body) => {
                    let tags: &[u8] =
                        if api.layout(request.version) == Layout::Compact { &[0] } else { &[] };
                    peer.answer(request.id, &[tags, &body].concat()).await;
                }
                Reply::Silence => std::future::pending().await,
                Reply::Close => return,
            }
        }
    }
}

/// A client over any network, on the test's own runtime.
pub(in crate::client) fn client_over(network: impl Connect, options: ClientOptions) -> Client {
    let options = options.jitter_seed(1).runtime(Handle::current());
    let security = options.protection().unwrap();
    Client::with_network(options, security, Arc::new(network)).unwrap()
}

#[async_trait]
impl Connect for Script {
    async fn connect(
        &self,
        address: &Address,
        _deadline: Instant,
    ) -> Result<Box<dyn Stream>, ConnectError> {
        let name = address.to_string();
        let (ours, theirs) = duplex(4096);
        let mut state = self.0.lock().unwrap();
        state.tries.entry(name.clone()).or_default().push(Instant::now());
        if state.refusing.contains(&name) {
            return Err(ConnectError::Refused {
                kind: std::io::ErrorKind::ConnectionRefused,
                message: "nobody listens".into(),
            });
        }
        let script = self.clone();
        let serving = match state.silent.contains(&name) {
            true => tokio::spawn(async move {
                let _held = theirs;
                std::future::pending::<()>().await;
            }),
            false => tokio::spawn(script.serve(name, theirs)),
        };
        state.closing.push(serving.abort_handle());
        Ok(Box::new(ours))
    }
}

/// An answer to Metadata with brokers `broker-<id>:9092` and topics by name and partition count, led by the first.
pub(in crate::client) fn metadata(
    asked: &Received,
    brokers: &[i32],
    topics: &[(&str, i32)],
) -> Reply {
    let broker = |id: &i32| {
        MetadataResponseBroker::default()
            .with_node_id((*id).into())
            .with_host(StrBytes::from_string(format!("broker-{id}")))
            .with_port(9092)
    };
    let partition = |number| {
        MetadataResponsePartition::default()
            .with_partition_index(number)
            .with_leader_id(brokers.first().copied().unwrap_or(-1).into())
    };
    let topic = |(name, count): &(&str, i32)| {
        MetadataResponseTopic::default()
            .with_name(Some(StrBytes::from_string((*name).to_owned()).into()))
            .with_error_code(if *count == 0 { 3 } else { 0 })
            .with_partitions((0..*count).map(partition).collect())
    };
    let message = MetadataResponse::default()
        .with_brokers(brokers.iter().map(broker).collect())
        .with_topics(topics.iter().map(topic).collect());
    encoded(&message, asked.version)
}

/// An answer to FindCoordinator of version 0 to 3.
pub(in crate::client) fn coordinator(asked: &Received, id: i32) -> Reply {
    let message = FindCoordinatorResponse::default()
        .with_node_id(id.into())
        .with_host(StrBytes::from_string(format!("broker-{id}")))
        .with_port(9092);
    encoded(&message, asked.version)
}

/// An answer to FindCoordinator that names nobody.
pub(in crate::client) fn no_coordinator(asked: &Received, code: i16) -> Reply {
    let message = FindCoordinatorResponse::default()
        .with_error_code(code)
        .with_node_id((-1).into())
        .with_coordinators(Vec::<Coordinator>::new());
    encoded(&message, asked.version)
}

pub(in crate::client) fn encoded(message: &impl Encodable, version: i16) -> Reply {
    let mut body = BytesMut::new();
    message.encode(&mut body, version).unwrap();
    Reply::Answer(body.freeze())
}

/// A moment that is far enough for everything that is not meant to wait.
pub(in crate::client) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(5)
}
