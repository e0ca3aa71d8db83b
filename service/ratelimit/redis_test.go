package ratelimit

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit"
	"postern/testkit/servers"
)

type limiter interface {
	Take(context.Context, *policy.Tally) error
}

// each runs a test with counters in memory and in Redis.
func each(t *testing.T, test func(*testing.T, limiter)) {
	t.Run("memory", func(t *testing.T) { test(t, NewLocal()) })
	t.Run("Redis", func(t *testing.T) { test(t, dial(t, servers.StartRedis(t).URL(), false)) })
}

func dial(t *testing.T, url string, open bool) *Redis {
	t.Helper()
	r, err := NewRedis(RedisOptions{URL: url, Open: open, Wait: 30 * time.Second, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestRedis_shared(t *testing.T) {
	server := servers.StartRedis(t)
	nodes := []*Redis{dial(t, server.URL(), true), dial(t, server.URL(), false)}
	r := realm(snapshot.Limits{snapshot.Hour: 100}, snapshot.Limits{})
	var mu sync.Mutex
	admitted := 0
	var callers sync.WaitGroup
	for caller := range 16 {
		callers.Go(func() {
			for range 20 {
				if !take(t, nodes[caller%2], r, "key_1", noon).Refused {
					mu.Lock()
					admitted++
					mu.Unlock()
				}
			}
		})
	}
	callers.Wait()
	if admitted != 100 {
		t.Errorf("two nodes admitted %d calls of 100", admitted)
	}
}

func TestRedis_down(t *testing.T) {
	server := servers.StartRedis(t)
	var log bytes.Buffer
	opened, closed := dial(t, server.URL(), true), dial(t, server.URL(), false)
	opened.log = slog.New(slog.NewTextHandler(&log, nil))
	r := realm(snapshot.Limits{snapshot.Hour: 2}, snapshot.Limits{})
	take(t, opened, r, "key_1", noon)
	server.Down()

	var tally policy.Tally
	r.Tally(&tally, &policy.Identity{CredentialID: "key_1"}, &snapshot.Key{}, "", noon)
	if err := closed.Take(t.Context(), &tally); err == nil {
		t.Error("policy closed: a call was admitted without being counted")
	}
	for i, refused := range []bool{false, false, true} {
		if got := take(t, opened, r, "key_1", noon).Refused; got != refused {
			t.Errorf("policy open, call %d: refused %v; the node counts by itself", i, got)
		}
	}
	if n := strings.Count(log.String(), "Redis isn't counting calls"); n != 1 {
		t.Errorf("it was logged %d times:\n%s", n, &log)
	}

	server.Up()
	testkit.Eventually(t, "Redis to be asked again", func() bool { return closed.Take(t.Context(), &tally) == nil })
}

// Replicas whose clocks are minutes apart count in the windows of Redis's clock.
func TestRedis_differentClocks(t *testing.T) {
	server := servers.StartRedis(t)
	r := realm(snapshot.Limits{snapshot.Minute: 3}, snapshot.Limits{})
	for name, off := range map[string]time.Duration{"ahead": 2 * time.Minute, "behind": -2 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			right, wrong := dial(t, server.URL(), false), dial(t, server.URL(), false)
			wrong.now = func() time.Time { return time.Now().Add(off) }
			admitted, windows := 0, map[time.Time]bool{}
			for range 4 {
				for _, node := range []*Redis{right, wrong} {
					got := take(t, node, r, "key_"+name, node.now())
					if since := time.Since(got.Now); since.Abs() > time.Minute {
						t.Errorf("a call was counted %s ago", since)
					}
					windows[got.Now.Truncate(time.Minute)] = true
					if !got.Refused {
						admitted++
					}
				}
			}
			if admitted < 3 || admitted > 3*len(windows) {
				t.Errorf("%d calls were admitted in %d windows with a limit of 3", admitted, len(windows))
			}
		})
	}
}

// Each call that asks a Redis that hangs waits for it. Only one at a time does while it is down.
func TestRedis_hanging(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close() // when all is over: nothing is answered
			asked.Add(1)
		}
	})
	defer accepting.Wait()
	defer l.Close()
	r, err := NewRedis(RedisOptions{
		URL:  "redis://" + l.Addr().String(),
		Open: true,
		Wait: 100 * time.Millisecond,
		Log:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	now := time.Now()
	r.now = func() time.Time { return now } // no pause ends on its own
	limits := realm(snapshot.Limits{snapshot.Hour: 5}, snapshot.Limits{})
	take(t, r, limits, "key_1", noon)
	if n := asked.Load(); n != 1 {
		t.Fatalf("the first call has asked Redis %d times", n)
	}
	r.pause.Store(0) // it is over
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() { take(t, r, limits, "key_1", noon) })
	}
	callers.Wait()
	if n := asked.Load(); n != 2 {
		t.Errorf("Redis was asked %d times, want twice: by the first call, and by one of 8", n)
	}
	if !take(t, r, limits, "key_1", noon).Refused {
		t.Error("calls are not counted while Redis hangs")
	}
}

func TestRedis_expiredCounters(t *testing.T) {
	r := dial(t, servers.StartRedis(t).URL(), false)
	take(t, r, realm(snapshot.Limits{
		snapshot.Second: 5,
		snapshot.Year:   5,
	}, snapshot.Limits{snapshot.Minute: 5}), "key_1", noon)
	keys, err := r.servers.client().Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 3 {
		t.Fatalf("%v, %v", keys, err)
	}
	for _, key := range keys {
		left, err := r.servers.client().TTL(t.Context(), key).Result()
		window, _ := snapshot.ParseWindow(strings.Split(key, ":")[2])
		_, end := policy.WindowBounds(window, noon)
		if most := time.Unix(end, 0).Sub(noon) + outlives; err != nil || left <= 0 || left > most {
			t.Errorf("%s stays for %v, at most %v: %v", key, left, most, err)
		}
	}
}

func TestRedis_hiddenPassword(t *testing.T) {
	_, err := NewRedis(RedisOptions{URL: "redis://:canary-pa%ss@host:port", Log: slog.Default()})
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
}

// Replicas that know different nodes of a cluster share the counts of every project, wherever its keys are.
func TestRedis_cluster(t *testing.T) {
	cluster := servers.StartRedisCluster(t, 2)
	replicas := []*Redis{dial(t, cluster[0].URL(), true), dial(t, cluster[1].URL(), true)}
	const limit = 5
	for project := range 8 {
		r := realm(snapshot.Limits{snapshot.Hour: limit}, snapshot.Limits{})
		r.ID = fmt.Sprint("prj_", project)
		for call := range 2 * limit {
			refused := take(t, replicas[call%2], r, "key_1", noon).Refused
			if want := call >= limit; refused != want {
				t.Errorf("%s, call %d: refused %v, want %v", r.ID, call, refused, want)
			}
		}
	}
	for i, replica := range replicas {
		if stats := replica.Stats(); stats.Failures > 0 || !stats.Up {
			t.Errorf("replica %d: %+v", i, stats)
		}
		if replica.servers.cluster == nil {
			t.Errorf("replica %d asks one node: all projects are on it", i)
		}
	}
}

// TestRedis_failover asks a server that replicates another one and is then promoted, as a failover does it.
func TestRedis_failover(t *testing.T) {
	primary, standby := servers.StartRedis(t), servers.StartRedis(t)
	standby.Follow(primary)
	r := realm(snapshot.Limits{snapshot.Hour: 2}, snapshot.Limits{})
	take(t, dial(t, primary.URL(), false), r, "key_1", noon)
	standby.CatchUp(primary)
	primary.Down()

	opened, closed := dial(t, standby.URL(), true), dial(t, standby.URL(), false)
	var tally policy.Tally
	r.Tally(&tally, &policy.Identity{CredentialID: "key_1"}, &snapshot.Key{}, "", noon)
	if err := closed.Take(t.Context(), &tally); err == nil {
		t.Error("policy closed: a standby that isn't promoted has counted")
	}
	for i, refused := range []bool{false, false, true} {
		if got := take(t, opened, r, "key_1", noon).Refused; got != refused {
			t.Errorf("policy open, call %d: refused %v; the node counts by itself", i, got)
		}
	}

	standby.Promote()
	testkit.Eventually(t, "the new primary to count", func() bool { return closed.Take(t.Context(), &tally) == nil })
	if !take(t, closed, r, "key_1", noon).Refused {
		t.Error("the new primary doesn't know the call that was replicated to it")
	}
}
