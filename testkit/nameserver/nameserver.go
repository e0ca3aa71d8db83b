// Package nameserver runs a DNS server (RFC 1035) on loopback that answers for TXT records,
// for tests. It speaks UDP only, so its answers fit into 512 bytes.
package nameserver

import (
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Server is a running name server. It is authoritative for every name: one without records
// does not exist.
type Server struct {
	Addr string // host:port

	mu      sync.Mutex
	records map[string][]string
	broken  bool
	asked   int
}

// Start starts a name server, and stops it with the test.
func Start(tb testing.TB) *Server {
	tb.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // a test's own
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{Addr: socket.LocalAddr().String(), records: map[string][]string{}}
	tb.Cleanup(func() { _ = socket.Close() })
	go s.serve(tb, socket)
	return s
}

// Set gives a name TXT records with these values, instead of what it had. Without values the
// name does not exist.
func (s *Server) Set(name string, values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[strings.ToLower(name)] = values
}

// Break makes every answer a server failure, until it is called with false.
func (s *Server) Break(broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = broken
}

// Asked returns how many questions arrived.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *Server) serve(tb testing.TB, socket net.PacketConn) {
	buffer := make([]byte, 4096)
	for {
		n, from, err := socket.ReadFrom(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			tb.Errorf("nameserver: read: %v", err)
			return
		}
		var question dnsmessage.Message
		if question.Unpack(buffer[:n]) != nil || len(question.Questions) != 1 {
			continue
		}
		answer, err := s.answer(question).Pack()
		if err != nil {
			tb.Errorf("nameserver: answer: %v", err)
			return
		}
		_, _ = socket.WriteTo(answer, from)
	}
}

func (s *Server) answer(question dnsmessage.Message) *dnsmessage.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	asked := question.Questions[0]
	out := &dnsmessage.Message{
		Header: dnsmessage.Header{
			ID:               question.ID,
			Response:         true,
			Authoritative:    true,
			RecursionDesired: question.RecursionDesired,
		},
		Questions: question.Questions,
	}
	values := s.records[strings.ToLower(strings.TrimSuffix(asked.Name.String(), "."))]
	switch {
	case s.broken:
		out.RCode = dnsmessage.RCodeServerFailure
	case len(values) == 0:
		out.RCode = dnsmessage.RCodeNameError
	case asked.Type == dnsmessage.TypeTXT:
		for _, value := range values {
			out.Answers = append(out.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: asked.Name, Type: asked.Type, Class: asked.Class, TTL: 1},
				Body:   &dnsmessage.TXTResource{TXT: []string{value}},
			})
		}
	}
	return out
}
