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
                return Err(InvalidSecurity::new(
                    "ssl.ca.location",
                    "is not set, and the system has no trusted certificates (Debian: ca-certificates)",
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
        Source::File(path) => fs::read(path).map_err(|error| {
            let why = format!("names `{}`, which cannot be read: {error}", path.display());
            InvalidSecurity::new(pem.property, why)
        }),
    }
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

/// What TLS says of a stream that has ended after the handshake: the broker looks at our certificate only then.
pub(super) fn of_stream(error: &io::Error) -> Option<TlsError> {
    inner(error).map(|inner| said(inner, &Arc::from("")))
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
        other => TlsError::Certificate(other.to_string().into()),
    }
}

/// rustls says `DnsName("broker")`.
fn name(presented: &str) -> String {
    let quoted = presented.split('"').nth(1);
    quoted.unwrap_or(presented).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Tcp;

    /// Why a client with these options cannot be made.
    fn refused(tls: &Tls) -> String {
        let network = TlsNetwork::new(tls, Arc::new(Tcp));
        network.err().expect("it cannot be used").to_string()
    }

    #[test]
    fn files_that_cannot_be_used_are_named_with_their_property() {
        let missing = Tls::ca_file("/no/such/ca.pem");
        assert!(refused(&missing).starts_with("`ssl.ca.location` names `/no/such/ca.pem`"));
        let store = Tls::ca_pem("\u{fe}\u{ed} a Java store");
        assert_eq!(
            refused(&store),
            "`ssl.ca.pem` holds no certificate in PEM (JKS and PKCS#12 stores are not read)"
        );
    }

    /// As a properties file has it, whose lines go on behind backslashes.
    #[test]
    fn pem_in_one_line_is_read_as_kafka_reads_it() {
        let certificate =
            |base64| format!("-----BEGIN CERTIFICATE-----{base64}-----END CERTIFICATE-----");
        for text in [
            certificate(" AAAA BBBB ") + &certificate(" CCCC "),
            certificate("AAAABBBB") + " " + &certificate("CCCC"),
            certificate("\nAAAA\nBBBB\n") + "\n" + &certificate(" CCCC "),
        ] {
            let found = certificates(&Pem::text("ssl.ca.pem", text.clone())).expect(&text);
            let expected = [&[0, 0, 0, 4, 16, 65][..], &[8, 32, 130]];
            assert_eq!(
                found.iter().map(|found| &found[..]).collect::<Vec<_>>(),
                expected,
                "{text}"
            );
        }
        let identity = Identity {
            certificates: Pem::text("ssl.certificate.pem", certificate(" AAAA ")),
            key: Pem::text(
                "ssl.key.pem",
                "-----BEGIN PRIVATE KEY----- AAAA -----END PRIVATE KEY-----",
            ),
        };
        assert!(read_identity(&identity).is_ok());
    }

    #[test]
    fn an_encrypted_key_is_refused_with_a_way_out() {
        const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for key in [
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
        ] {
            let identity = Identity {
                certificates: Pem::text("ssl.certificate.pem", CERTIFICATE),
                key: Pem::text("ssl.key.pem", key),
            };
            let error = read_identity(&identity).unwrap_err().to_string();
            assert!(
                error.starts_with("`ssl.key.pem`") && error.contains("openssl pkcs8"),
                "{error}"
            );
        }
    }

    #[test]
    fn what_tls_says_is_told_apart() {
        let host = Arc::from("broker");
        for (error, expected) in [
            (RustlsError::InvalidCertificate(CertificateError::Expired), TlsError::Expired),
            (RustlsError::InvalidCertificate(CertificateError::NotValidYet), TlsError::NotYetValid),
            (
                RustlsError::InvalidMessage(rustls::InvalidMessage::InvalidContentType),
                TlsError::NotTls,
            ),
            (
                RustlsError::AlertReceived(AlertDescription::CertificateRequired),
                TlsError::ClientCertificate("CertificateRequired".into()),
            ),
        ] {
            assert_eq!(said(&error, &host), expected);
        }
        let hung_up = io::Error::from(io::ErrorKind::UnexpectedEof);
        assert_eq!(of_handshake(&hung_up, &host), TlsError::Closed);
    }
}
