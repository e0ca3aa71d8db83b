package config

import (
	"net/netip"
	"time"
)

func addressSettings() []setting {
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
		{
			"gateway-tls-cert",
			"",
			"PEM file of the gateway's certificate, which is read again when it changes; empty means no TLS",
			text(func(c *Config) *string { return &c.GatewayTLS.CertFile }),
		},
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
		{
			"trusted-proxies",
			"",
			"comma-separated CIDRs of proxies before Postern, whose X-Forwarded headers are believed",
			networks(func(c *Config) *[]netip.Prefix { return &c.Trusted }),
		},
	}
}

func limitSettings() []setting {
	return []setting{
		{
			"gateway-max-connections",
			"16384",
			"most connections of callers at once; never more than three eighths of the file descriptors",
			number(func(c *Config) *int { return &c.MaxConns }),
		},
		{
			"gateway-max-connections-per-address",
			"0",
			"most of them from one address, for IPv6 from one /64; 0 means half, and trusted proxies may " +
				"take all",
			number(func(c *Config) *int { return &c.MaxConnsFrom }),
		},
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
		{
			"gateway-min-body-rate",
			"240",
			"bytes a second that a request's body has to come with, averaged over the time it is waited " +
				"for, once that is more than 10 s; 0 means any",
			number(func(c *Config) *int { return &c.MinBodyRate }),
		},
		{
			"control-max-connections",
			"1024",
			"most connections to the control plane at once; never more than an eighth of the file " +
				"descriptors",
			number(func(c *Config) *int { return &c.ControlMaxConns }),
		},
		{
			"control-max-connections-per-address",
			"0",
			"most of them from one address, for IPv6 from one /64; 0 means half, and trusted proxies may " +
				"take all",
			number(func(c *Config) *int { return &c.ControlMaxConnsFrom }),
		},
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
	}
}
