package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// setting is one row of the configuration table: where it can be set, what it
// is without that, and how it is read.
type setting struct {
	flag   string
	value  string // default, as a person would write it
	help   string
	assign func(c *Config, value string) error
}

func (s setting) variable() string {
	return "POSTERN_" + strings.ToUpper(strings.ReplaceAll(s.flag, "-", "_"))
}

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error { *field(c) = v; return nil }
}

func duration(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil {
			return fmt.Errorf("%q is not a duration such as 90m or 720h", v)
		}
		*field(c) = d
		return nil
	}
}

func number(field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil {
			return fmt.Errorf("%q is not a number", v)
		}
		*field(c) = n
		return nil
	}
}

// settings is the complete list, in the order of the help and the README.
func settings() []setting {
	return slices.Concat(basicSettings(), databaseSettings(), signInSettings())
}

func basicSettings() []setting {
	return []setting{
		{
			"control-addr",
			"127.0.0.1:8080",
			"address of the control plane: dashboard, JSON API, POST /proxy",
			text(func(c *Config) *string { return &c.ControlAddr }),
		},
		{
			"gateway-addr",
			"127.0.0.1:8090",
			"address of the gateway that proxied calls reach",
			text(func(c *Config) *string { return &c.GatewayAddr }),
		},
		{
			"data-dir",
			"./data",
			"directory of the SQLite database and the finished exports; replicas share it",
			text(func(c *Config) *string { return &c.DataDir }),
		},
		{
			"database-url",
			"",
			"postgres:// address of the state; empty means SQLite in the data directory",
			func(c *Config, v string) error { c.DatabaseURL = Secret(v); return nil },
		},
		{"secrets-key", "", "comma-separated keys, each 32 bytes in base64, that wrap the data keys of secrets at " +
			"rest: the first in use, then older ones; empty means the file secrets.key in the data directory, made " +
			"at the first start", func(c *Config, v string) error { c.SecretsKey = Secret(v); return nil }},
		{"redis-url", "", "redis:// address where replicas count calls against rate limits together; empty means " +
			"that each counts by itself", func(c *Config, v string) error { c.RedisURL = Secret(v); return nil }},
		{"redis-failure", "open", "while Redis is down: open (each replica counts by itself) or closed (calls with " +
			"limits are answered 503)", assignRedisFailure},
		{
			"public-url",
			"",
			"how browsers reach the control plane; empty means its address",
			text(func(c *Config) *string { return &c.PublicURL }),
		},
		{
			"gateway-url",
			"",
			"how callers reach the gateway's bare domain; empty means domain and port of the gateway",
			text(func(c *Config) *string { return &c.GatewayURL }),
		},
		{
			"gateway-domain",
			"localhost",
			"domain whose subdomains are projects: <project>.<domain>",
			text(func(c *Config) *string { return &c.GatewayDomain }),
		},
		{"gateway-tls-cert", "", "PEM file of the gateway's certificate, which is read again when it changes; empty " +
			"means no TLS", text(func(c *Config) *string { return &c.GatewayTLS.CertFile })},
		{
			"gateway-tls-key",
			"",
			"PEM file of its private key",
			text(func(c *Config) *string { return &c.GatewayTLS.KeyFile }),
		},
		{
			"control-tls-cert",
			"",
			"the same for the control plane",
			text(func(c *Config) *string { return &c.ControlTLS.CertFile }),
		},
		{
			"control-tls-key",
			"",
			"PEM file of its private key",
			text(func(c *Config) *string { return &c.ControlTLS.KeyFile }),
		},
		{"gateway-max-connections", "16384", "most connections of callers at once; never more than three eighths of " +
			"the file descriptors", number(func(c *Config) *int { return &c.MaxConns })},
		{"gateway-max-connections-per-address", "0", "most of them from one address, for IPv6 from one /64; 0 means " +
			"half, and trusted proxies may take all", number(func(c *Config) *int { return &c.MaxConnsFrom })},
		{
			"gateway-max-calls",
			"1024",
			"most calls under way at one environment",
			number(func(c *Config) *int { return &c.MaxCalls }),
		},
		{
			"gateway-max-calls-per-address",
			"0",
			"most of them from one address, for IPv6 from one /64; 0 means half",
			number(func(c *Config) *int { return &c.MaxCallsFrom }),
		},
		{"gateway-min-body-rate", "240", "bytes a second that a request's body has to come with, averaged over the " +
			"time it is waited for, once that is more than 10 s; 0 means any", number(func(c *Config) *int { return &c.MinBodyRate })},
		{"control-max-connections", "1024", "most connections to the control plane at once; never more than an " +
			"eighth of the file descriptors", number(func(c *Config) *int { return &c.ControlMaxConns })},
		{"control-max-connections-per-address", "0", "most of them from one address, for IPv6 from one /64; 0 means " +
			"half, and trusted proxies may take all", number(func(c *Config) *int { return &c.ControlMaxConnsFrom })},
		{
			"drain",
			"5s",
			"after SIGTERM, how long calls are still taken while /readyz answers 503; Ctrl-C skips it",
			duration(func(c *Config) *time.Duration { return &c.Drain }),
		},
		{
			"shutdown-timeout",
			"10s",
			"how long calls under way then have until they are cut off",
			duration(func(c *Config) *time.Duration { return &c.ShutdownTimeout }),
		},
		{"offline-start", "on", "whether the gateway's state is kept on disk, sealed, and served after a start " +
			"while PostgreSQL does not answer: on or off", assignOfflineStart},
		{
			"trusted-proxies",
			"",
			"comma-separated CIDRs of proxies before Postern, whose X-Forwarded headers are believed",
			networks(func(c *Config) *[]netip.Prefix { return &c.Trusted }),
		},
		{
			"egress-allow",
			"",
			"comma-separated CIDRs that may be reached although they are private, and there every port",
			networks(func(c *Config) *[]netip.Prefix { return &c.EgressAllow }),
		},
		{"anonymous", "open", "who may call POST /proxy without signing in: open (anybody), token (whoever knows " +
			"--anonymous-token) or off", assignAnonymous},
		{
			"anonymous-token",
			"",
			"what callers send as Postern-Anonymous-Token to create a proxy when --anonymous is token",
			func(c *Config, v string) error { c.AnonymousToken = Secret(v); return nil },
		},
		{"login-github-client-id", "", "client id of the installation's shared GitHub app, for login providers that " +
			"are managed; empty: none are", text(func(c *Config) *string { return &c.LoginGitHub.ClientID })},
		{
			"login-github-client-secret",
			"",
			"client secret of the shared GitHub app",
			func(c *Config, v string) error { c.LoginGitHub.ClientSecret = Secret(v); return nil },
		},
		{"key-prefix", "pst", "what new API keys start with", text(func(c *Config) *string { return &c.KeyPrefix })},
		{
			"unclaimed-ttl",
			"720h",
			"how long a proxy lives that nobody claims",
			duration(func(c *Config) *time.Duration { return &c.UnclaimedTTL }),
		},
		{"unclaimed-grace", "168h", "how long one that has ended answers 410 before it is deleted and its name is " +
			"free again", duration(func(c *Config) *time.Duration { return &c.UnclaimedGrace })},
		{"unclaimed-caps", "auto", "limits on what nobody has claimed: on, off, or auto, which is on unless this " +
			"machine alone can reach the listeners", assignCaps},
		{
			"export-ttl",
			"24h",
			"how long a finished export can be downloaded",
			duration(func(c *Config) *time.Duration { return &c.ExportTTL }),
		},
		{"metrics-token", "", "what Prometheus sends as a bearer token to read /metrics of the control plane; empty " +
			"means that this machine alone may read it, where nothing else can reach the listeners", func(c *Config, v string) error { c.MetricsToken = Secret(v); return nil }},
		{"log-level", "info", "debug, info, warn or error", func(c *Config, v string) error {
			if err := c.LogLevel.UnmarshalText([]byte(v)); err != nil {
				return fmt.Errorf("%q is none of debug, info, warn, error", v)
			}
			return nil
		}},
		{"log-format", "text", "text or json", assignLogFormat},
	}
}

func networks(field func(*Config) *[]netip.Prefix) func(*Config, string) error {
	return func(c *Config, v string) error {
		*field(c) = nil
		for _, part := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' }) {
			prefix, err := netip.ParsePrefix(part)
			if err != nil {
				return fmt.Errorf("%q is not a CIDR such as 10.0.0.0/8", part)
			}
			*field(c) = append(*field(c), prefix.Masked())
		}
		return nil
	}
}

func assignRedisFailure(c *Config, v string) error {
	if v != "open" && v != "closed" {
		return fmt.Errorf("%q is none of open, closed", v)
	}
	c.RedisFailsOpen = v == "open"
	return nil
}

func assignOfflineStart(c *Config, v string) error {
	if v != "on" && v != "off" {
		return fmt.Errorf("%q is none of on, off", v)
	}
	c.OfflineStart = v == "on"
	return nil
}

func assignAnonymous(c *Config, v string) error {
	switch a := Anonymous(v); a {
	case AnonymousOpen, AnonymousToken, AnonymousOff:
		c.Anonymous = a
		return nil
	}
	return fmt.Errorf("%q is none of open, token, off", v)
}

func assignLogFormat(c *Config, v string) error {
	if v != "text" && v != "json" {
		return fmt.Errorf("%q is neither text nor json", v)
	}
	c.LogFormat = v
	return nil
}

// AddFlags declares a flag for every setting.
func AddFlags(flags *pflag.FlagSet) {
	for _, s := range settings() {
		flags.String(s.flag, s.value, fmt.Sprintf("%s (%s)", s.help, s.variable()))
	}
}

// Load reads the settings from flags (declared by AddFlags) and the
// environment. Its error lists every problem, one a line, each naming the
// setting and the mend.
func Load(flags *pflag.FlagSet, environ []string) (Config, error) {
	env := map[string]string{}
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok && strings.HasPrefix(name, "POSTERN_") {
			env[name] = value
		}
	}
	var c Config
	var problems []error
	failed := map[string]bool{} // by flag: not to be complained of twice
	for _, s := range settings() {
		value, from := s.value, "--"+s.flag
		if v, ok := env[s.variable()]; ok && v != "" {
			value, from = v, s.variable()
		}
		if f := flags.Lookup(s.flag); f != nil && f.Changed {
			value, from = f.Value.String(), "--"+s.flag
		}
		if err := s.assign(&c, value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", from, err))
			failed["--"+s.flag] = true
		}
	}
	return c, errors.Join(append(problems, c.validate(failed))...)
}

// Default is the configuration without flags and variables.
func Default() Config {
	c, err := Load(pflag.NewFlagSet("default", pflag.ContinueOnError), nil)
	if err != nil {
		panic(fmt.Sprintf("config: the defaults do not validate: %v", err))
	}
	return c
}

// Logger writes to standard error in the configured format and level.
func (c Config) Logger() *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

// Markdown is the configuration table of the README.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| Flag | Variable | Default | Meaning |\n|---|---|---|---|\n")
	for _, s := range settings() {
		value := "none"
		if s.value != "" {
			value = "`" + s.value + "`"
		}
		fmt.Fprintf(
			&b,
			"| `--%s` | `%s` | %s | %s |\n",
			s.flag,
			s.variable(),
			value,
			strings.NewReplacer("<", "\\<", "|", "\\|").Replace(s.help),
		)
	}
	return b.String()
}
