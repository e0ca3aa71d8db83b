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
			"admin-addr",
			"",
			"address of profiles (pprof), metrics and probes, without a credential; only your monitoring may " +
				"reach it; empty means none",
			text(func(c *Config) *string { return &c.AdminAddr }),
		},
		{
			"public-url",
			"",
			"URL of the control plane for browsers; empty means --control-addr",
			text(func(c *Config) *string { return &c.PublicURL }),
		},
		{
			"gateway-url",
			"",
			"URL of the gateway's bare domain for callers; empty means --gateway-domain and the gateway's port",
			text(func(c *Config) *string { return &c.GatewayURL }),
		},
		{
			"gateway-domain",
			"localhost",
			"domain whose subdomains are projects: <project>.<domain>",
			text(func(c *Config) *string { return &c.GatewayDomain }),
		},
		{
			"dns-server",
			"",
			"host:port of the name server that is asked for the TXT records of custom host names; empty means " +
				"those of the system",
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
			"PEM file of the gateway's certificate, reloaded when it changes; empty means no TLS",
			text(func(c *Config) *string { return &c.GatewayTLS.CertFile }),
		},
		{
			"gateway-tls-key",
			"",
			"PEM file of the certificate's private key",
			text(func(c *Config) *string { return &c.GatewayTLS.KeyFile }),
		},
		{
			"gateway-tls-dir",
			"",
			"directory of PEM files for custom host names, reloaded when they change: NAME.crt with NAME.key, or " +
				"a folder with tls.crt and tls.key; needs --gateway-tls-cert",
			text(func(c *Config) *string { return &c.GatewayTLSDir }),
		},
		{
			"control-tls-cert",
			"",
			"PEM file of the control plane's certificate, reloaded when it changes; empty means no TLS",
			text(func(c *Config) *string { return &c.ControlTLS.CertFile }),
		},
		{
			"control-tls-key",
			"",
			"PEM file of the certificate's private key",
			text(func(c *Config) *string { return &c.ControlTLS.KeyFile }),
		},
	}
}

func limitSettings() []setting {
	return []setting{
		{
			"gateway-max-connections",
			"16384",
			"most simultaneous connections of callers; never more than three eighths of the file descriptors",
			number(func(c *Config) *int { return &c.MaxConns }),
		},
		{
			"gateway-max-connections-per-address",
			"0",
			"most of these connections from one address or IPv6 /64; 0 means half. Trusted proxies are " +
				"exempt",
			number(func(c *Config) *int { return &c.MaxConnsFrom }),
		},
		{
			"gateway-max-calls",
			"1024",
			"most simultaneous calls to one environment",
			number(func(c *Config) *int { return &c.MaxCalls }),
		},
		{
			"gateway-max-calls-per-address",
			"0",
			"most of these calls from one address or IPv6 /64; 0 means half",
			number(func(c *Config) *int { return &c.MaxCallsFrom }),
		},
		{
			"gateway-min-body-rate",
			"240",
			"lowest rate of a request's body in bytes a second, averaged over the time the gateway waits " +
				"for it, after 10 s of waiting; 0 means any",
			number(func(c *Config) *int { return &c.MinBodyRate }),
		},
		{
			"gateway-body-memory",
			"256",
			"memory in MB for bodies that are held whole, because they are validated, changed or searched; calls " +
				"beyond it get 503",
			number(func(c *Config) *int { return &c.BodyMemory }),
		},
		{
			"gateway-body-memory-per-team",
			"0",
			"most of this memory for calls to the projects of one team, in MB; 0 means a quarter",
			number(func(c *Config) *int { return &c.BodyMemoryOfOne }),
		},
		{
			"gateway-document-memory",
			"512",
			"memory in MB for compiled OpenAPI documents, which requests are validated against; those that " +
				"were called least recently are dropped, and compiled again when they are called",
			number(func(c *Config) *int { return &c.DocumentMemory }),
		},
		{
			"control-max-connections",
			"1024",
			"most simultaneous connections to the control plane; never more than an eighth of the file " +
				"descriptors",
			number(func(c *Config) *int { return &c.ControlMaxConns }),
		},
		{
			"control-max-connections-per-address",
			"0",
			"most of these connections from one address or IPv6 /64; 0 means half. Trusted proxies are " +
				"exempt",
			number(func(c *Config) *int { return &c.ControlMaxConnsFrom }),
		},
		{
			"gateway-stale-after",
			"0s",
			"age of the gateway's state, such as 1m, at which its /readyz answers 503, so that the load balancer " +
				"prefers replicas that know of revoked keys; calls are served all the same; 0s means never",
			duration(func(c *Config) *time.Duration { return &c.GatewayStaleAfter }),
		},
		{
			"drain",
			"5s",
			"how long calls are still accepted after SIGTERM, while /readyz answers 503; Ctrl-C skips it",
			duration(func(c *Config) *time.Duration { return &c.Drain }),
		},
		{
			"shutdown-timeout",
			"10s",
			"how long calls in progress have to finish after that",
			duration(func(c *Config) *time.Duration { return &c.ShutdownTimeout }),
		},
	}
}
