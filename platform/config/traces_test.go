package config_test

import (
	"strings"
	"testing"
)

func TestTraces(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318/"
	for _, tt := range []struct {
		name    string
		environ []string
		args    []string
		on      bool
		ratio   float64
		follow  bool
	}{
		{"off", nil, nil, false, 0, false},
		{"off, with variables of other programs", []string{"OTEL_TRACES_SAMPLER=jaeger_remote"}, nil, false, 0, false},
		{"default", []string{endpoint}, nil, true, 0.01, true},
		{"own variable", []string{"POSTERN_TRACES_ENDPOINT=https://c.example"}, nil, true, 0.01, true},
		{"flag", nil, []string{"--traces-endpoint", "http://c.example:4318"}, true, 0.01, true},
		{"all", []string{endpoint, "OTEL_TRACES_SAMPLER=always_on"}, nil, true, 1, false},
		{"none", []string{endpoint, "OTEL_TRACES_SAMPLER=always_off"}, nil, false, 0, false},
		{
			"a ratio", []string{endpoint, "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.5"},
			nil, true, 0.5, false,
		},
		{
			"flag before variable", []string{endpoint, "OTEL_TRACES_SAMPLER_ARG=0.5"},
			[]string{"--traces-sampler-arg", "0.25"},
			true, 0.25, true,
		},
		{
			"own variable before that of the specification",
			[]string{endpoint, "POSTERN_TRACES_SAMPLER_ARG=0.25", "OTEL_TRACES_SAMPLER_ARG=0.5"},
			nil, true, 0.25, true,
		},
		{
			"only what trusted callers record", []string{endpoint, "OTEL_TRACES_SAMPLER=parentbased_always_off"},
			nil, true, 0, true,
		},
		{"disabled", []string{endpoint, "OTEL_SDK_DISABLED=true"}, nil, false, 0.01, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := load(t, tt.environ, tt.args...)
			if err != nil {
				t.Fatal(err)
			}
			got := c.Traces
			if got.On() != tt.on || got.Ratio != tt.ratio || got.FollowParent != tt.follow {
				t.Errorf("on %v, ratio %v, follow %v, want %v, %v, %v", got.On(), got.Ratio, got.FollowParent, tt.on,
					tt.ratio, tt.follow)
			}
		})
	}
}

func TestTraces_headersAndAttributes(t *testing.T) {
	c, err := load(t, []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318/base/",
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20a%3Db, x-team=1",
		"OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=staging",
		"OTEL_SERVICE_NAME=edge",
	})
	if err != nil {
		t.Fatal(err)
	}
	got := c.Traces
	if got.Endpoint != "http://127.0.0.1:4318/base" || got.Service != "edge" ||
		got.Headers["Authorization"].Reveal() != "Bearer a=b" || got.Headers["X-Team"].Reveal() != "1" ||
		got.Attributes["deployment.environment.name"] != "staging" {
		t.Errorf("got %+v", got)
	}
}

// Errors name the variable that was set, and show no value that may be a secret.
func TestTraces_invalid(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318"
	for _, tt := range []struct {
		environ []string
		names   string
	}{
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=127.0.0.1:4317"}, "OTEL_EXPORTER_OTLP_ENDPOINT"},
		{[]string{"POSTERN_TRACES_ENDPOINT=http://user:quarz@c.example"}, "POSTERN_TRACES_ENDPOINT"},
		{[]string{"POSTERN_TRACES_ENDPOINT=http://c.example/?key=quarz"}, "POSTERN_TRACES_ENDPOINT"},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_HEADERS=quarz"}, "OTEL_EXPORTER_OTLP_HEADERS"},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_HEADERS=a=%zzquarz"}, "OTEL_EXPORTER_OTLP_HEADERS"},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_HEADERS=a=quarz%0d%0ab"}, "OTEL_EXPORTER_OTLP_HEADERS"},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_HEADERS=a b=quarz"}, "OTEL_EXPORTER_OTLP_HEADERS"},
		{[]string{endpoint, "OTEL_TRACES_SAMPLER=jaeger_remote"}, "OTEL_TRACES_SAMPLER"},
		{[]string{endpoint, "OTEL_TRACES_SAMPLER_ARG=2"}, "OTEL_TRACES_SAMPLER_ARG"},
		{[]string{endpoint, "OTEL_TRACES_SAMPLER_ARG=NaN"}, "OTEL_TRACES_SAMPLER_ARG"},
		{[]string{endpoint, "POSTERN_TRACES_SAMPLER_ARG=few"}, "POSTERN_TRACES_SAMPLER_ARG"},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL"},
		{[]string{"POSTERN_TRACES_TRUSTED=10.0.0.0"}, "POSTERN_TRACES_TRUSTED"},
	} {
		_, err := load(t, tt.environ)
		if err == nil || !strings.Contains(err.Error(), tt.names+": ") || strings.Contains(err.Error(), "quarz") {
			t.Errorf("%v: got %v", tt.environ, err)
		}
	}
}
