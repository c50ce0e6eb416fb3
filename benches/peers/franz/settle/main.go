// How long a group of franz-go's clients takes to settle when one joins or leaves: arguments and output as those of
// benches/rebalance. The last argument is range or cooperative.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Owners is who owns what, as the members' callbacks say.
type Owners struct {
	sync.Mutex
	changed    *sync.Cond
	of         map[int32]*kgo.Client
	freeSince  map[int32]time.Time
	stopped    time.Duration
	moved      int
	partitions int
}

func (o *Owners) take(member *kgo.Client, taken []int32) {
	o.Lock()
	defer o.Unlock()
	for _, partition := range taken {
		o.of[partition] = member
		if since, free := o.freeSince[partition]; free {
			o.stopped += time.Since(since)
			o.moved++
			delete(o.freeSince, partition)
		}
	}
	o.changed.Broadcast()
}

func (o *Owners) giveUp(member *kgo.Client, given []int32) {
	o.Lock()
	defer o.Unlock()
	for _, partition := range given {
		if o.of[partition] == member {
			delete(o.of, partition)
			o.freeSince[partition] = time.Now()
		}
	}
}

func (o *Owners) reset() {
	o.Lock()
	defer o.Unlock()
	o.stopped, o.moved = 0, 0
	clear(o.freeSince)
}

// untilSettled waits until so many members own all partitions in equal shares; the sum of the time without an owner, and of
// how many partitions.
func (o *Owners) untilSettled(members int) (time.Duration, int) {
	late := time.AfterFunc(2*time.Minute, func() { log.Fatal("not settled") })
	defer late.Stop()
	o.Lock()
	defer o.Unlock()
	for !o.settled(members) {
		o.changed.Wait()
	}
	return o.stopped, o.moved
}

func (o *Owners) settled(members int) bool {
	loads := map[*kgo.Client]int{}
	for _, owner := range o.of {
		loads[owner]++
	}
	for _, load := range loads {
		if load < o.partitions/members || load > (o.partitions+members-1)/members {
			return false
		}
	}
	return len(o.of) == o.partitions && len(loads) == members
}

func main() {
	repeats, _ := strconv.Atoi(os.Args[1])
	count, _ := strconv.Atoi(os.Args[2])
	topic, bootstrap, kind := os.Args[3], os.Args[4], os.Args[5]
	owners := &Owners{of: map[int32]*kgo.Client{}, freeSince: map[int32]time.Time{}}
	owners.changed = sync.NewCond(owners)
	owners.partitions = partitionsOf(topic, bootstrap)
	group := fmt.Sprint("settle-franz-", time.Now().UnixNano())

	var members []*kgo.Client
	join := func() { members = append(members, start(owners, bootstrap, group, topic, kind)) }
	for range count {
		join()
	}
	owners.untilSettled(count)
	for event := range 2 * repeats {
		name := [2]string{"join", "leave"}[event%2]
		time.Sleep(4*time.Second + time.Duration(rand.Intn(3000))*time.Millisecond) // Any phase of the heartbeats.
		owners.reset()
		began := time.Now()
		if name == "join" {
			join()
		} else {
			last := members[len(members)-1]
			members = members[:len(members)-1]
			go last.Close()
		}
		stopped, moved := owners.untilSettled(len(members))
		fmt.Printf(`{"peer":"franz-go-%s","members":%d,"partitions":%d,"event":"%s","ms":%d,"stopped_ms":%d,"moved":%d}`+"\n",
			kind, count, owners.partitions, name, time.Since(began).Milliseconds(), stopped.Milliseconds(), moved)
	}
	for _, member := range members {
		member.Close()
	}
}

func start(owners *Owners, bootstrap, group, topic, kind string) *kgo.Client {
	balancer := kgo.RangeBalancer()
	if kind == "cooperative" {
		balancer = kgo.CooperativeStickyBalancer()
	}
	given := func(_ context.Context, member *kgo.Client, partitions map[string][]int32) {
		owners.giveUp(member, partitions[topic])
	}
	member, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(bootstrap, ",")...), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.Balancers(balancer),
		kgo.OnPartitionsAssigned(func(_ context.Context, member *kgo.Client, partitions map[string][]int32) {
			owners.take(member, partitions[topic])
		}),
		kgo.OnPartitionsRevoked(given), kgo.OnPartitionsLost(given))
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for !member.PollFetches(context.Background()).IsClientClosed() {
		}
	}()
	return member
}

func partitionsOf(topic, bootstrap string) int {
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(bootstrap, ",")...))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	asked := kmsg.NewPtrMetadataRequest()
	named := kmsg.NewMetadataRequestTopic()
	named.Topic = &topic
	asked.Topics = append(asked.Topics, named)
	answer, err := asked.RequestWith(context.Background(), client)
	if err != nil {
		log.Fatal(err)
	}
	return len(answer.Topics[0].Partitions)
}
