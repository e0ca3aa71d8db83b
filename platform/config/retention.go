package config

import (
	"fmt"
	"time"
)

// Retention says how long records are kept; 0: forever.
type Retention struct{ Usage, Requests, Audit, Workspaces, RevokedKeys time.Duration }

// Least retentions: a month of usage, which pages show, a week of the audit log, and a day of revoked keys, which lists
// show.
const (
	minUsage    = 31 * 24 * time.Hour
	minRequests = time.Minute
	minAudit    = 7 * 24 * time.Hour
	minRevoked  = 24 * time.Hour
)

func retentionSettings() []setting {
	return []setting{
		{
			"retention-usage",
			"0s",
			"how long usage data is kept, 744h or more; 0s means forever",
			retention(minUsage, func(r *Retention) *time.Duration { return &r.Usage }),
		},
		{
			"retention-requests",
			"0s",
			"maximum time that calls stay in the request log, 1m or more; 0s means until newer calls replace them",
			retention(minRequests, func(r *Retention) *time.Duration { return &r.Requests }),
		},
		{
			"retention-audit",
			"0s",
			"how long audit log entries are kept, 168h or more; 0s means forever",
			retention(minAudit, func(r *Retention) *time.Duration { return &r.Audit }),
		},
		{
			"retention-workspaces",
			"2160h",
			"how long the audit log of a deleted unclaimed workspace is kept, 168h or more; 0s means as long as " +
				"other audit logs",
			retention(minAudit, func(r *Retention) *time.Duration { return &r.Workspaces }),
		},
		{
			"retention-revoked-keys",
			"0s",
			"how long revoked keys are kept, 24h or more; 0s means forever",
			retention(minRevoked, func(r *Retention) *time.Duration { return &r.RevokedKeys }),
		},
	}
}

func retention(least time.Duration, field func(*Retention) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		into := field(&c.Retention)
		if err := duration(func(*Config) *time.Duration { return into })(c, v); err != nil {
			return err
		}
		if *into != 0 && *into < least {
			return fmt.Errorf("%q is too short: use %s or more, or 0s to keep everything", v, least)
		}
		return nil
	}
}
