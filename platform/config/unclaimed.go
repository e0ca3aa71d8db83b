package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"time"
)

// Unclaimed has the settings of callers without an account and of their workspaces.
type Unclaimed struct {
	AnonymousToken Secret        // that callers send if Anonymous is AnonymousToken
	UnclaimedGrace time.Duration // how long an expired workspace is kept
	UnclaimedCaps  UnclaimedCaps

	UnclaimedBodyMemory     int // of one workspace, in MB
	UnclaimedDocumentMemory int // the same
}

// minToken is the length from which on the token of anonymous callers is hard to guess.
const minToken = 16

// UnclaimedCaps says whether unclaimed proxies are limited to harmless uses.
type UnclaimedCaps string

// The values of --unclaimed-caps.
const (
	CapsAuto UnclaimedCaps = "auto" // unless this machine alone can reach the listeners
	CapsOn   UnclaimedCaps = "on"
	CapsOff  UnclaimedCaps = "off"
)

// CapsApply reports whether the caps apply. Without them, every caller of the control
// plane could publish any upstream under the installation's name. On a developer's own
// machine they would only be in the way: the first upstream that one tries listens on
// a port like 9000.
func (c Config) CapsApply() bool {
	if c.UnclaimedCaps == CapsAuto {
		return !c.LoopbackOnly()
	}
	return c.UnclaimedCaps == CapsOn
}

// isLocalURL reports whether raw is empty or has a host on this machine.
func isLocalURL(raw string) bool {
	u, err := url.Parse(raw)
	if raw == "" || err != nil {
		return err == nil
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

func unclaimedSettings() []setting {
	return []setting{
		{
			"anonymous",
			"open",
			"who can call POST /proxy without signing in: open (every caller), token (callers that send " +
				"--anonymous-token) or off",
			assignAnonymous,
		},
		{
			"anonymous-token",
			"",
			"value of the Postern-Anonymous-Token header that --anonymous token requires",
			secret(func(c *Config) *Secret { return &c.AnonymousToken }),
		},
		{
			"unclaimed-ttl",
			"720h",
			"lifetime of an unclaimed proxy",
			duration(func(c *Config) *time.Duration { return &c.UnclaimedTTL }),
		},
		{
			"unclaimed-grace",
			"168h",
			"how long an expired unclaimed proxy returns 410 before it is deleted",
			duration(func(c *Config) *time.Duration { return &c.UnclaimedGrace }),
		},
		{
			"unclaimed-caps",
			"auto",
			"whether unclaimed proxies have limits: on, off or auto; auto means on, unless only this machine can " +
				"reach the listeners",
			assignCaps,
		},
		{
			"unclaimed-body-memory",
			"8",
			"maximum share of --gateway-body-memory for calls to one unclaimed workspace's projects, in MB, if " +
				"unclaimed proxies have limits",
			number(func(c *Config) *int { return &c.UnclaimedBodyMemory }),
		},
		{
			"unclaimed-document-memory",
			"8",
			"maximum share of --gateway-document-memory for one unclaimed workspace, in MB",
			number(func(c *Config) *int { return &c.UnclaimedDocumentMemory }),
		},
	}
}

func assignAnonymous(c *Config, v string) error {
	switch a := Anonymous(v); a {
	case AnonymousOpen, AnonymousToken, AnonymousOff:
		c.Anonymous = a
		return nil
	}
	return fmt.Errorf("must be open, token or off, not %q", v)
}

func assignCaps(c *Config, v string) error {
	switch caps := UnclaimedCaps(v); caps {
	case CapsAuto, CapsOn, CapsOff:
		c.UnclaimedCaps = caps
		return nil
	}
	return fmt.Errorf("must be auto, on or off, not %q", v)
}

func (u Unclaimed) validate(anonymous Anonymous, report func(setting, format string, args ...any)) {
	if anonymous == AnonymousToken && len(u.AnonymousToken) < minToken {
		report("--anonymous-token", "must have at least %d characters with --anonymous token, such as the output of "+
			"openssl rand -hex 16", minToken)
	}
	if u.UnclaimedGrace < 0 {
		report("--unclaimed-grace", "must be 0s or more, not %s", u.UnclaimedGrace)
	}
}
