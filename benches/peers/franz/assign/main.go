// How long franz-go's sticky balancer takes for the groups in scenario files: go run ./assign RUNS FILE...
// The clock runs for balancing decoded members alone. Prints a line of JSON a file, as kafka-group plan does.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Scenario is a group in a file.
type Scenario struct {
	Name   string
	Topics []struct {
		Name       string
		Partitions int32
	}
	Subscriptions [][]int32
	Members       []Member
}

// Member is one of its members.
type Member struct {
	ID         string
	Sub        int
	Generation int32
	Owned      [][]int32
}

func main() {
	runs, err := strconv.Atoi(os.Args[1])
	check(err)
	for _, file := range os.Args[2:] {
		text, err := os.ReadFile(file)
		check(err)
		var scenario Scenario
		check(json.Unmarshal(text, &scenario))
		measure(&scenario, runs)
	}
}

func measure(s *Scenario, runs int) {
	counts := make(map[string]int32)
	for _, topic := range s.Topics {
		counts[topic.Name] = topic.Partitions
	}
	members := s.members()
	var times []float64
	var plan map[string]map[string][]int32
	for range runs {
		balancer, _, err := kgo.StickyBalancer().MemberBalancer(members)
		check(err)
		runtime.GC()
		began := time.Now()
		balanced, err := balancer.(kgo.GroupMemberBalancerOrError).BalanceOrError(counts)
		check(err)
		plan = balanced.(*kgo.BalancePlan).AsMemberIDMap()
		times = append(times, float64(time.Since(began).Nanoseconds())/1e6)
	}
	sort.Float64s(times)
	moves, squares := s.worth(plan)
	fmt.Printf("{\"scenario\":%q,\"peer\":\"franz-go\",\"runs\":%d,\"median_ms\":%.3f,\"min_ms\":%.3f,\"moves\":%d,\"sumsq\":%d}\n",
		s.Name, runs, times[len(times)/2], times[0], moves, squares)
}

// members is what JoinGroup would have brought.
func (s *Scenario) members() []kmsg.JoinGroupResponseMember {
	var members []kmsg.JoinGroupResponseMember
	for _, member := range s.Members {
		var topics []string
		for _, topic := range s.Subscriptions[member.Sub] {
			topics = append(topics, s.Topics[topic].Name)
		}
		owned := make(map[string][]int32)
		member.each(func(topic, partition int32) {
			name := s.Topics[topic].Name
			owned[name] = append(owned[name], partition)
		})
		joined := kmsg.NewJoinGroupResponseMember()
		joined.MemberID = member.ID
		joined.ProtocolMetadata = kgo.StickyBalancer().JoinGroupMetadata(topics, owned, member.Generation)
		members = append(members, joined)
	}
	return members
}

// worth is how many partitions do not stay with an owner that still subscribes, and the sum of the squared loads.
func (s *Scenario) worth(plan map[string]map[string][]int32) (moves, squares int) {
	type place struct {
		topic     string
		partition int32
	}
	has := make(map[place]string)
	for member, topics := range plan {
		load := 0
		for topic, partitions := range topics {
			for _, partition := range partitions {
				has[place{topic, partition}] = member
			}
			load += len(partitions)
		}
		squares += load * load
	}
	for _, member := range s.Members {
		member.each(func(topic, partition int32) {
			subscribes := slices.Contains(s.Subscriptions[member.Sub], topic)
			if subscribes && has[place{s.Topics[topic].Name, partition}] != member.ID {
				moves++
			}
		})
	}
	return moves, squares
}

// each goes through what the member has: by topic its number, and runs of partitions.
func (m *Member) each(do func(topic, partition int32)) {
	for _, runs := range m.Owned {
		for run := 1; run+1 < len(runs); run += 2 {
			for partition := runs[run]; partition < runs[run]+runs[run+1]; partition++ {
				do(runs[0], partition)
			}
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
