package config_test

import (
	"strings"
	"testing"
	"time"

	"postern/platform/config"
)

func TestRetention(t *testing.T) {
	environ := []string{"POSTERN_RETENTION_AUDIT=8760h"}
	c, err := load(t, environ, "--retention-usage", "744h", "--retention-requests", "1h",
		"--retention-revoked-keys", "24h")
	if err != nil {
		t.Fatal(err)
	}
	want := config.Retention{
		Usage: 744 * time.Hour, Requests: time.Hour, Audit: 8760 * time.Hour, Workspaces: 2160 * time.Hour,
		RevokedKeys: 24 * time.Hour,
	}
	if c.Retention != want {
		t.Errorf("%+v, want %+v", c.Retention, want)
	}
	for setting, value := range map[string]string{
		"--retention-usage":    "743h",
		"--retention-requests": "30s",
		"--retention-audit":    "-1h",

		"--retention-workspaces":   "167h",
		"--retention-revoked-keys": "23h",
	} {
		_, err := load(t, nil, setting, value)
		if err == nil || !strings.Contains(err.Error(), setting+`: "`+value+`" is too short: use `) {
			t.Errorf("%s %s: error %v", setting, value, err)
		}
	}
}
