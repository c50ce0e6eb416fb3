#!/bin/sh
# Users of the secure broker, and what they may do: compose/users.sh BOOTSTRAP, run in Kafka's image. PLAIN knows its
# users from secure.properties; this is for SCRAM, and for access.
set -eu
bin=/opt/kafka/bin
for user in admin alice bob; do
    for mechanism in SCRAM-SHA-256 SCRAM-SHA-512; do
        "$bin/kafka-configs.sh" --bootstrap-server "$1" --alter --entity-type users --entity-name "$user" \
            --add-config "$mechanism=[iterations=8192,password=$user-secret]"
    done
done
"$bin/kafka-topics.sh" --bootstrap-server "$1" --create --if-not-exists --topic orders --partitions 6
"$bin/kafka-acls.sh" --bootstrap-server "$1" --add --allow-principal User:alice --allow-principal User:CN=client \
    --operation Read --topic orders --group indexers
