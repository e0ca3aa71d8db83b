package conformance

import (
	"net"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// excluded are the headers in which the two may differ, and why.
var excluded = map[string]string{
	"Via":               "names the gateway; the ledger says so (kong.request_limits.via)",
	"X-Kong-Request-Id": "Kong's own; the exported compose file turns it off, a bare launcher does not",
	"X-Forwarded-Port":  "the port of the listener, compared with the gateway's own instead",
}

// A Content-Length of 0 is taken for none: net/http adds it to a POST without
// a body, nginx does not, and both say the same (RFC 9110 section 8.6).

// ownAnswers are the refusals that Kong gives before any plugin runs: the
// status is compared, the body is Kong's (kong.request_limits.error_bodies and
// refused_requests).
var ownAnswers = map[string]bool{
	"no_route": true, "bad_request": true, "method_not_allowed": true,
	"upstream_unreachable": true, "upstream_timeout": true, "body_too_large": true,
}

// compare reports how got, of other, differs from want, of postern.
func compare(t *testing.T, c Case, postern, other *peer, want, got outcome) bool {
	t.Helper()
	want, got = comparable(postern, want), comparable(other, got)
	allow(c.Allowed, &want, &got)
	climbs := want.Code == "bad_path" && got.Code == "" // above the root, where nginx answers before the plugin
	if climbs || ownAnswers[want.Code] || (want.Code == "" && want.Status >= 400 && len(want.Seen) == 0) {
		want = outcome{Status: want.Status, Limits: want.Limits, Seen: want.Seen}
		got = outcome{Status: got.Status, Limits: got.Limits, Seen: got.Seen}
	}
	diff := cmp.Diff(want, got)
	if diff != "" {
		t.Errorf("%s: -postern +%s:\n%s\n%s", c.Name, other.name, diff, shorten(c.Request))
	}
	return diff == ""
}

// comparable leaves out what may differ.
func comparable(p *peer, out outcome) outcome {
	_, port, _ := net.SplitHostPort(p.addr)
	for i, s := range out.Seen {
		if got := s.Headers.Get("X-Forwarded-Port"); got != port {
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
	return out
}

// allow takes a declared difference out of both sides, and nothing else.
func allow(difference string, want, got *outcome) {
	switch difference {
	case AllowUTF8:
		*want = outcome{Status: http.StatusNotFound}
		*got = outcome{Status: got.Status, Seen: got.Seen}
		return
	case AllowFragment:
		if got.Status == http.StatusOK {
			*got = outcome{Status: http.StatusBadRequest, Limits: map[string]string{}}
		}
		return
	}
	for _, side := range []*outcome{want, got} {
		for i := range side.Seen {
			s := &side.Seen[i]
			switch difference {
			case AllowTrailers:
				s.Trailers = nil
				s.Headers.Del("Trailer")
				unframed(s)
			case AllowFraming:
				unframed(s)
			}
		}
	}
}

func unframed(s *seen) {
	s.Headers.Del("Content-Length")
	s.Length, s.Encoding = 0, nil
}

func shorten(s string) string {
	if len(s) > 600 {
		return s[:600] + "…"
	}
	return s
}

// run sends the whole corpus to both and reports how many cases were equal.
func run(t *testing.T, cases []Case, postern, other *peer) {
	t.Helper()
	equal := 0
	for _, c := range cases {
		if compare(t, c, postern, other, postern.send(c), other.send(c)) {
			equal++
		}
	}
	t.Logf("%s: %d of %d cases equal", other.name, equal, len(cases))
}
