package config

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Traces has the settings of traces, which go to a collector of OpenTelemetry.
type Traces struct {
	Endpoint     string            // base URL of the collector, without a trailing slash; "": nothing is traced
	Headers      map[string]Secret // of requests to the collector
	FollowParent bool              // the caller's decision counts where its trace is continued
	Ratio        float64           // of the other traces that are recorded, from 0 to 1
	Service      string
	Attributes   map[string]string // of the resource
	Trusted      []netip.Prefix    // callers whose traces are continued
}

// On reports whether anything is traced.
func (t Traces) On() bool { return t.Endpoint != "" && (t.Ratio > 0 || t.FollowParent) }

// standardVariables are the variables of the OpenTelemetry specification that are read too, by flag. Their own
// POSTERN_ variables win over them.
var standardVariables = map[string]string{
	"traces-endpoint":    "OTEL_EXPORTER_OTLP_ENDPOINT",
	"traces-headers":     "OTEL_EXPORTER_OTLP_HEADERS",
	"traces-sampler":     "OTEL_TRACES_SAMPLER",
	"traces-sampler-arg": "OTEL_TRACES_SAMPLER_ARG",
	"traces-service":     "OTEL_SERVICE_NAME",
	"traces-attributes":  "OTEL_RESOURCE_ATTRIBUTES",
}

// Variables of the specification that aren't our settings, but decide whether traces can be sent.
const (
	protocolVariable = "OTEL_EXPORTER_OTLP_PROTOCOL"
	disabledVariable = "OTEL_SDK_DISABLED"
)

const defaultSampler = "parentbased_traceidratio"

// traceSettings returns the settings of traces. The endpoint is the first: without one the others are not read,
// because their variables may be meant for other programs.
func traceSettings() []setting {
	return []setting{
		{
			"traces-endpoint",
			"",
			"http or https URL of an OpenTelemetry collector for traces (OTLP over HTTP), such as " +
				"http://127.0.0.1:4318; /v1/traces is appended; empty means no traces",
			func(c *Config, v string) error { return c.Traces.setEndpoint(v) },
		},
		{
			"traces-headers",
			"",
			"comma-separated headers for requests to the collector, such as authorization=Bearer%20TOKEN",
			ifTraced(func(t *Traces, v string) error { return t.setHeaders(v) }),
		},
		{
			"traces-sampler",
			defaultSampler,
			"which traces are recorded: always_on, always_off, traceidratio, or one of these with the prefix " +
				"parentbased_ to follow the sampled flag of callers in --traces-trusted",
			ifTraced(func(t *Traces, v string) error { return t.setSampler(v) }),
		},
		{
			"traces-sampler-arg",
			"0.01",
			"fraction of traces that a traceidratio sampler records, from 0 to 1",
			ifTraced(func(t *Traces, v string) error { return t.setRatio(v) }),
		},
		{
			"traces-service",
			"postern",
			"service.name of the traces",
			ifTraced(func(t *Traces, v string) error { t.Service = v; return nil }),
		},
		{
			"traces-attributes",
			"",
			"comma-separated resource attributes, such as deployment.environment.name=staging",
			ifTraced(func(t *Traces, v string) (err error) { t.Attributes, err = pairs(v); return err }),
		},
		{
			"traces-trusted",
			"",
			"comma-separated CIDRs of callers whose traces (traceparent) are continued; other callers' traces are " +
				"only linked, so that those callers can't control which traces are recorded",
			networks(func(c *Config) *[]netip.Prefix { return &c.Traces.Trusted }),
		},
	}
}

func ifTraced(assign func(*Traces, string) error) func(*Config, string) error {
	return func(c *Config, v string) error {
		if c.Traces.Endpoint == "" {
			return nil
		}
		return assign(&c.Traces, v)
	}
}

func (t *Traces) setEndpoint(v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return errors.New("must be a URL such as http://127.0.0.1:4318, without a user name or query; put " +
			"credentials in --traces-headers")
	}
	t.Endpoint = strings.TrimRight(v, "/")
	return nil
}

func (t *Traces) setHeaders(v string) error {
	headers, err := pairs(v)
	if err != nil {
		return err
	}
	t.Headers = map[string]Secret{}
	for name, value := range headers {
		if strings.Trim(name, headerNameBytes) != "" {
			return errors.New("a header name must contain only letters, digits, - and _")
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf("the value of %s contains a line break or NUL, which headers can't have", name)
		}
		t.Headers[http.CanonicalHeaderKey(name)] = Secret(value)
	}
	return nil
}

const headerNameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// pairs reads a list such as a=1,b=2 with values in percent-encoding (OpenTelemetry specification, Protocol
// Exporter). Its errors have no value, which can be a secret.
func pairs(v string) (map[string]string, error) {
	out := map[string]string{}
	n := 0
	for entry := range strings.SplitSeq(v, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		n++
		name, value, ok := strings.Cut(entry, "=")
		name = strings.TrimSpace(name)
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || err != nil {
			return nil, fmt.Errorf("entry %d must be name=value with a percent-encoded value, such as "+
				"authorization=Bearer%%20TOKEN", n)
		}
		out[name] = decoded
	}
	return out, nil
}

func (t *Traces) setSampler(v string) error {
	sampler, follow := strings.CutPrefix(v, "parentbased_")
	switch sampler {
	case "always_on":
		t.Ratio = 1
	case "always_off":
		t.Ratio = 0
	case "traceidratio":
		t.Ratio = ofArgument
	default:
		return fmt.Errorf("must be always_on, always_off, traceidratio, parentbased_always_on, "+
			"parentbased_always_off or parentbased_traceidratio, not %q", v)
	}
	t.FollowParent = follow
	return nil
}

// ofArgument is the ratio between the sampler and its argument, which is read next.
const ofArgument = -1

func (t *Traces) setRatio(v string) error {
	if t.Ratio != ofArgument {
		return nil // the sampler takes no argument
	}
	ratio, err := strconv.ParseFloat(v, 64)
	if err != nil || !(ratio >= 0 && ratio <= 1) {
		return fmt.Errorf("must be a number from 0 to 1, such as 0.01 for one in a hundred traces, not %q", v)
	}
	t.Ratio = ratio
	return nil
}

// checkStandard applies the variables of the specification that aren't settings.
func (t *Traces) checkStandard(environ map[string]string) error {
	if strings.EqualFold(environ[disabledVariable], "true") {
		t.Endpoint = ""
	}
	protocol := environ[protocolVariable]
	if t.Endpoint == "" || protocol == "" || protocol == "http/protobuf" {
		return nil
	}
	return fmt.Errorf("%s: traces can only be sent as http/protobuf, not as %q: unset the variable, and set "+
		"--traces-endpoint to the collector's HTTP port, usually 4318", protocolVariable, protocol)
}
