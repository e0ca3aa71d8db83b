package config

import "fmt"

// AccessLog has the settings of the gateway's access log.
type AccessLog struct {
	Every int    // logs one in this many calls; 0: none
	File  string // "" for standard output

	mode   string
	sample int
}

// The values of --access-log.
const (
	accessLogOff     = "off"
	accessLogSampled = "sampled"
	accessLogFull    = "full"
)

func accessLogSettings() []setting {
	return []setting{
		{
			"access-log",
			accessLogOff,
			"gateway access log, with one line of JSON per call: off, sampled (one in --access-log-sample calls, " +
				"and all calls with a status of 500 or above) or full",
			func(c *Config, v string) error {
				switch v {
				case accessLogOff, accessLogSampled, accessLogFull:
					c.AccessLog.mode = v
					return nil
				}
				return fmt.Errorf("must be off, sampled or full, not %q", v)
			},
		},
		{
			"access-log-sample",
			"100",
			"sampling rate for --access-log sampled: 100 means that one in 100 calls is logged",
			number(func(c *Config) *int { return &c.AccessLog.sample }),
		},
		{
			"access-log-file",
			"",
			"file to append the access log to, reopened after it is moved; empty means standard output",
			text(func(c *Config) *string { return &c.AccessLog.File }),
		},
	}
}

func (a *AccessLog) validate(report func(setting, format string, args ...any)) {
	if a.sample < 1 {
		report("--access-log-sample", "%d is less than 1", a.sample)
	}
	if a.mode == accessLogOff && a.File != "" {
		report("--access-log-file", "requires --access-log sampled or full")
	}
	a.Every = map[string]int{accessLogFull: 1, accessLogSampled: a.sample}[a.mode]
}
