package config

import (
	"net/url"
	"path/filepath"
)

// AuditStream has the places that the audit log is streamed to.
type AuditStream struct {
	File    string // "" for none
	Webhook Secret // URL, which may have a secret in it; "" for none
	Token   Secret // for the webhook
}

func auditSettings() []setting {
	return []setting{
		{
			"audit-file",
			"",
			"file to append every audit log entry to, as a line of JSON with its hash; empty means none",
			text(func(c *Config) *string { return &c.AuditStream.File }),
		},
		{
			"audit-webhook",
			"",
			"http or https URL to post every audit log entry to, in the format of --audit-file; set it on only " +
				"one replica unless you use --retention-audit; empty means none",
			secret(func(c *Config) *Secret { return &c.AuditStream.Webhook }),
		},
		{
			"audit-webhook-token",
			"",
			"bearer token for --audit-webhook",
			secret(func(c *Config) *Secret { return &c.AuditStream.Token }),
		},
	}
}

func (a AuditStream) validate(report func(setting, format string, args ...any)) {
	address := a.Webhook.Reveal()
	if address == "" {
		if a.Token != "" {
			report("--audit-webhook-token", "requires --audit-webhook")
		}
		return
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		report("--audit-webhook", "must be a URL such as https://logs.example.com/audit, without a user name")
	}
}

// AuditPosition returns the file that stores how much of a stream was delivered.
func (c Config) AuditPosition(stream string) string {
	return filepath.Join(c.DataDir, "audit-"+stream+".position")
}
