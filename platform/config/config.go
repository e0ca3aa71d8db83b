// Package config turns flags and POSTERN_* variables into one validated value.
//
// It owns the names, defaults and help texts of all settings; it does not own
// what they do. A flag wins over its variable, a variable over the default.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"postern/platform/secrets"
)

// Config is every setting, parsed.
type Config struct {
	ControlAddr         string // host:port of the control plane
	GatewayAddr         string // host:port of the gateway
	DataDir             string // where SQLite, exports and the lock live
	DatabaseURL         Secret // "" for SQLite in DataDir, postgres://… otherwise
	SecretsKey          Secret // key-encryption keys, the first in use; "" for those of SecretsKeyFile
	MetricsToken        Secret // who sends it reads /metrics; "": callers on this machine
	RedisURL            Secret // "" for counters in memory
	RedisFailsOpen      bool   // while Redis is down each replica counts by itself
	PublicURL           string // how browsers reach the control plane, without a trailing slash
	GatewayURL          string // how callers reach the gateway's bare domain, without a trailing slash
	GatewayDomain       string // the bare domain; <project>.<domain> addresses a project
	GatewayTLS          KeyPair
	ControlTLS          KeyPair
	LoginGitHub         OAuthApp       // which managed login providers share
	MaxConns            int            // of callers to the gateway
	MaxConnsFrom        int            // of them from one address; 0 for half
	Drain               time.Duration  // while it is being stopped, how long the server still takes calls
	OfflineStart        bool           // from StateFile, while the database does not answer
	ShutdownTimeout     time.Duration  // how long calls under way then have
	MaxCalls            int            // under way at one environment
	MaxCallsFrom        int            // of them from one address; 0 for half
	MinBodyRate         int            // of requests, in bytes a second; 0 for any
	ControlMaxConns     int            // to the control plane
	ControlMaxConnsFrom int            // of them from one address; 0 for half
	Trusted             []netip.Prefix // proxies whose X-Forwarded headers are believed
	EgressAllow         []netip.Prefix
	Anonymous           Anonymous
	SignUp              SignUpPolicy
	SignIn              SignIn
	KeyPrefix           string
	UnclaimedTTL        time.Duration // how long an unclaimed workspace lives
	ExportTTL           time.Duration // how long an export can be downloaded
	LogLevel            slog.Level
	LogFormat           string // text or json

	Unclaimed
	Database Database
}

// KeyPair names the files of a certificate and its key, in PEM. Without them a
// listener does not speak TLS.
type KeyPair struct{ CertFile, KeyFile string }

// IsSet tells whether there is a pair.
func (p KeyPair) IsSet() bool { return p.CertFile != "" && p.KeyFile != "" }

func (p KeyPair) scheme() string {
	if p.IsSet() {
		return "https://"
	}
	return "http://"
}

// Anonymous says who may call POST /proxy without a credential.
type Anonymous string

// The values of --anonymous.
const (
	AnonymousOpen  Anonymous = "open"  // anybody
	AnonymousToken Anonymous = "token" // whoever knows the installation's token
	AnonymousOff   Anonymous = "off"   // only who is signed in with an account
)

// OAuthApp is an app that is registered with an identity provider; the zero value
// is none.
type OAuthApp struct {
	ClientID     string
	ClientSecret Secret
}

// Secret is a setting that never shows itself.
type Secret = secrets.Secret

// SQLitePath is the database file used when no database URL is set.
func (c Config) SQLitePath() string { return filepath.Join(c.DataDir, "postern.db") }

// SecretsKeyFile holds the key-encryption keys where SecretsKey is empty.
func (c Config) SecretsKeyFile() string { return filepath.Join(c.DataDir, "secrets.key") }

// StateFile holds the gateway's last state, sealed, for a start without the database.
func (c Config) StateFile() string { return filepath.Join(c.DataDir, "gateway.state") }

// ExportDir is where finished zips are kept.
func (c Config) ExportDir() string { return filepath.Join(c.DataDir, "exports") }

// Address is where callers reach an environment, without a trailing slash: by
// host where the domain has subdomains, by path on localhost and addresses.
func (c Config) Address(project, version, environment string) string {
	rest := "/" + version + "/" + environment
	scheme, host, ok := strings.Cut(c.GatewayURL, "://")
	if _, err := netip.ParseAddr(c.GatewayDomain); !ok || err == nil || c.GatewayDomain == "localhost" {
		return c.GatewayURL + "/" + project + rest
	}
	return scheme + "://" + project + "." + host + rest
}

// GatewayHost is the host of GatewayURL, without its port and in lower case.
func (c Config) GatewayHost() string {
	u, err := url.Parse(c.GatewayURL)
	if err != nil {
		return ""
	}
	host, _ := strings.CutSuffix(u.Host, ":"+u.Port())
	return strings.ToLower(host)
}

// OwnNames are the host names of this installation that no upstream may have.
// The bare names of the machine itself are not among them: other services may
// well run there, and our own ports are refused by address.
func (c Config) OwnNames() []string {
	var names []string
	for _, raw := range []string{c.PublicURL, c.GatewayURL} {
		if u, err := url.Parse(raw); err == nil && !machineName(u.Hostname()) {
			names = append(names, u.Hostname())
		}
	}
	return names
}

// OwnDomains are the domains whose every subdomain is ours.
func (c Config) OwnDomains() []string {
	if machineName(c.GatewayDomain) {
		return nil
	}
	return []string{c.GatewayDomain}
}

func machineName(host string) bool {
	_, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil
}

// LoopbackOnly tells whether both listeners can be reached from this machine
// only. Then, and only then, loopback upstreams are allowed without asking:
// whoever can reach the gateway can reach those upstreams anyway. A public
// address says that something stands in front which lets others in.
func (c Config) LoopbackOnly() bool {
	return isLoopback(c.ControlAddr) && isLoopback(c.GatewayAddr) && isLocalURL(c.PublicURL) && isLocalURL(c.GatewayURL)
}

func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// Derived fills in the addresses that follow from others where they were left
// empty. It is called once it is known which ports the listeners really have.
func (c Config) Derived() Config {
	if c.PublicURL == "" {
		c.PublicURL = c.ControlTLS.scheme() + reachable(c.ControlAddr)
	}
	if c.GatewayURL == "" {
		c.GatewayURL = defaultGatewayURL(c)
	}
	return c
}

// validate checks the whole; the error names every wrong setting, not the first.
// failed are those that could not be read and have been named already.
func (c *Config) validate(failed map[string]bool) error {
	var problems []error
	report := func(setting, format string, args ...any) {
		if failed[setting] {
			return
		}
		problems = append(problems, fmt.Errorf("%s: %s", setting, fmt.Sprintf(format, args...)))
	}
	checkAddr := func(setting, addr string) {
		if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
			report(setting, "%q is not host:port, for example 127.0.0.1:8080", addr)
		}
	}
	checkAddr("--control-addr", c.ControlAddr)
	checkAddr("--gateway-addr", c.GatewayAddr)
	u := c.DatabaseURL.Reveal()
	if u != "" && !strings.HasPrefix(u, "postgres://") && !strings.HasPrefix(u, "postgresql://") {
		report("--database-url", "only postgres:// addresses are read; leave it empty for SQLite in the data directory")
	}
	if (c.LoginGitHub.ClientID == "") != (c.LoginGitHub.ClientSecret == "") {
		report("--login-github-client-id", "needs --login-github-client-secret, and the other way round")
	}
	if c.DataDir == "" {
		report("--data-dir", "must name a directory")
	}
	if c.GatewayDomain == "" || strings.ContainsAny(c.GatewayDomain, "/:@ ") {
		report("--gateway-domain", "%q is not a bare domain such as proxy.example.com", c.GatewayDomain)
	}
	checkURL := func(setting string, raw *string) {
		if *raw == "" {
			return
		}
		u, err := url.Parse(*raw)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" ||
			strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
			report(setting, "%q is not an address such as https://postern.example.com", *raw)
		}
		*raw = strings.TrimRight(*raw, "/")
	}
	checkURL("--public-url", &c.PublicURL)
	checkURL("--gateway-url", &c.GatewayURL)
	c.checkSignIn(report)
	checkPair := func(setting string, p KeyPair) {
		if (p.CertFile == "") != (p.KeyFile == "") {
			report(setting+"-cert", "it and %s-key go together: set both, or neither", setting)
		}
	}
	checkPair("--gateway-tls", c.GatewayTLS)
	checkPair("--control-tls", c.ControlTLS)
	c.checkLimits(report)
	if !validKeyPrefix(c.KeyPrefix) {
		report("--key-prefix", "%q is not 2 to 16 lower-case letters and digits that start with a letter", c.KeyPrefix)
	}
	c.Unclaimed.validate(c.Anonymous, report)
	c.Database.validate(report)
	if c.UnclaimedTTL < time.Hour {
		report("--unclaimed-ttl", "%s is less than an hour", c.UnclaimedTTL)
	}
	if c.ExportTTL < time.Minute {
		report("--export-ttl", "%s is less than a minute", c.ExportTTL)
	}
	return errors.Join(problems...)
}

func (c *Config) checkLimits(report func(setting, format string, args ...any)) {
	for _, bound := range []struct {
		setting      string
		value, least int
	}{
		{"--gateway-max-connections", c.MaxConns, 16},
		{"--gateway-max-connections-per-address", c.MaxConnsFrom, 0},
		{"--gateway-max-calls", c.MaxCalls, 1},
		{"--gateway-max-calls-per-address", c.MaxCallsFrom, 0},
		{"--gateway-min-body-rate", c.MinBodyRate, 0},
		{"--control-max-connections", c.ControlMaxConns, 16},
		{"--control-max-connections-per-address", c.ControlMaxConnsFrom, 0},
	} {
		if bound.value < bound.least {
			report(bound.setting, "%d is less than %d", bound.value, bound.least)
		}
	}
	if c.Drain < 0 {
		report("--drain", "%s is less than nothing; 0s takes no further calls", c.Drain)
	}
	if c.ShutdownTimeout < 0 {
		report("--shutdown-timeout", "%s is less than nothing; 0s cuts calls off at once", c.ShutdownTimeout)
	}
}

// reachable replaces an unspecified host by the loopback name, for an address
// that a person can open.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip, err := netip.ParseAddr(host); host == "" || (err == nil && ip.IsUnspecified()) {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// defaultGatewayURL keeps the listener's own address while the domain is the
// default, so that what is shown works without any name resolution.
func defaultGatewayURL(c Config) string {
	_, port, err := net.SplitHostPort(c.GatewayAddr)
	if err != nil {
		return ""
	}
	if c.GatewayDomain == "localhost" {
		return c.GatewayTLS.scheme() + reachable(c.GatewayAddr)
	}
	return c.GatewayTLS.scheme() + net.JoinHostPort(c.GatewayDomain, port)
}

func validKeyPrefix(s string) bool {
	if len(s) < 2 || len(s) > 16 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}
