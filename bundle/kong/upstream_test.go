package kong

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/testkit/sample"
)

func TestUpstream_parsed(t *testing.T) {
	path := "/a%20b/c"
	for target, want := range map[string]upstream{
		"http://up.example":              {"http", "up.example", 80, nil},
		"https://up.example/":            {"https", "up.example", 443, nil},
		"https://up.example:8443" + path: {"https", "up.example", 8443, &path},
		"http://up.example/a%20b/c/":     {"http", "up.example", 80, &path},
		"http://[2001:db8::1]:81":        {"http", "[2001:db8::1]", 81, nil},
	} {
		got, err := parseTarget(target)
		if err != nil {
			t.Errorf("%s: %v", target, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(upstream{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
	}
}

// The ledger reports environments whose upstream a container can't call as the hosted gateway does.
func TestUpstream_unreachableFromContainer(t *testing.T) {
	for target, want := range map[string]string{
		"http://up.example":           "service",
		"https://up.example:8443":     "service",
		"http://192.0.2.1":            "service",
		"http://127.0.0.1:9000":       "loopback",
		"http://[::1]:9000":           "loopback",
		"http://[::ffff:127.0.0.1]/x": "loopback",
		"http://0.0.0.0:9000":         "loopback",
		"http://localhost:9000":       "loopback",
		"http://LOCALHOST.:9000":      "loopback",
		"https://api.localhost":       "loopback",
		"https://192.0.2.1":           "https_address",
		"https://[2001:db8::1]:8443":  "https_address",
		"https://127.0.0.1:8443":      "https_address",
	} {
		t.Run(target, func(t *testing.T) {
			in := sampleInput()
			in.Project = sample.Project(target)
			ledger := write(t, in)["MIGRATION-REPORT.json"]
			if n := strings.Count(ledger, `"kong.environment.`+want+`"`); n != 7 {
				t.Errorf("%d of 7 environments have the code kong.environment.%s", n, want)
			}
		})
	}
}
