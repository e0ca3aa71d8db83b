package egress_test

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer is a DNS server on loopback whose answers a test changes.
type nameServer struct {
	conn net.PacketConn

	mu      sync.Mutex
	answers map[string][]netip.Addr
	queries int
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{conn: conn, answers: map[string][]netip.Addr{}}
	done := make(chan struct{})
	go func() { defer close(done); s.serve() }()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return s
}

// resolver returns a resolver that sends all queries to this server.
func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

func (s *nameServer) answer(name string, addrs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[name] = nil
	for _, a := range addrs {
		s.answers[name] = append(s.answers[name], netip.MustParseAddr(a))
	}
}

// lookups counts the questions for an IPv4 address: one for each resolution.
func (s *nameServer) lookups() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queries
}

func (s *nameServer) serve() {
	buf := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(buf[:n]); err != nil || len(m.Questions) != 1 {
			continue
		}
		s.fill(&m)
		if reply, err := m.Pack(); err == nil {
			_, _ = s.conn.WriteTo(reply, from)
		}
	}
}

func (s *nameServer) fill(m *dnsmessage.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	addrs, known := s.answers[q.Name.String()]
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	if q.Type == dnsmessage.TypeA {
		s.queries++
	}
	for _, a := range addrs {
		header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		switch {
		case q.Type == dnsmessage.TypeA && a.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
		case q.Type == dnsmessage.TypeAAAA && a.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: header,
				Body:   &dnsmessage.AAAAResource{AAAA: a.As16()},
			})
		}
	}
}
