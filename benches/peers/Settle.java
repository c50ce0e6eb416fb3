import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * How long a group of Java's own consumers takes to settle when one joins or leaves: arguments and output as those of
 * benches/rebalance. The last argument is range or cooperative.
 */
public class Settle {
    private final Map<TopicPartition, Consumer> owners = new HashMap<>();
    private final Map<TopicPartition, Long> freeSince = new HashMap<>();
    private final Map<String, Object> properties = new HashMap<>();
    private final List<Consumer> members = new ArrayList<>();
    private final String topic;
    private final int partitions;
    private long stopped;
    private int moved;

    public static void main(String[] words) throws Exception {
        Settle settle = new Settle(words[2], words[3], words[4]);
        settle.measure(Integer.parseInt(words[0]), Integer.parseInt(words[1]), words[4]);
        System.exit(0);
    }

    private Settle(String topic, String bootstrap, String kind) {
        this.topic = topic;
        properties.put("bootstrap.servers", bootstrap);
        properties.put("group.id", "settle-java-" + System.nanoTime());
        properties.put("key.deserializer", ByteArrayDeserializer.class);
        properties.put("value.deserializer", ByteArrayDeserializer.class);
        String assignor = kind.equals("range") ? "RangeAssignor" : "CooperativeStickyAssignor";
        properties.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer." + assignor);
        try (KafkaConsumer<byte[], byte[]> asking = new KafkaConsumer<>(properties)) {
            partitions = asking.partitionsFor(topic).size();
        }
    }

    private void measure(int repeats, int count, String kind) throws InterruptedException {
        for (int member = 0; member < count; member++) {
            join();
        }
        untilSettled();
        Random dice = new Random();
        for (int event = 0; event < 2 * repeats; event++) {
            boolean joins = event % 2 == 0;
            Thread.sleep(4000 + dice.nextInt(3000)); // Any phase of the heartbeats.
            reset();
            long began = System.nanoTime();
            if (joins) {
                join();
            } else {
                members.remove(members.size() - 1).leaves = true;
            }
            untilSettled();
            long took = System.nanoTime() - began;
            System.out.printf("{\"peer\":\"java-%s\",\"members\":%d,\"partitions\":%d,\"event\":\"%s\",\"ms\":%d,\"stopped_ms\":%d,\"moved\":%d}%n",
                kind, count, partitions, joins ? "join" : "leave", took / 1_000_000, stopped() / 1_000_000, moved());
        }
        members.forEach(member -> member.leaves = true);
        for (Consumer member : members) {
            member.join();
        }
    }

    private void join() {
        Consumer member = new Consumer();
        members.add(member);
        member.start();
    }

    private synchronized void untilSettled() throws InterruptedException {
        long end = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        while (!isSettled()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("not settled: " + owners);
            }
            wait(1000);
        }
    }

    private boolean isSettled() {
        Map<Consumer, Integer> loads = new HashMap<>();
        owners.values().forEach(owner -> loads.merge(owner, 1, Integer::sum));
        return owners.size() == partitions && loads.size() == members.size()
            && loads.values().stream().allMatch(load -> load == partitions / members.size() || load == -Math.floorDiv(-partitions, members.size()));
    }

    private synchronized void reset() {
        stopped = 0;
        moved = 0;
        freeSince.clear();
    }

    private synchronized long stopped() {
        return stopped;
    }

    private synchronized int moved() {
        return moved;
    }

    private synchronized void take(Consumer member, Collection<TopicPartition> taken) {
        long now = System.nanoTime();
        for (TopicPartition partition : taken) {
            owners.put(partition, member);
            Long since = freeSince.remove(partition);
            stopped += since == null ? 0 : now - since;
            moved += since == null ? 0 : 1;
        }
        notifyAll();
    }

    private synchronized void giveUp(Consumer member, Collection<TopicPartition> given) {
        long now = System.nanoTime();
        for (TopicPartition partition : given) {
            if (owners.remove(partition, member)) {
                freeSince.put(partition, now);
            }
        }
    }

    private final class Consumer extends Thread {
        volatile boolean leaves;

        @Override
        public void run() {
            try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties)) {
                consumer.subscribe(List.of(topic), new ConsumerRebalanceListener() {
                    @Override
                    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                        take(Consumer.this, partitions);
                    }

                    @Override
                    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                        giveUp(Consumer.this, partitions);
                    }
                });
                while (!leaves) {
                    consumer.poll(Duration.ofMillis(50));
                }
            }
        }
    }
}
