package servers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"postern/testkit"
)

// Mail is a received mail.
type Mail struct {
	From, To string // of the envelope
	Header   mail.Header
	Text     string // decoded
}

// SMTP is a running mail server (RFC 5321) that keeps what it receives.
type SMTP struct {
	Addr string // host:port

	username, password string // required of clients unless empty

	mu       sync.Mutex
	refusals int // of the next messages
	messages []Mail
}

// SMTPOptions are how clients reach the mail server.
type SMTPOptions struct {
	TLS                *tls.Config // offered by STARTTLS; nil for none
	Implicit           bool        // TLS from the first byte instead
	Username, Password string      // required unless empty
}

// StartSMTP starts a server that stops with the test.
func StartSMTP(t testing.TB, o SMTPOptions) *SMTP {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &SMTP{Addr: listener.Addr().String(), username: o.Username, password: o.Password}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &smtpSession{server: s}, nil
	}))
	server.Domain = "localhost"
	server.ReadTimeout, server.WriteTimeout = 10*time.Second, 10*time.Second
	server.AllowInsecureAuth = true
	server.TLSConfig = o.TLS
	server.ErrorLog = log.New(io.Discard, "", 0) // of clients that hang up
	if o.Implicit {
		listener = tls.NewListener(listener, o.TLS)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }() // returns after Close
	t.Cleanup(func() { _ = server.Close(); <-done })
	return s
}

// Refuse refuses the next n messages for now, with 451.
func (s *SMTP) Refuse(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = n
}

// Messages returns what was received so far.
func (s *SMTP) Messages() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Mail(nil), s.messages...)
}

// Wait waits until n messages were received, and returns all.
func (s *SMTP) Wait(t testing.TB, n int) []Mail {
	t.Helper()
	return testkit.Await(t, fmt.Sprintf("%d messages", n), func() ([]Mail, bool) {
		got := s.Messages()
		return got, len(got) >= n
	})
}

type smtpSession struct {
	server   *SMTP
	signedIn bool
	message  Mail
}

// AuthMechanisms implements smtp.AuthSession.
func (s *smtpSession) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth implements smtp.AuthSession.
func (s *smtpSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		if username != s.server.username || password != s.server.password {
			return smtp.ErrAuthFailed
		}
		s.signedIn = true
		return nil
	}), nil
}

func (s *smtpSession) Mail(from string, _ *smtp.MailOptions) error {
	if s.server.username != "" && !s.signedIn {
		return smtp.ErrAuthRequired
	}
	s.message = Mail{From: from}
	return nil
}

func (s *smtpSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.message.To = to
	return nil
}

func (s *smtpSession) Data(r io.Reader) error {
	parsed, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	body := parsed.Body
	if strings.EqualFold(parsed.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	s.message.Header, s.message.Text = parsed.Header, string(text)
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if s.server.refusals > 0 {
		s.server.refusals--
		return &smtp.SMTPError{Code: 451, Message: "try again later"}
	}
	s.server.messages = append(s.server.messages, s.message)
	return nil
}

func (s *smtpSession) Reset() {}

func (s *smtpSession) Logout() error { return nil }

// SelfSigned returns a certificate of localhost that no client trusts.
func SelfSigned(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotAfter:     time.Now().Add(time.Hour),
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

var errNoLink = errors.New("no link")

// Link returns the first word of the text that begins with a prefix.
func (m Mail) Link(prefix string) (string, error) {
	for word := range strings.FieldsSeq(m.Text) {
		if strings.HasPrefix(word, prefix) {
			return word, nil
		}
	}
	return "", errNoLink
}
