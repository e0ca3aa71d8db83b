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

// setting is one row of the configuration table.
type setting struct {
	flag   string
	value  string // default
	help   string
	assign func(c *Config, value string) error
}

func (s setting) variable() string {
	return "POSTERN_" + strings.ToUpper(strings.ReplaceAll(s.flag, "-", "_"))
}

// variables returns the names of the variables that set it, the first of which wins.
func (s setting) variables() []string {
	if standard, ok := standardVariables[s.flag]; ok {
		return []string{s.variable(), standard}
	}
	return []string{s.variable()}
}

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error { *field(c) = v; return nil }
}

func secret(field func(*Config) *Secret) func(*Config, string) error {
	return func(c *Config, v string) error { *field(c) = Secret(v); return nil }
}

func duration(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil {
			return fmt.Errorf("must be a duration such as 90m or 720h, not %q", v)
		}
		*field(c) = d
		return nil
	}
}

func number(field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil {
			return fmt.Errorf("must be a number, not %q", v)
		}
		*field(c) = n
		return nil
	}
}

// settings returns all settings, in the order of the help and docs/configuration.md.
func settings() []setting {
	return slices.Concat(
		[]setting{roleSetting()},
		addressSettings(),
		certificateSettings(),
		acmeSettings(),
		stateSettings(),
		databaseSettings(),
		limitSettings(),
		unclaimedSettings(),
		signInSettings(),
		mailSettings(),
		accessLogSettings(),
		auditSettings(),
		traceSettings(),
		retentionSettings(),
		generalSettings(),
	)
}

func generalSettings() []setting {
	return []setting{
		{
			"key-prefix",
			"pst",
			"prefix of new API keys",
			text(func(c *Config) *string { return &c.KeyPrefix }),
		},
		{
			"egress-allow",
			"",
			"comma-separated private CIDRs that Postern can connect to, on any port",
			networks(func(c *Config) *[]netip.Prefix { return &c.EgressAllow }),
		},
		{
			"login-languages",
			"",
			"directory with language files, such as fr.json, for the hosted login pages, in addition to English " +
				"and German",
			text(func(c *Config) *string { return &c.LoginLanguages }),
		},
		{
			"login-github-client-id",
			"",
			"client ID of the installation's shared GitHub app, for managed login providers; empty means no managed " +
				"login",
			text(func(c *Config) *string { return &c.LoginGitHub.ClientID }),
		},
		{
			"login-github-client-secret",
			"",
			"client secret of the shared GitHub app",
			secret(func(c *Config) *Secret { return &c.LoginGitHub.ClientSecret }),
		},
		{
			"metrics-token",
			"",
			"bearer token that Prometheus sends to /metrics; empty means that only this machine can read /metrics, " +
				"and only if no other machine can reach the listeners",
			secret(func(c *Config) *Secret { return &c.MetricsToken }),
		},
		{
			"log-level",
			"info",
			"minimum log level: debug, info, warn or error",
			func(c *Config, v string) error {
				if err := c.LogLevel.UnmarshalText([]byte(v)); err != nil {
					return fmt.Errorf("must be debug, info, warn or error, not %q", v)
				}
				return nil
			},
		},
		{
			"log-format",
			"text",
			"log format: text or json",
			assignLogFormat,
		},
	}
}

func networks(field func(*Config) *[]netip.Prefix) func(*Config, string) error {
	return func(c *Config, v string) error {
		*field(c) = nil
		for _, part := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' }) {
			prefix, err := netip.ParsePrefix(part)
			if err != nil {
				return fmt.Errorf("must be a CIDR such as 10.0.0.0/8, not %q", part)
			}
			*field(c) = append(*field(c), prefix.Masked())
		}
		return nil
	}
}

func assignLogFormat(c *Config, v string) error {
	if v != "text" && v != "json" {
		return fmt.Errorf("must be text or json, not %q", v)
	}
	c.LogFormat = v
	return nil
}

// AddFlags declares a flag for every setting.
func AddFlags(flags *pflag.FlagSet) {
	for _, s := range settings() {
		flags.String(s.flag, s.value, fmt.Sprintf("%s (%s)", s.help, strings.Join(s.variables(), ", ")))
	}
}

// Load reads the settings from flags (declared by AddFlags) and the environment. Its
// error lists every problem, one a line, with the setting and how to fix it.
func Load(flags *pflag.FlagSet, environ []string) (Config, error) {
	env := map[string]string{}
	for _, pair := range environ {
		name, value, ok := strings.Cut(pair, "=")
		if ok && (strings.HasPrefix(name, "POSTERN_") || strings.HasPrefix(name, "OTEL_")) {
			env[name] = value
		}
	}
	var c Config
	var problems []error
	failed := map[string]bool{} // by flag, so that validate does not report it again
	for _, s := range settings() {
		value, from := s.value, "--"+s.flag
		for _, variable := range slices.Backward(s.variables()) {
			if v := env[variable]; strings.TrimSpace(v) != "" {
				value, from = v, variable
			}
		}
		if f := flags.Lookup(s.flag); f != nil && f.Changed {
			value, from = f.Value.String(), "--"+s.flag
		}
		// No setting begins or ends with white space; the newline of a file it was read from would.
		if err := s.assign(&c, strings.TrimSpace(value)); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", from, err))
			failed["--"+s.flag] = true
		}
	}
	if err := c.Traces.checkStandard(env); err != nil {
		problems = append(problems, err)
	}
	return c, errors.Join(append(problems, c.validate(failed))...)
}

// Default returns the configuration without flags and variables.
func Default() Config {
	c, err := Load(pflag.NewFlagSet("default", pflag.ContinueOnError), nil)
	if err != nil {
		panic(fmt.Sprintf("config: the defaults do not validate: %v", err))
	}
	return c
}

// Logger returns a logger that writes to standard error in the configured format and
// level.
func (c Config) Logger() *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

// Markdown returns the table of docs/configuration.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| Flag | Variable | Default | Meaning |\n|---|---|---|---|\n")
	for _, s := range settings() {
		value := "none"
		if s.value != "" {
			value = "`" + s.value + "`"
		}
		help := strings.NewReplacer("<", "\\<", "|", "\\|").Replace(s.help)
		variables := strings.Join(s.variables(), "`, `")
		fmt.Fprintf(&b, "| `--%s` | `%s` | %s | %s |\n", s.flag, variables, value, help)
	}
	return b.String()
}
