import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * How long Java's sticky assignor takes for the groups in scenario files: java -cp 'LIBS/*' Assign.java RUNS FILE...
 * The clock runs for assign alone; the first run, in which Java compiles, is left out. Prints a line of JSON a file, as
 * kafka-group plan does.
 */
public class Assign {
    /** The plan of both of Java's sticky assignors, without what cooperative rounds withhold. */
    private static final class Sticky extends AbstractStickyAssignor {
        @Override
        public String name() {
            return "sticky";
        }

        @Override
        protected MemberData memberData(Subscription subscription) {
            return new MemberData(subscription.ownedPartitions(), subscription.generationId(), subscription.rackId());
        }
    }

    public static void main(String[] words) throws Exception {
        int runs = Integer.parseInt(words[0]);
        for (String file : Arrays.copyOfRange(words, 1, words.length)) {
            new Assign(new ObjectMapper().readTree(new File(file))).measure(runs);
        }
    }

    private final JsonNode scenario;
    private final Cluster cluster;

    private Assign(JsonNode scenario) {
        this.scenario = scenario;
        Node node = new Node(0, "localhost", 9092);
        List<PartitionInfo> partitions = new ArrayList<>();
        for (JsonNode topic : scenario.get("topics")) {
            for (int partition = 0; partition < topic.get("partitions").asInt(); partition++) {
                Node[] nodes = {node};
                partitions.add(new PartitionInfo(topic.get("name").asText(), partition, node, nodes, nodes));
            }
        }
        cluster = new Cluster("cluster", List.of(node), partitions, Set.of(), Set.of());
    }

    private void measure(int runs) {
        double[] times = new double[runs];
        GroupAssignment plan = null;
        for (int run = -1; run < runs; run++) {
            Sticky sticky = new Sticky();
            GroupSubscription group = group();
            long began = System.nanoTime();
            plan = sticky.assign(cluster, group);
            if (run >= 0) {
                times[run] = (System.nanoTime() - began) / 1e6;
            }
        }
        Arrays.sort(times);
        System.out.printf(Locale.ROOT,
                "{\"scenario\":\"%s\",\"peer\":\"java\",\"runs\":%d,\"median_ms\":%.3f,\"min_ms\":%.3f,%s}%n",
                scenario.get("name").asText(), runs, times[runs / 2], times[0], worth(plan));
    }

    private GroupSubscription group() {
        Map<String, Subscription> members = new HashMap<>();
        for (JsonNode member : scenario.get("members")) {
            int generation = member.get("generation").asInt();
            members.put(member.get("id").asText(),
                    new Subscription(topics(member), null, owned(member), generation, Optional.empty()));
        }
        return new GroupSubscription(members);
    }

    private List<String> topics(JsonNode member) {
        List<String> topics = new ArrayList<>();
        for (JsonNode topic : scenario.get("subscriptions").get(member.get("sub").asInt())) {
            topics.add(name(topic.asInt()));
        }
        return topics;
    }

    private List<TopicPartition> owned(JsonNode member) {
        List<TopicPartition> owned = new ArrayList<>();
        for (JsonNode runs : member.get("owned")) {
            for (int run = 1; run + 1 < runs.size(); run += 2) {
                int start = runs.get(run).asInt();
                for (int partition = start; partition < start + runs.get(run + 1).asInt(); partition++) {
                    owned.add(new TopicPartition(name(runs.get(0).asInt()), partition));
                }
            }
        }
        return owned;
    }

    private String name(int topic) {
        return scenario.get("topics").get(topic).get("name").asText();
    }

    /** How many partitions do not stay with an owner that still subscribes, and the sum of the squared loads. */
    private String worth(GroupAssignment plan) {
        Map<TopicPartition, String> has = new HashMap<>();
        long squares = 0;
        for (var member : plan.groupAssignment().entrySet()) {
            List<TopicPartition> partitions = member.getValue().partitions();
            partitions.forEach(partition -> has.put(partition, member.getKey()));
            squares += (long) partitions.size() * partitions.size();
        }
        long moves = 0;
        for (JsonNode member : scenario.get("members")) {
            String id = member.get("id").asText();
            Set<String> topics = new HashSet<>(topics(member));
            for (TopicPartition partition : owned(member)) {
                moves += topics.contains(partition.topic()) && !id.equals(has.get(partition)) ? 1 : 0;
            }
        }
        return "\"moves\":" + moves + ",\"sumsq\":" + squares;
    }
}
