package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/platform/config"
)

func TestSMTPURL(t *testing.T) {
	const from = "Postern <postern@example.com>"
	for url, want := range map[string]config.Mail{
		"smtp://mail.example.com":      {Host: "mail.example.com", Port: "587"},
		"smtp://mail.example.com:2525": {Host: "mail.example.com", Port: "2525"},
		"smtp://localhost:25":          {Host: "localhost", Port: "25", TLS: config.MailPlain},
		"smtps://u%40x:p%40ss@mail.example.com": {
			Host:     "mail.example.com",
			Port:     "465",
			TLS:      config.MailImplicitTLS,
			Username: "u@x",
			Password: "p@ss",
		},
	} {
		c, err := load(t, []string{"POSTERN_SMTP_URL=" + url, "POSTERN_SMTP_FROM=" + from})
		if err != nil {
			t.Errorf("%s: %v", url, err)
		}
		want.URL, want.From = config.Secret(url), from
		if diff := cmp.Diff(want, c.Mail); diff != "" || !c.Mail.Enabled() {
			t.Errorf("%s (-want +got):\n%s", url, diff)
		}
	}
}

func TestSMTPURL_refused(t *testing.T) {
	for name, tc := range map[string]struct{ url, from, says string }{
		"no scheme":      {"mail.example.com", "a@example.com", "--smtp-url: must be a URL"},
		"other scheme":   {"https://hunter2@mail.example.com", "a@example.com", "--smtp-url: must be a URL"},
		"a path":         {"smtp://mail.example.com/hunter2", "a@example.com", "--smtp-url: must be a URL"},
		"raw @":          {"smtp://u:hunter2#@mail", "a@example.com", "--smtp-url: must be a URL"},
		"no sender":      {"smtp://mail.example.com", "", "--smtp-from: set the sender"},
		"bad sender":     {"smtp://mail.example.com", "postern", "--smtp-from: set the sender"},
		"no server":      {"", "a@example.com", "--smtp-from: requires --smtp-url"},
		"port of no use": {"smtp://mail.example.com:99999", "a@example.com", "--smtp-url: the port"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, []string{"POSTERN_SMTP_URL=" + tc.url, "POSTERN_SMTP_FROM=" + tc.from})
			if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %s", err, tc.says)
			}
		})
	}
}
