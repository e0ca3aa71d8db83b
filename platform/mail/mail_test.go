package mail_test

import (
	"crypto/tls"
	"log/slog"
	"net"
	"strings"
	"testing"

	"postern/platform/config"
	"postern/platform/mail"
	"postern/platform/traces"
	"postern/testkit"
	"postern/testkit/servers"
)

func TestSend(t *testing.T) {
	server := servers.StartSMTP(t, servers.SMTPOptions{Username: "postern", Password: "hunter2"})
	host, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	settings := config.Mail{
		Host:     host,
		Port:     port,
		TLS:      config.MailPlain,
		Username: "postern",
		Password: "hunter2",
		From:     "Postern <postern@example.com>",
	}
	send := func(t *testing.T, c config.Mail, to string) error {
		t.Helper()
		sender, err := mail.New(c)
		if err != nil {
			t.Fatal(err)
		}
		return sender.Send(t.Context(), to, "Grüße", "Ein Link:\nhttps://postern.example.com/recover/s3cret\n")
	}
	t.Run("signed in", func(t *testing.T) {
		if err := send(t, settings, "ana@example.com"); err != nil {
			t.Fatal(err)
		}
		got := server.Messages()
		if len(got) != 1 || got[0].To != "ana@example.com" || !strings.Contains(got[0].Text, "/recover/s3cret") {
			t.Errorf("got %+v", got)
		}
		if from := got[0].Header.Get("From"); from != `"Postern" <postern@example.com>` {
			t.Errorf("from %s", from)
		}
	})
	for name, change := range testkit.ByName(map[string]func(*config.Mail){
		"wrong password":      func(c *config.Mail) { c.Password = "wrong" },
		"no TLS offered":      func(c *config.Mail) { c.TLS = config.MailStartTLS },
		"no TLS at all":       func(c *config.Mail) { c.TLS = config.MailImplicitTLS },
		"recipient of header": nil,
	}) {
		t.Run(name, func(t *testing.T) {
			c, to := settings, "ana@example.com"
			if change == nil {
				to = "ana@example.com\r\nBcc: all@example.com"
			} else {
				change(&c)
			}
			err := send(t, c, to)
			if err == nil || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want an error without secrets", err)
			}
		})
	}
	if n := len(server.Messages()); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
}

// A certificate that nothing trusts is refused, whether TLS comes first or by STARTTLS.
func TestSend_untrusted(t *testing.T) {
	for name, implicit := range map[string]bool{"STARTTLS": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			pair := servers.SelfSigned(t)
			server := servers.StartSMTP(t, servers.SMTPOptions{
				TLS:      &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
				Implicit: implicit,
			})
			host, port, err := net.SplitHostPort(server.Addr)
			if err != nil {
				t.Fatal(err)
			}
			c := config.Mail{Host: host, Port: port, From: "postern@example.com"}
			if implicit {
				c.TLS = config.MailImplicitTLS
			}
			sender, err := mail.New(c)
			if err != nil {
				t.Fatal(err)
			}
			err = sender.Send(t.Context(), "ana@example.com", "Subject", "Text")
			if err == nil || !strings.Contains(err.Error(), "certificate") {
				t.Errorf("got %v, want a refused certificate", err)
			}
		})
	}
}

func TestSend_trace(t *testing.T) {
	server := servers.StartSMTP(t, servers.SMTPOptions{Username: "postern", Password: "hunter2"})
	host, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	settings := config.Mail{
		Host: host, Port: port, TLS: config.MailPlain, Username: "postern", Password: "hunter2", From: "p@example.com",
	}
	to := servers.StartCollector(t)
	tracer, err := traces.Open(traces.Options{Endpoint: to.URL, Ratio: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	sender, err := mail.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := tracer.Begin(t.Context(), traces.Begin{Name: "job"})
	if err := sender.Send(ctx, "ana@example.com", "Grüße", "s3cret"); err != nil {
		t.Fatal(err)
	}
	span.End()
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	sent := to.Await(t, func(s servers.Span) bool { return s.Name == "SMTP send" })
	if sent.Trace != span.TraceID() || sent.Kind != "client" || sent.Failed || sent.Attrs["server.port"] != port {
		t.Errorf("got %+v", sent)
	}
	for _, secret := range []string{"ana@", "s3cret", "hunter2"} {
		if strings.Contains(to.Text(), secret) {
			t.Errorf("%s is in the spans", secret)
		}
	}
}
