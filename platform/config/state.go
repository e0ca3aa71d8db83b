package config

import (
	"fmt"
	"time"
)

func stateSettings() []setting {
	return []setting{
		{
			"data-dir",
			"./data",
			"directory for the SQLite database, and for finished exports if --blob-url is empty",
			text(func(c *Config) *string { return &c.DataDir }),
		},
		{
			"database-url",
			"",
			"postgres:// URL of the database; empty means SQLite in the data directory",
			secret(func(c *Config) *Secret { return &c.DatabaseURL }),
		},
		{
			"secrets-key",
			"",
			"comma-separated keys, each 32 bytes in base64, that encrypt the data keys for secrets at rest: the " +
				"current one first, then older ones; for --roles gateway, the output of postern secrets " +
				"gateway-key; empty means the file secrets.key in the data directory, which is created on " +
				"the first start",
			secret(func(c *Config) *Secret { return &c.SecretsKey }),
		},
		{
			"redis-url",
			"",
			"redis:// or rediss:// (TLS) URL of the Redis server that holds the rate limit counters shared by " +
				"replicas; empty means that each replica counts separately",
			secret(func(c *Config) *Secret { return &c.RedisURL }),
		},
		{
			"redis-failure",
			"open",
			"behavior while Redis is down: open (each replica counts separately) or closed (calls that a limit " +
				"applies to get 503)",
			assignRedisFailure,
		},
		{
			"offline-start",
			"on",
			"whether to store the gateway's state encrypted on disk and use it if PostgreSQL doesn't respond at " +
				"startup: on or off",
			assignOfflineStart,
		},
		blobSetting(),
		{
			"export-ttl",
			"24h",
			"how long a finished export can be downloaded",
			duration(func(c *Config) *time.Duration { return &c.ExportTTL }),
		},
	}
}

func assignRedisFailure(c *Config, v string) error {
	if v != "open" && v != "closed" {
		return fmt.Errorf("must be open or closed, not %q", v)
	}
	c.RedisFailsOpen = v == "open"
	return nil
}

func assignOfflineStart(c *Config, v string) error {
	if v != "on" && v != "off" {
		return fmt.Errorf("must be on or off, not %q", v)
	}
	c.OfflineStart = v == "on"
	return nil
}
