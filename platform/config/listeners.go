package config

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

func addressSettings() []setting {
	return []setting{
		{
			"control-addr",
			"127.0.0.1:8080",
			"address to listen on for the control plane (dashboard, JSON API and POST /proxy)",
			text(func(c *Config) *string { return &c.ControlAddr }),
		},
		{
			"gateway-addr",
			"127.0.0.1:8090",
			"address to listen on for the gateway, which receives proxied calls",
			text(func(c *Config) *string { return &c.GatewayAddr }),
		},
		{
			"admin-addr",
			"",
			"address to listen on for profiles (pprof), metrics and probes; no credential is required, so make it " +
				"available only to your monitoring system; empty means none",
			text(func(c *Config) *string { return &c.AdminAddr }),
		},
		{
			"public-url",
			"",
			"URL that browsers use for the control plane; empty means a URL based on --control-addr",
			text(func(c *Config) *string { return &c.PublicURL }),
		},
		{
			"gateway-url",
			"",
			"URL that callers use for the gateway; empty means a URL based on --gateway-domain and the gateway's port",
			text(func(c *Config) *string { return &c.GatewayURL }),
		},
		{
			"gateway-domain",
			"localhost",
			"domain under which each project has a subdomain: <project>.<domain>",
			text(func(c *Config) *string { return &c.GatewayDomain }),
		},
		{
			"dns-server",
			"",
			"host:port of the name server to query for custom domains' TXT records; empty means the system's name " +
				"servers",
			text(func(c *Config) *string { return &c.DNSServer }),
		},
		{
			"trusted-proxies",
			"",
			"comma-separated CIDRs of proxies in front of Postern whose X-Forwarded headers are trusted",
			networks(func(c *Config) *[]netip.Prefix { return &c.Trusted }),
		},
	}
}

// certificateSettings are the files of the listeners' certificates.
func certificateSettings() []setting {
	return []setting{
		{
			"gateway-tls-cert",
			"",
			"PEM file with the gateway's certificate, reloaded when it changes; empty means no TLS",
			text(func(c *Config) *string { return &c.GatewayTLS.CertFile }),
		},
		{
			"gateway-tls-key",
			"",
			"PEM file with the private key for --gateway-tls-cert",
			text(func(c *Config) *string { return &c.GatewayTLS.KeyFile }),
		},
		{
			"gateway-tls-dir",
			"",
			"directory with PEM files for custom domains, reloaded when they change: NAME.crt with NAME.key, or a " +
				"folder with tls.crt and tls.key; requires --gateway-tls-cert",
			text(func(c *Config) *string { return &c.GatewayTLSDir }),
		},
		{
			"gateway-http2",
			"own",
			"HTTP/2 over TLS for callers: own (Postern's implementation), nethttp (Go's standard library, for " +
				"comparison) or off (only HTTP/1.1)",
			assignHTTP2,
		},
		{
			"gateway-h2c",
			"off",
			"HTTP/2 without TLS (h2c with prior knowledge) for callers such as gRPC clients and " +
				"proxies: on or off; has no effect with --gateway-tls-cert or --gateway-http2 off",
			assignH2C,
		},
		{
			"control-tls-cert",
			"",
			"PEM file with the control plane's certificate, reloaded when it changes; empty means no TLS",
			text(func(c *Config) *string { return &c.ControlTLS.CertFile }),
		},
		{
			"control-tls-key",
			"",
			"PEM file with the private key for --control-tls-cert",
			text(func(c *Config) *string { return &c.ControlTLS.KeyFile }),
		},
	}
}

func limitSettings() []setting {
	return []setting{
		{
			"gateway-max-connections",
			"16384",
			"maximum number of simultaneous connections from callers; at most three-eighths of the limit on file " +
				"descriptors",
			number(func(c *Config) *int { return &c.MaxConns }),
		},
		{
			"gateway-max-connections-per-address",
			"0",
			"maximum number of simultaneous connections from one address or IPv6 /64; 0 means half of " +
				"--gateway-max-connections. Trusted proxies are exempt",
			number(func(c *Config) *int { return &c.MaxConnsFrom }),
		},
		{
			"gateway-max-calls",
			"1024",
			"maximum number of simultaneous calls to one environment",
			number(func(c *Config) *int { return &c.MaxCalls }),
		},
		{
			"gateway-max-calls-per-address",
			"0",
			"maximum number of simultaneous calls to one environment from one address or IPv6 /64; 0 means half of " +
				"--gateway-max-calls",
			number(func(c *Config) *int { return &c.MaxCallsFrom }),
		},
		{
			"gateway-min-body-rate",
			"240",
			"minimum average rate of a request body, in bytes per second, checked after the gateway has waited 10 s " +
				"for the body; 0 means no minimum",
			number(func(c *Config) *int { return &c.MinBodyRate }),
		},
		{
			"gateway-body-memory",
			"256",
			"memory in MB for buffering bodies that need to be validated, changed or searched; calls beyond this " +
				"limit get 503",
			number(func(c *Config) *int { return &c.BodyMemory }),
		},
		{
			"gateway-body-memory-per-team",
			"0",
			"maximum share of --gateway-body-memory for calls to one team's projects, in MB; 0 means a quarter",
			number(func(c *Config) *int { return &c.BodyMemoryOfOne }),
		},
		{
			"gateway-document-memory",
			"512",
			"memory in MB for compiled OpenAPI documents that requests are validated against; the least recently " +
				"used ones are dropped and compiled again when needed",
			number(func(c *Config) *int { return &c.DocumentMemory }),
		},
		{
			"control-max-connections",
			"1024",
			"maximum number of simultaneous connections to the control plane; at most an eighth of the limit on " +
				"file descriptors",
			number(func(c *Config) *int { return &c.ControlMaxConns }),
		},
		{
			"control-max-connections-per-address",
			"0",
			"maximum number of simultaneous connections to the control plane from one address or IPv6 /64; 0 means " +
				"half of --control-max-connections. Trusted proxies are exempt",
			number(func(c *Config) *int { return &c.ControlMaxConnsFrom }),
		},
		{
			"gateway-stale-after",
			"0s",
			"age, such as 1m, at which the gateway considers its state stale and its /readyz returns 503, so that " +
				"load balancers prefer replicas that know which keys are revoked; calls are still served; 0s means " +
				"never",
			duration(func(c *Config) *time.Duration { return &c.GatewayStaleAfter }),
		},
		{
			"drain",
			"5s",
			"how long to keep accepting calls after SIGTERM, while /readyz returns 503; Ctrl-C skips this",
			duration(func(c *Config) *time.Duration { return &c.Drain }),
		},
		{
			"shutdown-timeout",
			"10s",
			"how long calls in progress can take to finish after --drain",
			duration(func(c *Config) *time.Duration { return &c.ShutdownTimeout }),
		},
	}
}

func assignH2C(c *Config, v string) error {
	if v != "on" && v != "off" {
		return fmt.Errorf("must be on or off, not %q", v)
	}
	c.GatewayH2C = v == "on"
	return nil
}

func assignHTTP2(c *Config, v string) error {
	if !slices.Contains([]string{"own", "nethttp", "off"}, v) {
		return fmt.Errorf("must be own, nethttp or off, not %q", v)
	}
	c.GatewayHTTP2 = v
	return nil
}
