#!/bin/sh
# Certificates for the secure broker of docker-compose.yml and of the tests:  compose/certificates.sh DIR [HOST ...]
#
#   ca.pem          whom clients and brokers trust
#   server.pem      key and certificate of a broker on localhost, 127.0.0.1 and each HOST
#   client.pem, client-key.pem                    a client, CN=client
# and what must be refused:
#   expired.pem     as server.pem, but its time was over in 2020
#   elsewhere.pem   as server.pem, but for the host elsewhere.test
#   other-ca.pem, stranger.pem, stranger-key.pem  a CA that nobody trusts, and a client of it
#
# Needs openssl. Keys are not encrypted: for tests alone.
set -eu
mkdir -p "$1"
cd "$1"
shift
names=DNS:localhost,IP:127.0.0.1
for host; do names=$names,DNS:$host; done

key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }

authority() { # NAME
    key "$1-key.pem"
    openssl req -x509 -new -key "$1-key.pem" -subj "/CN=$1" -days 3650 -out "$1.pem"
}

certificate() { # NAME AUTHORITY NAMES
    key "$1-key.pem"
    printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$3" >"$1.ext"
    openssl req -new -key "$1-key.pem" -subj "/CN=$1" -out "$1.csr"
    openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2-key.pem" -CAcreateserial -days 3650 -extfile "$1.ext" \
        -out "$1.pem"
    rm "$1.csr" "$1.ext"
}

# `openssl x509` cannot date back; `openssl ca` can, and wants to keep books.
expired() { # NAME AUTHORITY NAMES
    key "$1-key.pem"
    mkdir books
    : >books/index
    echo 01 >books/serial
    printf '%s\n' '[ca]' default_ca=books '[books]' database=books/index serial=books/serial new_certs_dir=books \
        default_md=sha256 policy=anyone '[anyone]' commonName=supplied >books/ca.conf
    printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$3" >books/extensions
    openssl req -new -key "$1-key.pem" -subj "/CN=$1" -out books/request
    openssl ca -batch -notext -config books/ca.conf -extfile books/extensions -cert "$2.pem" -keyfile "$2-key.pem" \
        -startdate 20200101000000Z -enddate 20200201000000Z -in books/request -out "$1.pem"
    rm -r books
}

together() { # NAME: what Kafka calls a PEM keystore
    cat "$1-key.pem" "$1.pem" >"$1.both"
    mv "$1.both" "$1.pem"
    rm "$1-key.pem"
}

{
    authority ca
    authority other-ca
    certificate client ca DNS:client
    certificate stranger other-ca DNS:stranger
    certificate server ca "$names"
    expired expired ca "$names"
    certificate elsewhere ca DNS:elsewhere.test
    for store in server expired elsewhere; do together $store; done
    # Brokers in containers run as another user.
    chmod 644 ./*.pem
} 2>openssl.log || {
    cat openssl.log >&2
    exit 1
}
rm -f openssl.log ./*.srl
