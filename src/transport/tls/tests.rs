//! TLS without a server: files, certificates, and what went wrong.

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
        assert_eq!(found.iter().map(|found| &found[..]).collect::<Vec<_>>(), expected, "{text}");
    }
    let identity = Identity {
        certificates: Pem::text("ssl.certificate.pem", certificate(" AAAA ")),
        key: Pem::text("ssl.key.pem", "-----BEGIN PRIVATE KEY----- AAAA -----END PRIVATE KEY-----"),
    };
    assert!(read_identity(&identity).is_ok());
}

#[test]
fn a_certificate_behind_a_byte_order_mark_is_read() {
    let path = std::env::temp_dir().join(format!("kafka-group-{}-marked.pem", std::process::id()));
    let certificate =
        |letters| format!("-----BEGIN CERTIFICATE-----\n{letters}\n-----END CERTIFICATE-----\n");
    let both = format!("\u{feff}{}{}", certificate("AAAA"), certificate("BBBB"));
    fs::write(&path, &both).unwrap();
    let in_file = certificates(&Pem::file("ssl.ca.location", &path));
    fs::remove_file(path).unwrap();
    assert_eq!(in_file.map(|found| found.len()), Ok(2));
    assert_eq!(certificates(&Pem::text("ssl.ca.pem", both)).map(|found| found.len()), Ok(2));
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
        assert!(error.starts_with("`ssl.key.pem`") && error.contains("openssl pkcs8"), "{error}");
    }
}

#[test]
fn what_tls_says_is_told_apart() {
    let host = Arc::from("broker");
    for (error, expected) in [
        (RustlsError::InvalidCertificate(CertificateError::Expired), TlsError::Expired),
        (RustlsError::InvalidCertificate(CertificateError::NotValidYet), TlsError::NotYetValid),
        (RustlsError::InvalidMessage(rustls::InvalidMessage::InvalidContentType), TlsError::NotTls),
        (
            RustlsError::AlertReceived(AlertDescription::CertificateRequired),
            TlsError::ClientCertificate("CertificateRequired".into()),
        ),
        (
            RustlsError::AlertReceived(AlertDescription::ProtocolVersion),
            TlsError::NothingInCommon("ProtocolVersion".into()),
        ),
    ] {
        assert_eq!(said(&error, &host), expected);
    }
    let hung_up = io::Error::from(io::ErrorKind::UnexpectedEof);
    assert_eq!(of_handshake(&hung_up, &host), TlsError::Closed);
}

#[test]
fn bytes_that_are_broken_on_the_way_do_not_mean_that_the_broker_has_no_tls() {
    let broken = RustlsError::InvalidMessage(rustls::InvalidMessage::InvalidContentType);
    let error = of_stream(&io::Error::new(io::ErrorKind::InvalidData, broken));
    assert!(matches!(error, Some(TlsError::Other(_))), "{error:?}");
    assert!(!error.unwrap().is_permanent());
}

/// Why a certificate that is trusted, as no other is, is not taken for this host's. It is good for a hundred years.
fn why_not(certificate: &str, host: &str) -> TlsError {
    let provider = Arc::new(ring::default_provider());
    let pem = Pem::text("ssl.ca.pem", certificate);
    let trusted = Arc::new(roots(&Roots::Given(pem.clone())).unwrap());
    let verifier = WebPkiServerVerifier::builder_with_provider(trusted, provider).build().unwrap();
    let shown = certificates(&pem).unwrap();
    let name = ServerName::try_from(host).unwrap();
    let verdict = verifier.verify_server_cert(&shown[0], &[], &name, &[], UnixTime::now());
    said(&verdict.expect_err("it is not taken"), &Arc::from(host))
}

#[test]
fn certificates_that_others_let_pass_are_refused_with_what_to_do() {
    for (certificate, expected) in
        [(OF_A_CA, "have the CA sign another"), (OF_VERSION_1, "sign it with extensions")]
    {
        let error = why_not(certificate, "broker");
        assert!(error.is_permanent() && error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn the_names_of_a_certificate_are_said_as_they_are_written() {
    let TlsError::HostName { names, .. } = why_not(WITH_NAMES, "other") else {
        panic!("it has that name");
    };
    assert_eq!(names, ["broker", "127.0.0.1", "0::1"]);
}

/// `openssl req -x509 -addext subjectAltName=DNS:broker`.
const OF_A_CA: &str = "\
-----BEGIN CERTIFICATE-----
MIIBhDCCASqgAwIBAgIUS8l/kTYzhh6U9E2uYMAj8gDkAmgwCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCY2EwIBcNMjYxMjAxMDI0MTIzWhgPMjEyNjExMDcwMjQxMjNa
MA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEobfh6ein
dbkjTdS3TJjNxpQXFB+pR5+EAhIHKYx1J5bAZvI2aefr/4xVMCcrzUxx/N1WVfl6
n6zpyKDgnBNZpqNmMGQwHQYDVR0OBBYEFIDsZoD+SXYQA0bp+VqeY5NYmq4xMB8G
A1UdIwQYMBaAFIDsZoD+SXYQA0bp+VqeY5NYmq4xMA8GA1UdEwEB/wQFMAMBAf8w
EQYDVR0RBAowCIIGYnJva2VyMAoGCCqGSM49BAMCA0gAMEUCIQD3+O8dLh3W3X0p
9PKKy57bfniuKQrlM3Fh2cJmwqZRUgIgDb2l21gySgYiruuF6Jy6o/uoqj6M34xj
Dp1vqVHrVQI=
-----END CERTIFICATE-----";

/// `openssl x509 -req`, without extensions.
const OF_VERSION_1: &str = "\
-----BEGIN CERTIFICATE-----
MIIBFTCBuwIUBIa/s95M/tRg5rqk3AC83vVZG6AwCgYIKoZIzj0EAwIwDDEKMAgG
A1UEAwwBYjAgFw0yNjEyMDEwMjQxMjNaGA8yMTI2MTEwNzAyNDEyM1owDDEKMAgG
A1UEAwwBYjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDxqY+b9vaqTIo0lZFoM
HP/RghHZzPTTUi1HKW6jEZQSw8d02i5pRGxycAwUsq1UiULA+OwNuMv31PRFsnAL
aFEwCgYIKoZIzj0EAwIDSQAwRgIhAPLe3wsgl422yCqNvUfKSBN6e6TsflJWUoK4
JbNZEZH6AiEAy2V09eGiyMImri/WWubAKKD86uRVk/EjgsAGeIHgMnQ=
-----END CERTIFICATE-----";

/// As the first, with `basicConstraints=CA:FALSE` and addresses.
const WITH_NAMES: &str = "\
-----BEGIN CERTIFICATE-----
MIIBljCCAT2gAwIBAgIUDwN8VTEUZJaafQjmXUCe+Z3r1gMwCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBYjAgFw0yNjEyMDEwMjQxMjNaGA8yMTI2MTEwNzAyNDEyM1ow
DDEKMAgGA1UEAwwBYjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPYv6giv6A1D
/5KVCBnBgkK8s+67xTiZNhfBLfYdkEc1te/S4ewWrNaBSxxI2eQolvD56axzJSbC
i1X5wXL5uiajezB5MB0GA1UdDgQWBBSoKnfFwXpVbP99nXxIgZqGXkjYBzAfBgNV
HSMEGDAWgBSoKnfFwXpVbP99nXxIgZqGXkjYBzAMBgNVHRMBAf8EAjAAMCkGA1Ud
EQQiMCCCBmJyb2tlcocEfwAAAYcQAAAAAAAAAAAAAAAAAAAAATAKBggqhkjOPQQD
AgNHADBEAiBVGrW6PjCNUgTEByRyU/YfLcLI8avQCd3bDr3z09NlxgIgMT+TAXD3
BewYF9tQjgFk//2QaswNcfJdXeTp2YHwv8o=
-----END CERTIFICATE-----";
