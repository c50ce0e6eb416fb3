import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A consumer that says on stdout, a JSON object a line, what happens to it. It closes when stdin does, which for
 * a dynamic member is to leave the group. What is revoked is committed first.
 *
 * <p>Arguments: bootstrap servers, group, topics (comma between, or one pattern that begins with ^), then
 * any consumer properties as key=value.
 */
public class JavaMember {
    public static void main(String[] args) {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties(args))) {
            closeWithStdin(consumer);
            subscribe(consumer, args[2]);
            while (true) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(200));
                report(consumer.groupMetadata().generationId(), records);
            }
        } catch (WakeupException closing) {
            // The consumer is closed by now: it has left.
        } catch (Exception failure) {
            say("failed", quoted(failure.toString()));
            System.exit(1);
        }
        say("closed", "[]");
        System.exit(0);
    }

    private static Properties properties(String[] args) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args[0]);
        properties.put("group.id", args[1]);
        properties.put("key.deserializer", ByteArrayDeserializer.class.getName());
        properties.put("value.deserializer", ByteArrayDeserializer.class.getName());
        properties.put("auto.offset.reset", "earliest");
        properties.put("metadata.max.age.ms", "1000");
        properties.put("allow.auto.create.topics", "false");
        for (String property : Arrays.asList(args).subList(3, args.length)) {
            int equals = property.indexOf('=');
            properties.put(property.substring(0, equals), property.substring(equals + 1));
        }
        return properties;
    }

    private static void closeWithStdin(KafkaConsumer<byte[], byte[]> consumer) {
        Thread thread = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {}
            } catch (java.io.IOException gone) {
                // As good as closed.
            }
            consumer.wakeup();
            try {
                Thread.sleep(20_000);
            } catch (InterruptedException unexpected) {
                // Halt at once, then.
            }
            Runtime.getRuntime().halt(2); // The cluster may be gone, and nobody waits for a clean end.
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static void subscribe(KafkaConsumer<byte[], byte[]> consumer, String topics) {
        ConsumerRebalanceListener listener = new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                say("assigned", json(partitions));
            }

            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                try {
                    consumer.commitSync();
                } catch (KafkaException refused) {
                    // Too late, or nothing was read: whoever is next reads it again.
                }
                say("revoked", json(partitions));
            }

            @Override
            public void onPartitionsLost(Collection<TopicPartition> partitions) {
                say("lost", json(partitions));
            }
        };
        if (topics.startsWith("^")) {
            consumer.subscribe(Pattern.compile(topics), listener);
        } else {
            consumer.subscribe(Arrays.asList(topics.split(",")), listener);
        }
        say("subscribed", "[]");
    }

    private static void report(int generation, ConsumerRecords<byte[], byte[]> records) {
        if (records.isEmpty()) {
            return;
        }
        List<String> each = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            String value = record.value() == null ? "null" : quoted(new String(record.value(), java.nio.charset.StandardCharsets.UTF_8));
            each.add("[" + quoted(record.topic()) + "," + record.partition() + "," + record.offset() + "," + value + "]");
        }
        say("records", "[" + generation + ",[" + String.join(",", each) + "]]");
    }

    private static String json(Collection<TopicPartition> partitions) {
        List<String> each = new ArrayList<>();
        for (TopicPartition partition : partitions) {
            each.add("[" + quoted(partition.topic()) + "," + partition.partition() + "]");
        }
        return "[" + String.join(",", each) + "]";
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    private static synchronized void say(String event, String of) {
        System.out.println("{\"" + event + "\":" + of + "}");
        System.out.flush();
    }
}
