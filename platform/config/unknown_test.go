package config_test

import (
	"slices"
	"testing"

	"postern/platform/config"
)

func TestUnknown(t *testing.T) {
	t.Parallel()
	got := config.Unknown([]string{
		"POSTERN_DATA_DIRECTORY=/x", "POSTERN_SMTP=", "POSTERN_DATA_DIR=/x", "POSTERN_TOKEN=x", "HOME=/", "OTEL_X=1",
		"POSTERN_SERVICE_HOST=10.0.0.1", "POSTERN_SERVICE_PORT_HTTP=80", "POSTERN_PORT=tcp://10.0.0.1:80",
		"POSTERN_DB_PORT_5432_TCP_ADDR=10.0.0.2", "POSTERN_PORTS=80",
	})
	if want := []string{"POSTERN_DATA_DIRECTORY", "POSTERN_PORTS", "POSTERN_SMTP"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
