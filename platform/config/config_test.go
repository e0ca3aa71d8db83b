package config_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"postern/platform/config"
	"postern/testkit"
)

func load(t *testing.T, environ []string, args ...string) (config.Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return config.Load(flags, environ)
}

func TestLoad_precedence(t *testing.T) {
	environ := []string{"POSTERN_CONTROL_ADDR=127.0.0.1:1", "POSTERN_GATEWAY_ADDR=127.0.0.1:2"}
	c, err := load(t, environ, "--control-addr", "127.0.0.1:3")
	if err != nil {
		t.Fatal(err)
	}
	if c.ControlAddr != "127.0.0.1:3" {
		t.Errorf("ControlAddr %q, want that of the flag", c.ControlAddr)
	}
	if c.GatewayAddr != "127.0.0.1:2" {
		t.Errorf("GatewayAddr %q, want that of the variable", c.GatewayAddr)
	}
	if c.KeyPrefix != "pst" {
		t.Errorf("KeyPrefix %q, want the default", c.KeyPrefix)
	}
}

// TestLoad_newline sets every secret setting from a file that was made with echo.
func TestLoad_newline(t *testing.T) {
	for variable, field := range testkit.ByName(map[string]func(*config.Config) config.Secret{
		"POSTERN_METRICS_TOKEN":       func(c *config.Config) config.Secret { return c.MetricsToken },
		"POSTERN_AUDIT_WEBHOOK":       func(c *config.Config) config.Secret { return c.AuditStream.Webhook },
		"POSTERN_AUDIT_WEBHOOK_TOKEN": func(c *config.Config) config.Secret { return c.AuditStream.Token },
		"POSTERN_REDIS_URL":           func(c *config.Config) config.Secret { return c.RedisURL },
	}) {
		t.Run(variable, func(t *testing.T) {
			const value = "https://127.0.0.1/hook"
			environ := []string{"POSTERN_AUDIT_WEBHOOK=" + value, variable + "=" + value + "\n"}
			c, _ := load(t, environ) // not every one is valid for its setting
			if got := field(&c).Reveal(); got != value {
				t.Errorf("%q, want it without the newline", got)
			}
		})
	}
	if c, err := load(t, []string{"POSTERN_METRICS_TOKEN=\n"}); err != nil || c.MetricsToken != "" {
		t.Errorf("a newline alone is taken for a token, or refused: %v", err)
	}
}

func TestLoad_everyProblem(t *testing.T) {
	_, err := load(t, []string{"POSTERN_ANONYMOUS=maybe", "POSTERN_EGRESS_ALLOW=10.0.0.0"}, "--unclaimed-ttl", "soon")
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"POSTERN_ANONYMOUS", "POSTERN_EGRESS_ALLOW", "--unclaimed-ttl"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %v", want, err)
		}
	}
}

func TestLoad_addresses(t *testing.T) {
	tests := []struct {
		args             []string
		public, gateway  string
		loopbackListener bool
	}{
		{nil, "http://127.0.0.1:8080", "http://127.0.0.1:8090", true},
		{[]string{"--control-addr", "0.0.0.0:80"}, "http://localhost:80", "http://127.0.0.1:8090", false},
		{
			[]string{"--gateway-domain", "proxy.example.com"},
			"http://127.0.0.1:8080",
			"http://proxy.example.com:8090",
			false,
		},
		{
			[]string{"--gateway-tls-cert", "c", "--gateway-tls-key", "k"},
			"http://127.0.0.1:8080",
			"https://127.0.0.1:8090",
			true,
		},
		{
			[]string{"--gateway-tls-cert", "c", "--gateway-tls-key", "k", "--gateway-domain", "p.test"},
			"http://127.0.0.1:8080",
			"https://p.test:8090",
			false,
		},
		{
			[]string{"--control-tls-cert", "c", "--control-tls-key", "k"},
			"https://127.0.0.1:8080",
			"http://127.0.0.1:8090",
			true,
		},
		{[]string{"--public-url", "https://p.example.com/"}, "https://p.example.com", "http://127.0.0.1:8090", false},
	}
	for _, tt := range tests {
		c, err := load(t, nil, tt.args...)
		if err != nil {
			t.Errorf("%v: %v", tt.args, err)
			continue
		}
		c = c.Derived()
		if c.PublicURL != tt.public {
			t.Errorf("%v: PublicURL %q, want %q", tt.args, c.PublicURL, tt.public)
		}
		if c.GatewayURL != tt.gateway {
			t.Errorf("%v: GatewayURL %q, want %q", tt.args, c.GatewayURL, tt.gateway)
		}
		if c.LoopbackOnly() != tt.loopbackListener {
			t.Errorf("%v: LoopbackOnly %v, want %v", tt.args, c.LoopbackOnly(), tt.loopbackListener)
		}
	}
}

func TestLoad_invalid(t *testing.T) {
	for _, args := range [][]string{
		{"--control-addr", "8080"},
		{"--database-url", "mysql://x"},
		{"--gateway-domain", "http://x"},
		{"--public-url", "ftp://x"},
		{"--public-url", "https://x/base"},
		{"--key-prefix", "P_"},
		{"--log-format", "xml"},
		{"--gateway-http2", "yes"},
		{"--gateway-tls-cert", "c"},
		{"--gateway-tls-dir", "d"},
		{"--acme-directory", "http://acme.test/directory", "--acme-accept-terms", "yes"},
		{"--acme-directory", "https://acme.test/directory", "--acme-accept-terms", "yes"},
		{
			"--acme-accept-terms", "no", "--acme-directory", "https://acme.test/directory", "--gateway-tls-cert", "c",
			"--gateway-tls-key", "k",
		},
		{"--acme-accept-terms", "perhaps"},
		{"--acme-email", "Ops <ops@acme.test>"},
		{"--control-tls-key", "k"},
		{"--export-ttl", "1s"},
		{"--database-max-connections", "9"},
		{"--database-idle-timeout", "2ms"},
		{"--database-lock-timeout", "2s", "--database-idle-timeout", "2s"},
		{"--unclaimed-caps", "some"},
		{"--unclaimed-grace", "-1h"},
		{"--anonymous-token", "short", "--anonymous", "token"},
	} {
		if _, err := load(t, nil, args...); err == nil || !strings.Contains(err.Error(), args[0]) {
			t.Errorf("%v: got %v", args, err)
		}
	}
}

// By default the caps hold if another machine can reach a listener.
func TestLoad_caps(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want bool
	}{
		{nil, false},
		{[]string{"--control-addr", "localhost:1", "--gateway-addr", "[::1]:2"}, false},
		{[]string{"--gateway-addr", ":8090"}, true},
		{[]string{"--control-addr", "192.0.2.1:80"}, true},
		{[]string{"--public-url", "https://p.example.com"}, true},
		{[]string{"--gateway-url", "https://g.example.com"}, true},
		{[]string{"--unclaimed-caps", "on"}, true},
		{[]string{"--gateway-addr", ":8090", "--unclaimed-caps", "off"}, false},
	} {
		c, err := load(t, nil, tt.args...)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Derived().CapsApply(); got != tt.want {
			t.Errorf("%v: caps hold: %v, want %v", tt.args, got, tt.want)
		}
	}
}

func TestLoad_secrets(t *testing.T) {
	c, err := load(t, []string{
		"POSTERN_BLOB_URL=s3://zips?endpoint=http://127.0.0.1:9000",
		"POSTERN_DATABASE_URL=postgres://u:canary@db/x",
		"POSTERN_ANONYMOUS_TOKEN=canary-canary-canary",
	})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("start", "config", c, "url", c.DatabaseURL)
	for _, shown := range []string{log.String(), fmt.Sprintf("%v %+v %#v", c, c, c.DatabaseURL)} {
		if strings.Contains(shown, "canary") {
			t.Errorf("shows a secret: %s", shown)
		}
	}
}

func TestAddress_subdomains(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "http://127.0.0.1:8090/shop/1.0.0/prod"},
		{
			[]string{"--gateway-domain", "proxy.example.com", "--gateway-url", "https://proxy.example.com"},
			"https://shop.proxy.example.com/1.0.0/prod",
		},
	} {
		c, err := load(t, nil, tt.args...)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Derived().Address("shop", "1.0.0", "prod"); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.args, got, tt.want)
		}
	}
}

// The Host of calls to an upstream can't be a name that the gateway answers for. A target can: its address is checked.
func TestIsOwnHost(t *testing.T) {
	own := []string{
		"--gateway-domain", "Gw.example", "--gateway-url", "https://in.example:8443",
		"--public-url", "https://Panel.example",
	}
	for _, tt := range []struct {
		host string
		args []string
		want bool
	}{
		{"localhost", nil, true},
		{"shop.localhost", nil, true},
		{"a.shop.localhost", nil, true},
		{"notlocalhost", nil, false},
		{"localhost.example", nil, false},
		{"api.example", nil, false},
		{"localhost", own, true},
		{"shop.localhost", own, false},
		{"gw.example", own, true},
		{"shop.gw.example", own, true},
		{"notgw.example", own, false},
		{"in.example", own, true},
		{"shop.in.example", own, false},
		{"panel.example", own, true},
		{"example", own, false},
	} {
		c, err := load(t, nil, tt.args...)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Derived().IsOwnHost(tt.host); got != tt.want {
			t.Errorf("%s with %v: got %t, want %t", tt.host, tt.args, got, tt.want)
		}
	}
}
