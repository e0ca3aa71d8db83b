package config_test

import (
	"strings"
	"testing"
	"time"
)

func TestRetention(t *testing.T) {
	environ := []string{"POSTERN_RETENTION_AUDIT=8760h"}
	c, err := load(t, environ, "--retention-usage", "744h", "--retention-requests", "1h")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Retention; got.Audit != 8760*time.Hour || got.Usage != 744*time.Hour || got.Requests != time.Hour {
		t.Errorf("%+v", got)
	}
	for setting, value := range map[string]string{
		"--retention-usage":    "743h",
		"--retention-requests": "30s",
		"--retention-audit":    "-1h",
	} {
		_, err := load(t, nil, setting, value)
		if err == nil || !strings.Contains(err.Error(), setting+`: "`+value+`" is too short: use `) {
			t.Errorf("%s %s: error %v", setting, value, err)
		}
	}
}
