// Package mail sends plain-text mail to one recipient over SMTP (RFC 5321), with STARTTLS (RFC 3207) or
// TLS from the first byte (RFC 8314).
//
// It owns the connection and the message's format (RFC 5322). It leaves what is written, and
// trying again, to its callers.
package mail

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"

	"postern/platform/config"
	"postern/platform/traces"
)

// timeout bounds the connection and each answer of the server.
const timeout = 20 * time.Second

// Sender sends mail through one server.
type Sender struct {
	from    string
	host    string
	options []mail.Option
	server  []traces.Attr // of spans
}

// New returns a sender of the configured server, which must be enabled. It does not connect yet.
func New(c config.Mail) (*Sender, error) {
	port, err := strconv.Atoi(c.Port)
	if err != nil {
		return nil, fmt.Errorf("mail: port %q: %w", c.Port, err)
	}
	options := []mail.Option{mail.WithPort(port), mail.WithTimeout(timeout)}
	switch c.TLS {
	case config.MailImplicitTLS:
		options = append(options, mail.WithSSL())
	case config.MailPlain:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if c.Username != "" {
		auth := mail.SMTPAuthAutoDiscover
		if c.TLS == config.MailPlain {
			auth = mail.SMTPAuthPlainNoEnc // discovery finds nothing without TLS
		}
		options = append(options,
			mail.WithSMTPAuth(auth),
			mail.WithUsername(c.Username),
			mail.WithPassword(c.Password.Reveal()))
	}
	if _, err := mail.NewClient(c.Host, options...); err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	return &Sender{from: c.From, host: c.Host, options: options, server: []traces.Attr{
		traces.String("network.protocol.name", "smtp"),
		traces.String("server.address", c.Host),
		traces.Int("server.port", port),
	}}, nil
}

// Send sends a text and returns once the server has accepted it. Its errors do not contain the text.
func (s *Sender) Send(ctx context.Context, to, subject, text string) error {
	message := mail.NewMsg()
	if err := message.From(s.from); err != nil {
		return fmt.Errorf("mail: sender: %w", err)
	}
	if err := message.To(to); err != nil {
		return fmt.Errorf("mail: recipient: %w", err)
	}
	message.Subject(subject)
	message.SetDate()
	message.SetMessageID()
	message.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no out-of-office answers
	message.SetBodyString(mail.TypeTextPlain, text)
	client, err := mail.NewClient(s.host, s.options...) // a new one, because a client isn't safe for concurrent use
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	_, span := traces.Start(ctx, traces.Client, "SMTP send")
	defer span.End()
	span.Set(s.server...)
	if err := client.DialAndSendWithContext(ctx, message); err != nil {
		span.Fail(traces.ErrorType(err))
		return fmt.Errorf("mail: send through %s: %w", s.host, err)
	}
	return nil
}
