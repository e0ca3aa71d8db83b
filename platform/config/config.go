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
	"slices"
	"strings"
	"time"

	"postern/platform/secrets"
)

// LeastStaleAfter is the minimum of --gateway-stale-after, apart from 0: a few polls of the change feed.
const LeastStaleAfter = 5 * time.Second

// Config is every setting, parsed.
type Config struct {
	Roles               Roles
	ControlAddr         string // host:port of the control plane
	GatewayAddr         string // host:port of the gateway
	AdminAddr           string // host:port of profiles and metrics without a credential; "" for none
	DataDir             string // of SQLite, exports and the lock
	DatabaseURL         Secret // "" for SQLite in DataDir, postgres://… otherwise
	SecretsKey          Secret // key-encryption keys, the first in use; "" for those of SecretsKeyFile
	MetricsToken        Secret // required to read /metrics; "": only callers on this machine can
	Blob                Blob
	RedisURL            Secret        // "" for counters in memory
	RedisFailsOpen      bool          // while Redis is down, each replica counts separately
	PublicURL           string        // of the control plane for browsers, without a trailing slash
	GatewayURL          string        // of the gateway's bare domain for callers, without a trailing slash
	GatewayStaleAfter   time.Duration // age of the gateway's state at which its /readyz answers 503; 0 for none
	GatewayDomain       string        // the bare domain; <project>.<domain> addresses a project
	DNSServer           string        // host:port that TXT records are looked up at; "" for the system's
	GatewayTLS          KeyPair
	GatewayHTTP2        string // own, nethttp or off
	GatewayH2C          bool   // callers may use HTTP/2 without TLS
	GatewayTLSDir       string // with the certificates of custom host names, "" for none
	ACME                ACME
	ControlTLS          KeyPair
	LoginGitHub         OAuthApp       // that managed login providers share
	LoginLanguages      string         // directory of language files for the hosted login's pages, "" for none
	MaxConns            int            // of callers to the gateway
	MaxConnsFrom        int            // of them from one address; 0 for half
	Drain               time.Duration  // after a stop signal, how long the server still accepts calls
	OfflineStart        bool           // start from StateFile while the database does not answer
	ShutdownTimeout     time.Duration  // for ongoing calls, after Drain
	MaxCalls            int            // ongoing at one environment
	MaxCallsFrom        int            // of them from one address; 0 for half
	MinBodyRate         int            // of requests, in bytes a second; 0 for any
	BodyMemory          int            // for bodies that are held whole, in MB
	BodyMemoryOfOne     int            // of it for one team; 0 for a quarter
	DocumentMemory      int            // for compiled OpenAPI documents, in MB
	ControlMaxConns     int            // to the control plane
	ControlMaxConnsFrom int            // of them from one address; 0 for half
	Trusted             []netip.Prefix // proxies whose X-Forwarded headers are trusted
	EgressAllow         []netip.Prefix
	Anonymous           Anonymous
	AccountSignUp       AccountSignUp
	SignIn              SignIn
	Mail                Mail
	KeyPrefix           string
	UnclaimedTTL        time.Duration // how long an unclaimed workspace lives
	ExportTTL           time.Duration // how long an export can be downloaded
	LogLevel            slog.Level
	LogFormat           string // text or json

	Unclaimed
	Database    Database
	AccessLog   AccessLog
	AuditStream AuditStream
	Traces      Traces
	Retention   Retention
}

// KeyPair names the PEM files of a certificate and its key. A listener without them
// does not use TLS.
type KeyPair struct{ CertFile, KeyFile string }

// IsSet reports whether both files are set.
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
	AnonymousOpen  Anonymous = "open"  // every caller
	AnonymousToken Anonymous = "token" // callers that send the installation's token
	AnonymousOff   Anonymous = "off"   // no anonymous caller, only accounts
)

// OAuthApp is an app that is registered with an identity provider. The zero value
// means that there is none.
type OAuthApp struct {
	ClientID     string
	ClientSecret Secret
}

// Secret is a setting whose value is never printed.
type Secret = secrets.Secret

// SQLitePath returns the database file used when no database URL is set.
func (c Config) SQLitePath() string { return filepath.Join(c.DataDir, "postern.db") }

// SecretsKeyFile returns the file of the key-encryption keys used when SecretsKey is empty.
func (c Config) SecretsKeyFile() string { return filepath.Join(c.DataDir, "secrets.key") }

// StateFile returns the file of the gateway's last state, which is sealed and used to
// start without the database.
func (c Config) StateFile() string { return filepath.Join(c.DataDir, "gateway.state") }

// UploadDir returns the directory of zips while they are imported.
func (c Config) UploadDir() string { return filepath.Join(c.DataDir, "uploads") }

// ExportDir returns the directory of finished exports, if they are not in a bucket.
func (c Config) ExportDir() string {
	if c.Blob.Dir != "" {
		return c.Blob.Dir
	}
	return filepath.Join(c.DataDir, "exports")
}

// Address returns the URL of an environment for callers, without a trailing slash. It
// has the project in the host, or, if GatewayDomain is localhost or an address, in the
// path.
func (c Config) Address(project, version, environment string) string {
	return c.ProjectAddress(project) + "/" + version + "/" + environment
}

// ProjectAddress returns what the URLs of a project's environments begin with.
func (c Config) ProjectAddress(project string) string {
	scheme, host, ok := strings.Cut(c.GatewayURL, "://")
	if _, err := netip.ParseAddr(c.GatewayDomain); !ok || err == nil || c.GatewayDomain == "localhost" {
		return c.GatewayURL + "/" + project
	}
	return scheme + "://" + project + "." + host
}

// GatewayHost returns the host of GatewayURL, without its port and in lowercase.
func (c Config) GatewayHost() string { return hostOf(c.GatewayURL) }

// PublicHost returns the host of PublicURL, without its port and in lowercase.
func (c Config) PublicHost() string { return hostOf(c.PublicURL) }

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	host, _ := strings.CutSuffix(u.Host, ":"+u.Port())
	return strings.ToLower(host)
}

// OwnNames returns the host names of this installation, which no upstream may have.
// It leaves out localhost and addresses: other services may run on the machine, and
// our own ports are refused by address.
func (c Config) OwnNames() []string {
	var names []string
	for _, raw := range []string{c.PublicURL, c.GatewayURL} {
		if u, err := url.Parse(raw); err == nil && !machineName(u.Hostname()) {
			names = append(names, u.Hostname())
		}
	}
	return names
}

// OwnDomains returns the domains of which every subdomain is ours.
func (c Config) OwnDomains() []string {
	if machineName(c.GatewayDomain) {
		return nil
	}
	return []string{c.GatewayDomain}
}

// IsOwnHost reports whether a call with this Host, in lowercase and without a port, could reach this installation: its
// names, those below its domains, and, unlike for OwnNames, localhost, which the gateway always answers for.
func (c Config) IsOwnHost(host string) bool {
	domain := strings.ToLower(c.GatewayDomain)
	return host == "localhost" || host == domain || strings.HasSuffix(host, "."+domain) ||
		slices.ContainsFunc(c.OwnNames(), func(name string) bool { return strings.EqualFold(name, host) })
}

func machineName(host string) bool {
	_, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil
}

// LoopbackOnly reports whether both listeners can be reached from this machine only.
// Only then are loopback upstreams allowed without a setting: every caller of the
// gateway can reach those upstreams anyway. A public address implies a proxy in front
// of the listeners that lets other machines in.
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

// Derived returns c with PublicURL and GatewayURL derived from the listeners if they
// are empty. Call it when the listeners' ports are known.
func (c Config) Derived() Config {
	if c.PublicURL == "" {
		c.PublicURL = c.ControlTLS.scheme() + reachable(c.ControlAddr)
	}
	if c.GatewayURL == "" {
		c.GatewayURL = defaultGatewayURL(c)
	}
	return c
}

// validate checks all settings and returns an error that names every wrong one. failed
// has the settings that could not be parsed and have been reported already.
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
			report(setting, "must be host:port, such as 127.0.0.1:8080, not %q", addr)
		}
	}
	checkAddr("--control-addr", c.ControlAddr)
	checkAddr("--gateway-addr", c.GatewayAddr)
	if c.AdminAddr != "" {
		checkAddr("--admin-addr", c.AdminAddr)
	}
	u := c.DatabaseURL.Reveal()
	if u != "" && !strings.HasPrefix(u, "postgres://") && !strings.HasPrefix(u, "postgresql://") {
		report("--database-url", "must be a postgres:// URL, or empty for SQLite in the data directory")
	}
	if (c.LoginGitHub.ClientID == "") != (c.LoginGitHub.ClientSecret == "") {
		report("--login-github-client-id", "must be set together with --login-github-client-secret")
	}
	if c.DataDir == "" {
		report("--data-dir", "must be a directory")
	}
	if c.GatewayDomain == "" || strings.ContainsAny(c.GatewayDomain, "/:@ ") {
		report("--gateway-domain", "must be a domain without a scheme or port, such as proxy.example.com, not %q",
			c.GatewayDomain)
	}
	checkURL := func(setting string, raw *string) {
		if *raw == "" {
			return
		}
		u, err := url.Parse(*raw)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" ||
			strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
			report(setting, "must be a URL such as https://postern.example.com, not %q", *raw)
		}
		*raw = strings.TrimRight(*raw, "/")
	}
	checkURL("--public-url", &c.PublicURL)
	checkURL("--gateway-url", &c.GatewayURL)
	c.checkSignIn(report)
	c.Mail.parse(report)
	checkPair := func(setting string, p KeyPair) {
		if (p.CertFile == "") != (p.KeyFile == "") {
			report(setting+"-cert", "must be set together with %s-key", setting)
		}
	}
	checkPair("--gateway-tls", c.GatewayTLS)
	checkPair("--control-tls", c.ControlTLS)
	if c.GatewayTLSDir != "" && !c.GatewayTLS.IsSet() {
		report("--gateway-tls-dir", "requires --gateway-tls-cert and --gateway-tls-key for all other host names")
	}
	c.ACME.validate(c.GatewayTLS.IsSet() || !c.Roles.Gateway, report)
	c.checkLimits(report)
	if !validKeyPrefix(c.KeyPrefix) {
		report("--key-prefix", "must be 2 to 16 lowercase letters and digits, starting with a letter, not %q",
			c.KeyPrefix)
	}
	c.Unclaimed.validate(c.Anonymous, report)
	c.Database.validate(report)
	c.AccessLog.validate(report)
	c.AuditStream.validate(report)
	if c.UnclaimedTTL < time.Hour {
		report("--unclaimed-ttl", "must be an hour or more, not %s", c.UnclaimedTTL)
	}
	if c.ExportTTL < time.Minute {
		report("--export-ttl", "must be a minute or more, not %s", c.ExportTTL)
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
		{"--gateway-body-memory", c.BodyMemory, 1},
		{"--gateway-body-memory-per-team", c.BodyMemoryOfOne, 0},
		{"--gateway-document-memory", c.DocumentMemory, 1},
		{"--unclaimed-body-memory", c.UnclaimedBodyMemory, 1},
		{"--unclaimed-document-memory", c.UnclaimedDocumentMemory, 1},
		{"--control-max-connections", c.ControlMaxConns, 16},
		{"--control-max-connections-per-address", c.ControlMaxConnsFrom, 0},
	} {
		if bound.value < bound.least {
			report(bound.setting, "must be %d or more, not %d", bound.least, bound.value)
		}
	}
	if c.Drain < 0 {
		report("--drain", "must be 0s or more, not %s", c.Drain)
	}
	if c.GatewayStaleAfter != 0 && c.GatewayStaleAfter < LeastStaleAfter {
		report("--gateway-stale-after", "%s is too short, because the state is always a few polls old: use at least "+
			"%s, or 0s to turn this off", c.GatewayStaleAfter, LeastStaleAfter)
	}
	if c.ShutdownTimeout < 0 {
		report("--shutdown-timeout", "must be 0s or more, not %s", c.ShutdownTimeout)
	}
}

// reachable replaces an unspecified host by localhost, so that a person can open the
// address.
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

// defaultGatewayURL returns the listener's own address while the domain is the default,
// so that the URL works without name resolution.
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
