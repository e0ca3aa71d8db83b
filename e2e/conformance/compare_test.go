package conformance

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// excluded are the request headers in which the two may differ in every case,
// and why.
var excluded = map[string]string{
	"Via":              "names the gateway; the ledger says so (kong.request_limits.via)",
	"X-Forwarded-Port": "the port of the listener, compared with the gateway's own instead",
}

// A Content-Length of 0 is taken for none: net/http adds it to a POST without
// a body, nginx does not, and both say the same (RFC 9110 section 8.6).

// compare reports whether got, of other, equals Postern's outcome, except for the differences that the case declares.
// Each of these must be there.
func compare(t *testing.T, c Case, postern, other *peer, want, got outcome) bool {
	t.Helper()
	want, got = comparable(postern, want), comparable(other, got)
	if c.Values {
		asValues(&want)
		asValues(&got)
	}
	if !c.ByPlugin { // calls before this one may have been counted by one of them alone
		uncounted(want.Limits)
		uncounted(got.Limits)
	}
	if diff := difference(want, got, c.Differs); diff != "" {
		t.Errorf("-postern +%s:\n%s\n%s", other.name, diff, shorten(c.Request))
		return false
	}
	for i, item := range c.Differs {
		others := append(append([]string(nil), c.Differs[:i]...), c.Differs[i+1:]...)
		if difference(want, got, others) == "" {
			t.Errorf("%s is declared for this case, which shows no such difference\n%s", item, shorten(c.Request))
			return false
		}
	}
	return true
}

// uncounted leaves of each number of calls that are left only that it was told.
func uncounted(limits map[string]string) {
	for name := range limits {
		if strings.Contains(name, "Remaining") {
			limits[name] = "calls"
		}
	}
}

// difference compares what is left when the items have been left out.
func difference(want, got outcome, items []string) string {
	want, got = want.clone(), got.clone()
	for _, item := range items {
		leaveOut[item](&want)
		leaveOut[item](&got)
	}
	return cmp.Diff(want, got)
}

// comparable leaves out what may differ in every case.
func comparable(p *peer, out outcome) outcome {
	_, port, _ := net.SplitHostPort(p.addr)
	out = out.clone()
	out.Answer.Del("Via")
	for i, s := range out.Seen {
		if got := s.Headers.Get("X-Forwarded-Port"); got != port && s.Headers != nil {
			s.Headers["X-Forwarded-Port-Is"] = []string{got + " instead of the listener's"}
		}
		for name := range excluded {
			s.Headers.Del(name)
		}
		if s.Headers.Get("Content-Length") == "0" {
			s.Headers.Del("Content-Length")
		}
		if len(s.Trailers) == 0 {
			s.Trailers = nil
		}
		out.Seen[i] = s
	}
	// A safe call is sent once more where the connection that had waited for it ended
	// without an answer; whether one had waited is chance.
	out.Seen = slices.CompactFunc(out.Seen, func(a, b seen) bool { return a.Length == 0 && cmp.Equal(a, b) })
	return out
}

func shorten(s string) string {
	if len(s) > 600 {
		return s[:600] + "…"
	}
	return s
}

// run sends the whole corpus to both, case by case. It returns how many were equal in everything, by
// status.
func run(t *testing.T, cases []Case, declared map[string]bool, postern, other *peer) map[int]int {
	t.Helper()
	exact, differing, statuses := 0, 0, map[int]int{}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			for _, item := range c.Differs {
				if !declared[item] {
					t.Errorf("the exported ledger has no item %s that declares a difference", item)
				}
			}
			want := postern.send(c)
			if !compare(t, c, postern, other, want, other.send(c)) {
				return
			}
			if len(c.Differs) == 0 {
				exact++
				statuses[want.Status]++
			} else {
				differing++
			}
		})
	}
	t.Logf("%s: of %d cases %d are equal and %d show exactly the difference that the ledger declares", other.name,
		len(cases), exact, differing)
	return statuses
}

// declarations returns the items of an export's ledger that declare a difference.
func declarations(t *testing.T, export string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(export, "MIGRATION-REPORT.json"))
	if err != nil {
		t.Fatal(err)
	}
	var ledger struct {
		Target string
		Items  []struct{ Code, Status string }
	}
	if err := json.Unmarshal(text, &ledger); err != nil {
		t.Fatalf("MIGRATION-REPORT.json: %v", err)
	}
	out := map[string]bool{}
	for _, item := range ledger.Items {
		if item.Status != "exact" {
			out[strings.TrimPrefix(item.Code, ledger.Target+".")] = true
		}
	}
	return out
}
