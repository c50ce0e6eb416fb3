//! TLS, by rustls.

use std::fs;
use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error as RustlsError,
    RootCertStore, SignatureScheme,
};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::{Address, Connect, ConnectError, Stream};
use crate::security::{Identity, InvalidSecurity, Pem, Roots, Source, Tls, TlsError};

/// Speaks TLS over the streams of another.
pub(crate) struct TlsNetwork {
    below: Arc<dyn Connect>,
    connector: TlsConnector,
}

impl TlsNetwork {
    /// Reads the files. Later changes of them are not seen.
    pub(crate) fn new(tls: &Tls, below: Arc<dyn Connect>) -> Result<Self, InvalidSecurity> {
        let provider = Arc::new(ring::default_provider());
        let roots = Arc::new(roots(&tls.roots)?);
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
            .build()
            .map_err(|error| invalid("ssl.ca.location", &error))?;
        let verifier: Arc<dyn ServerCertVerifier> = match tls.checks_host_name {
            true => verifier,
            false => Arc::new(AnyHostName(verifier)),
        };
        let builder = versions(provider)?.dangerous().with_custom_certificate_verifier(verifier);
        let config = match &tls.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let (certificates, key) = read_identity(identity)?;
                builder.with_client_auth_cert(certificates, key).map_err(|error| {
                    InvalidSecurity::new(
                        identity.key.property,
                        format!("cannot be used with {}: {error}", identity.certificates.property),
                    )
                })?
            }
        };
        Ok(Self { below, connector: TlsConnector::from(Arc::new(config)) })
    }
}

#[async_trait]
impl Connect for TlsNetwork {
    async fn connect(
        &self,
        address: &Address,
        deadline: Instant,
    ) -> Result<Box<dyn Stream>, ConnectError> {
        let name = ServerName::try_from(address.host.to_string())
            .map_err(|_| ConnectError::Unresolvable("it is no host's name".into()))?;
        let stream = self.below.connect(address, deadline).await?;
        let handshake = self.connector.connect(name, stream);
        match timeout_at(deadline, handshake).await {
            Ok(Ok(stream)) => Ok(Box::new(stream)),
            Ok(Err(error)) => Err(ConnectError::Tls(of_handshake(&error, &address.host))),
            Err(_) => Err(ConnectError::TimedOut),
        }
    }

    fn in_plain_text(&self) -> Option<&dyn Connect> {
        Some(&*self.below)
    }
}

fn versions(
    provider: Arc<CryptoProvider>,
) -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, InvalidSecurity> {
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| invalid("security.protocol", &error))
}

fn invalid(property: &'static str, error: &impl ToString) -> InvalidSecurity {
    InvalidSecurity::new(property, format!("cannot be used: {}", error.to_string()))
}

// ---- files -----------------------------------------------------------------------------------------------------

fn roots(roots: &Roots) -> Result<RootCertStore, InvalidSecurity> {
    let mut store = RootCertStore::empty();
    match roots {
        Roots::Given(pem) => {
            for certificate in certificates(pem)? {
                store.add(certificate).map_err(|error| invalid(pem.property, &error))?;
            }
        }
        Roots::System => {
            let found = rustls_native_certs::load_native_certs();
            store.add_parsable_certificates(found.certs);
            if store.is_empty() {
                let why =
                    found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
                return Err(InvalidSecurity::new(
                    "ssl.ca.location",
                    format!(
                        "is not set, and the system has no trusted certificates (Debian: ca-certificates; SSL_CERT_FILE \
                         and SSL_CERT_DIR name others){why}"
                    ),
                ));
            }
        }
    }
    Ok(store)
}

fn read_identity(
    identity: &Identity,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), InvalidSecurity> {
    let chain = certificates(&identity.certificates)?;
    let pem = &identity.key;
    let text = read(pem)?;
    if is_encrypted(&text) {
        return Err(InvalidSecurity::new(
            pem.property,
            "holds an encrypted key, which is not read: `openssl pkcs8 -in KEY -out PLAIN` writes it without a password",
        ));
    }
    let key = PrivateKeyDer::from_pem_slice(&text)
        .map_err(|_| InvalidSecurity::new(pem.property, "holds no private key in PEM"))?;
    Ok((chain, key))
}

/// PKCS#8's own label, and OpenSSL's older way.
fn is_encrypted(pem: &[u8]) -> bool {
    let text = String::from_utf8_lossy(pem);
    text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED")
}

fn certificates(pem: &Pem) -> Result<Vec<CertificateDer<'static>>, InvalidSecurity> {
    let text = read(pem)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(InvalidSecurity::new(
            pem.property,
            "holds no certificate in PEM (JKS and PKCS#12 stores are not read)",
        )),
    }
}

fn read(pem: &Pem) -> Result<Vec<u8>, InvalidSecurity> {
    match &pem.source {
        Source::Text(text) => Ok(text.reveal().as_bytes().to_vec()),
        Source::File(path) => fs::read(path).map(unmarked).map_err(|error| {
            let why = format!("names `{}`, which cannot be read: {error}", path.display());
            InvalidSecurity::new(pem.property, why)
        }),
    }
}

/// Without the mark that some editors begin files with: the first certificate would not be seen behind it.
fn unmarked(file: Vec<u8>) -> Vec<u8> {
    const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
    file.strip_prefix(BYTE_ORDER_MARK).map(<[u8]>::to_vec).unwrap_or(file)
}

// ---- whom to believe -------------------------------------------------------------------------------------------

/// Checks all but the host's name. The verifier looks at that last, so that it alone is wrong means that the rest is
/// right.
#[derive(Debug)]
struct AnyHostName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyHostName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, RustlsError> {
        match self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        {
            Err(RustlsError::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

// ---- what went wrong -------------------------------------------------------------------------------------------

fn of_handshake(error: &io::Error, host: &Arc<str>) -> TlsError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe => TlsError::Closed,
        _ => match inner(error) {
            Some(inner) => said(inner, host),
            None => TlsError::Other(error.to_string().into()),
        },
    }
}

/// What TLS says of a stream that has ended after the handshake: the broker looks at our certificate only then. Who came as
/// far as that speaks TLS, whatever was read from it later.
pub(super) fn of_stream(error: &io::Error) -> Option<TlsError> {
    inner(error).map(|inner| match said(inner, &Arc::from("")) {
        TlsError::NotTls => TlsError::Other(inner.to_string().into()),
        said => said,
    })
}

fn inner(error: &io::Error) -> Option<&RustlsError> {
    error.get_ref()?.downcast_ref()
}

fn said(error: &RustlsError, host: &Arc<str>) -> TlsError {
    match error {
        RustlsError::InvalidCertificate(problem) => of_certificate(problem, host),
        RustlsError::AlertReceived(
            alert @ (AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied),
        ) => TlsError::ClientCertificate(format!("{alert:?}").into()),
        RustlsError::AlertReceived(
            alert @ (AlertDescription::ProtocolVersion
            | AlertDescription::HandshakeFailure
            | AlertDescription::InsufficientSecurity),
        ) => TlsError::NothingInCommon(format!("{alert:?}").into()),
        RustlsError::PeerIncompatible(why) => TlsError::NothingInCommon(format!("{why:?}").into()),
        RustlsError::InvalidMessage(_) => TlsError::NotTls,
        other => TlsError::Other(other.to_string().into()),
    }
}

fn of_certificate(problem: &CertificateError, host: &Arc<str>) -> TlsError {
    match problem {
        CertificateError::UnknownIssuer => TlsError::UnknownIssuer,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsError::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            TlsError::NotYetValid
        }
        CertificateError::NotValidForName => {
            TlsError::HostName { host: Arc::clone(host), names: Vec::new() }
        }
        CertificateError::NotValidForNameContext { presented, .. } => TlsError::HostName {
            host: Arc::clone(host),
            names: presented.iter().map(|presented| name(presented)).collect(),
        },
        other => TlsError::Certificate(in_words(&other.to_string()).into()),
    }
}

/// What OpenSSL and Java let pass, and webpki names for its own developers.
fn in_words(problem: &str) -> &str {
    const WORDS: [(&str, &str); 2] = [
        (
            "CaUsedAsEndEntity",
            "it is a CA's own (`openssl req -x509` makes such), and not for a broker: have the CA sign another",
        ),
        (
            "UnsupportedCertVersion",
            "it is of X.509's version 1: sign it with extensions, of which subjectAltName names the host",
        ),
    ];
    let known = WORDS.iter().find(|(name, _)| problem.contains(name));
    known.map_or(problem, |(_, words)| words)
}

/// rustls says `DnsName("broker")` and `IpAddress(127.0.0.1)`.
fn name(presented: &str) -> String {
    let quoted = presented.split('"').nth(1);
    let address = || presented.strip_prefix("IpAddress(")?.strip_suffix(')');
    quoted.or_else(address).unwrap_or(presented).to_owned()
}

#[cfg(test)]
mod tests;
