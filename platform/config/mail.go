package config

import (
	"cmp"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
)

// Mail is the SMTP server that mail is sent by. Without a Host, no mail is sent.
type Mail struct {
	URL      Secret // as configured; it may have a password
	Host     string
	Port     string
	Username string
	Password Secret
	TLS      MailTLS
	From     string // RFC 5322 address, with or without a name
}

// MailTLS is how a connection to the SMTP server is encrypted.
type MailTLS int

// The values of MailTLS.
const (
	MailStartTLS    MailTLS = iota // upgraded before anything is sent (RFC 3207)
	MailImplicitTLS                // from the first byte (RFC 8314)
	MailPlain                      // not at all, since it does not leave this machine
)

// Enabled reports whether mail is sent.
func (m Mail) Enabled() bool { return m.Host != "" }

func mailSettings() []setting {
	return []setting{
		{
			"smtp-url",
			"",
			"URL of the SMTP server for emails such as password resets and invitations, for example " +
				"smtps://user:password@mail.example.com (TLS) or smtp://mail.example.com:587 (STARTTLS, required " +
				"unless the SMTP server is on this machine); empty means no email",
			secret(func(c *Config) *Secret { return &c.Mail.URL }),
		},
		{
			"smtp-from",
			"",
			"sender of emails, such as Postern <postern@example.com>",
			text(func(c *Config) *string { return &c.Mail.From }),
		},
	}
}

// parse reads the URL. Its problems do not quote it, since it may have a password.
func (m *Mail) parse(report func(setting, format string, args ...any)) {
	if m.URL == "" {
		if m.From != "" {
			report("--smtp-from", "requires --smtp-url, the server that sends the email")
		}
		return
	}
	u, err := url.Parse(m.URL.Reveal())
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		report("--smtp-url", "must be a URL such as smtps://user:password@mail.example.com; escape special "+
			"characters in the password, such as @ as %%40")
		return
	}
	m.Host, m.Port = u.Hostname(), u.Port()
	switch u.Scheme {
	case "smtps":
		m.TLS = MailImplicitTLS
		m.Port = cmp.Or(m.Port, "465")
	default:
		if onThisMachine(m.Host) {
			m.TLS = MailPlain
		}
		m.Port = cmp.Or(m.Port, "587")
	}
	if port, err := strconv.ParseUint(m.Port, 10, 16); err != nil || port == 0 {
		report("--smtp-url", "the port must be a number from 1 to 65535")
	}
	if u.User != nil {
		password, _ := u.User.Password()
		m.Username, m.Password = u.User.Username(), Secret(password)
	}
	if _, err := mail.ParseAddress(m.From); err != nil {
		report("--smtp-from", "set the sender of emails, such as Postern <postern@example.com>")
	}
}
