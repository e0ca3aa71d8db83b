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
			"directory of the SQLite database, and of finished exports without --blob-url",
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
			"comma-separated keys, each 32 bytes in base64, that encrypt the data keys of secrets at rest: the " +
				"current one first, then older ones; for --roles gateway, the output of postern secrets " +
				"gateway-key; empty means the file secrets.key in the data directory, which the first start creates",
			secret(func(c *Config) *Secret { return &c.SecretsKey }),
		},
		{
			"redis-url",
			"",
			"redis:// or rediss:// (TLS) URL of the rate limit counters that replicas share; empty means that each " +
				"replica counts for itself",
			secret(func(c *Config) *Secret { return &c.RedisURL }),
		},
		{
			"redis-failure",
			"open",
			"while Redis is down: open (each replica counts for itself) or closed (calls with limits get 503)",
			assignRedisFailure,
		},
		{
			"offline-start",
			"on",
			"whether the gateway keeps its state on disk, encrypted, and serves it if PostgreSQL doesn't answer at " +
				"the start: on or off",
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
		return fmt.Errorf("%q isn't one of open, closed", v)
	}
	c.RedisFailsOpen = v == "open"
	return nil
}

func assignOfflineStart(c *Config, v string) error {
	if v != "on" && v != "off" {
		return fmt.Errorf("%q isn't one of on, off", v)
	}
	c.OfflineStart = v == "on"
	return nil
}
