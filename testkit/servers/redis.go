package servers

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"postern/testkit"
	"postern/testkit/ports"
)

// Redis is a running Redis without a file.
type Redis struct {
	t       testing.TB
	port    string
	process *exec.Cmd
	bus     string   // port of a cluster's node for other nodes
	more    []string // arguments
}

// StartRedis runs a server until the test ends.
func StartRedis(t testing.TB) *Redis {
	t.Helper()
	s := &Redis{t: t, port: strconv.Itoa(ports.Port(t))}
	s.Up()
	t.Cleanup(s.Down)
	return s
}

// StartRedisCluster runs a cluster of n servers, which share the slots evenly, until the test ends.
func StartRedisCluster(t testing.TB, n int) []*Redis {
	t.Helper()
	const slots = 16384
	var nodes []*Redis
	for i := range n {
		bus := strconv.Itoa(ports.Port(t))
		s := &Redis{t: t, port: strconv.Itoa(ports.Port(t)), bus: bus, more: []string{
			"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-port", bus,
		}}
		s.Up()
		t.Cleanup(s.Down)
		s.run(fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", i*slots/n, (i+1)*slots/n-1))
		nodes = append(nodes, s)
	}
	for _, other := range nodes[1:] {
		nodes[0].run(fmt.Sprintf("CLUSTER MEET 127.0.0.1 %s %s", other.port, other.bus))
	}
	for _, s := range nodes {
		testkit.Eventually(t, "a cluster of all nodes", func() bool {
			state := s.ask("CLUSTER INFO")
			return strings.Contains(state, "cluster_state:ok") &&
				strings.Contains(state, fmt.Sprintf("cluster_slots_ok:%d", slots)) &&
				strings.Contains(state, fmt.Sprintf("cluster_known_nodes:%d", n))
		})
	}
	return nodes
}

// URL is where the server answers.
func (s *Redis) URL() string { return fmt.Sprintf("redis://127.0.0.1:%s/0", s.port) }

// Up starts the server, empty, where it was before.
func (s *Redis) Up() {
	s.t.Helper()
	s.process = exec.Command("redis-server", append([]string{
		"--port", s.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", s.t.TempDir(),
	}, s.more...)...)
	if err := s.process.Start(); err != nil {
		s.t.Fatalf("start redis-server (Debian: redis-server): %v", err)
	}
	testkit.Eventually(s.t, "an answer of redis-server", s.answers)
}

// Down ends the server as a crash would.
func (s *Redis) Down() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	s.process = nil
}

// Follow has the server replicate another one.
func (s *Redis) Follow(primary *Redis) {
	s.t.Helper()
	s.run(fmt.Sprintf("REPLICAOF 127.0.0.1 %s", primary.port))
	testkit.Eventually(s.t, "a link to the primary", func() bool {
		return strings.Contains(s.ask("INFO replication"), "master_link_status:up")
	})
}

// CatchUp waits until the server has what was written to the one that it follows.
func (s *Redis) CatchUp(primary *Redis) {
	s.t.Helper()
	testkit.Eventually(s.t, "everything to be replicated", func() bool {
		return s.ask("DBSIZE") == primary.ask("DBSIZE")
	})
}

// Promote turns the server into one that counts by itself.
func (s *Redis) Promote() {
	s.t.Helper()
	s.run("REPLICAOF NO ONE")
}

func (s *Redis) answers() bool { return strings.HasPrefix(s.ask("PING"), "+PONG") }

// run sends a command, which must succeed.
func (s *Redis) run(command string) {
	s.t.Helper()
	if got := s.ask(command); !strings.HasPrefix(got, "+OK") {
		s.t.Fatalf("%s: %q, want +OK", command, got)
	}
}

// ask sends a command and returns the first part of its answer, "" if there is none.
func (s *Redis) ask(command string) string {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", "127.0.0.1:"+s.port)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := conn.Write([]byte(command + "\r\n")); err != nil {
		return ""
	}
	reply := make([]byte, 4<<10)
	n, _ := conn.Read(reply)
	return string(reply[:n])
}
