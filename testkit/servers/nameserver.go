package servers

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// NameServer is a running DNS server (RFC 1035) on loopback that answers for TXT and A records. It speaks UDP, in which
// answers fit into 512 bytes, and TCP on the same port. It is authoritative for every name: one without records does
// not exist.
type NameServer struct {
	Addr string // host:port

	mu      sync.Mutex
	records map[string][]string
	hosts   map[string][4]byte
	broken  bool
	asked   int
}

// StartNameServer starts a name server, and stops it with the test.
func StartNameServer(tb testing.TB) *NameServer {
	tb.Helper()
	listener, socket := listenForQuestions(tb)
	s := &NameServer{Addr: socket.LocalAddr().String(), records: map[string][]string{}, hosts: map[string][4]byte{}}
	tb.Cleanup(func() { _ = errors.Join(socket.Close(), listener.Close()) })
	go s.serve(tb, socket)
	go s.accept(listener)
	return s
}

// listenForQuestions opens both sockets on one port, which another program may have for one of them.
func listenForQuestions(tb testing.TB) (net.Listener, net.PacketConn) {
	tb.Helper()
	for attempt := 1; ; attempt++ {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		socket, err := net.ListenPacket("udp", listener.Addr().String())
		if err == nil {
			return listener, socket
		}
		_ = listener.Close()
		if attempt == 10 {
			tb.Fatal(err)
		}
	}
}

// accept answers one question for each TCP connection (RFC 1035, 4.2.2: a length of two bytes
// comes before each message).
func (s *NameServer) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			head := make([]byte, 2)
			if _, err := io.ReadFull(conn, head); err != nil {
				return
			}
			body := make([]byte, binary.BigEndian.Uint16(head))
			var question dnsmessage.Message
			if _, err := io.ReadFull(conn, body); err != nil || question.Unpack(body) != nil ||
				len(question.Questions) != 1 {
				return
			}
			if answer, err := s.answer(question).Pack(); err == nil {
				_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
			}
		}()
	}
}

// Set gives a name TXT records with these values, instead of what it had. Without values the
// name does not exist.
func (s *NameServer) Set(name string, values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[strings.ToLower(name)] = values
}

// Point gives a name an A record, which leads to 127.0.0.1.
func (s *NameServer) Point(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[strings.ToLower(name)] = [4]byte{127, 0, 0, 1}
}

// Break makes every answer a server failure, until it is called with false.
func (s *NameServer) Break(broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = broken
}

// Lookups returns how many questions arrived.
func (s *NameServer) Lookups() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *NameServer) serve(tb testing.TB, socket net.PacketConn) {
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

func (s *NameServer) answer(question dnsmessage.Message) *dnsmessage.Message {
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
	name := strings.ToLower(strings.TrimSuffix(asked.Name.String(), "."))
	values := s.records[name]
	address, leads := s.hosts[name]
	switch {
	case s.broken:
		out.RCode = dnsmessage.RCodeServerFailure
	case len(values) == 0 && !leads:
		out.RCode = dnsmessage.RCodeNameError
	case asked.Type == dnsmessage.TypeA && leads:
		out.Answers = append(out.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: asked.Name, Type: asked.Type, Class: asked.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: address},
		})
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
