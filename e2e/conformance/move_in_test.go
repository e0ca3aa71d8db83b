//go:build conformance

package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/core/kongfile"
)

// movedFigures count what TestConformanceMoveIn has shown.
type movedFigures struct {
	files, calls, equal int
	nothing             int            // files of which nothing can be imported
	declared            map[string]int // calls with a difference, by the code of the item that declares it
	refused             map[string]int // by plugin of the first Kong
}

// othersEnv names a folder with Kong files of others, which are compared as ours are. This repository has only the list
// of their sources: core/movein/testdata/public.
const othersEnv = "POSTERN_KONG_FILES"

// A Kong file that moves in gives callers what its Kong gave them. No call that this one refuses is let through here or
// by the Kong of an export. Calls that both let through reach the upstream alike, and every difference is one that the
// plan states.
func TestConformanceMoveIn(t *testing.T) {
	files, err := filepath.Glob("testdata/movein/*.yaml")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if folder := os.Getenv(othersEnv); folder != "" {
		others, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil || len(others) == 0 {
			t.Fatalf("%d files in %s, %v", len(others), folder, err)
		}
		files = append(files, others...)
	}
	total := movedFigures{files: len(files), declared: map[string]int{}, refused: map[string]int{}}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			moveInAndCompare(t, path, &total)
		})
	}
	t.Logf("%d files, %d of them without anything to import, %d calls, %d equal", total.files, total.nothing,
		total.calls, total.equal)
	t.Logf("declared: %v", total.declared)
	t.Logf("refused: %v", total.refused)
	if total.calls < 1500 {
		t.Errorf("%d calls show too little", total.calls)
	}
	for _, plugin := range []string{"key-auth", "acl", "ip-restriction", "rate-limiting", "basic-auth", "no route"} {
		if total.refused[plugin] == 0 {
			t.Errorf("no call was refused by %s", plugin)
		}
	}
}

func moveInAndCompare(t *testing.T, path string, total *movedFigures) {
	m := moveIn(t, path, newUpstream(t))
	if len(m.plan.Projects) == 0 { // the import is refused, so it lets no call through
		if total.nothing++; !m.others {
			t.Error("nothing of the file can be imported")
		}
		return
	}
	calls := m.calls()
	var before []outcome
	t.Run("original", func(t *testing.T) {
		kong, _ := startKongUntil(t, m.kongFolder(t), m.up, m.answers)
		before = sendAll(kong, calls)
	})
	if len(before) != len(calls) {
		t.FailNow()
	}
	postern := m.serve(t)
	here := sendAll(postern, calls)
	total.calls += len(calls)
	differences := reports{t: t}
	for i, c := range calls {
		total.refused[refusedBy(before[i])]++
		why, diff := m.difference(c, before[i], here[i])
		switch {
		case diff != "":
			differences.add(c, diff)
		case why != "":
			total.declared[why]++
		default:
			total.equal++
		}
	}
	differences.end()
	exports := 0
	for n, id := range m.ids {
		if !m.isOpen(n) || m.others && exports == mostExports {
			continue
		}
		exports++
		t.Run("export of "+m.plan.Projects[n].Name, func(t *testing.T) {
			kong, _ := startKongUntil(t, filepath.Join(m.export(t, id), "gateway"), m.up, m.answersOf(n))
			again := sendAll(kong, calls)
			differences, unequal := reports{t: t}, 0
			for i, c := range calls {
				if !isForwarded(before[i]) && isForwarded(again[i]) && m.openedBy(c, before[i]) == "" {
					differences.add(c, fmt.Sprintf("the first Kong answers %d, and this one lets it through",
						before[i].Status))
				}
				if m.projectOf(c) == n && !compare(t, c.Case, postern, kong, here[i], again[i]) {
					if unequal++; unequal == 12 {
						t.Fatal("and maybe more")
					}
				}
			}
			differences.end()
		})
	}
}

// mostExports bounds the exports of a file that isn't ours.
const mostExports = 2

// isOpen reports whether a project of the plan has a custom domain and a version that serves calls.
func (m *moved) isOpen(project int) bool {
	return slices.ContainsFunc(m.domains(), func(d movedDomain) bool {
		return d.project == project && !m.isClosed(d)
	})
}

// isClosed reports whether the version of a custom domain refuses every call.
func (m *moved) isClosed(d movedDomain) bool {
	return slices.ContainsFunc(m.plan.Projects[d.project].Versions, func(v contract.PlannedVersion) bool {
		return v.Name == d.Version && v.Closed
	})
}

// reports says the first differences, and the number of all.
type reports struct {
	t *testing.T
	n int
}

func (r *reports) add(c movedCall, text string) {
	r.t.Helper()
	if r.n++; r.n <= 12 {
		r.t.Errorf("%s (%s, from %q): %s", c.Name, strings.ReplaceAll(shorten(c.Request), "\r\n", " | "), c.From, text)
	}
}

func (r *reports) end() {
	if r.n > 12 {
		r.t.Errorf("%d more differences", r.n-12)
	}
}

func sendAll(p *peer, calls []movedCall) (out []outcome) {
	for _, c := range calls {
		out = append(out, p.send(c.Case))
	}
	return out
}

func isForwarded(out outcome) bool { return len(out.Seen) > 0 }

// probe comes from an address that no other call has, since limits may count it.
func probe(p *peer, method, host, path string) error {
	c := one("probe", method, host, path)
	c.From = "127.0.0.9"
	out := p.send(c)
	if out.Status == 0 || out.Status == http.StatusNotFound || out.Status >= 500 {
		return fmt.Errorf("status %d %s", out.Status, out.ConnectionErr)
	}
	return nil
}

// answers is ready when Kong answers calls of a route.
func (m *moved) answers(p *peer) (err error) {
	for _, e := range m.file.Of(kongfile.Route) {
		first := func(name, otherwise string) string {
			if texts := e.Value.Get(name).Texts(); len(texts) > 0 {
				return texts[0]
			}
			return otherwise
		}
		host := strings.ReplaceAll(first("hosts", "localhost"), "*", "any")
		if err = probe(p, first("methods", "GET"), host, samplePath(first("paths", "/"))); err == nil {
			return nil
		}
	}
	return err
}

// answersOf is ready when the gateway answers calls to the first custom domain of a project.
func (m *moved) answersOf(project int) func(*peer) error {
	return func(p *peer) error {
		for _, d := range m.domains() {
			if d.project == project {
				method := "GET"
				if len(d.Methods) > 0 {
					method = d.Methods[0]
				}
				return probe(p, method, d.Host, d.PathPrefix+"/")
			}
		}
		return nil
	}
}

// projectOf returns the project whose custom domain takes a call, or -1.
func (m *moved) projectOf(c movedCall) int {
	if d := m.domainOf(c); d != nil {
		return d.project
	}
	return -1
}

// domainOf returns the custom domain that takes a call, nil if there is none.
func (m *moved) domainOf(c movedCall) (found *movedDomain) {
	length := -1
	for _, d := range m.domains() {
		rest, below := strings.CutPrefix(c.path, d.PathPrefix)
		if d.Host != c.host || !below || rest != "" && rest[0] != '/' || len(d.PathPrefix) < length ||
			len(d.Methods) > 0 && !slices.Contains(d.Methods, c.method) {
			continue
		}
		found, length = &d, len(d.PathPrefix)
	}
	return found
}

// refusedBy returns which plugin of Kong has refused a call.
func refusedBy(out outcome) string {
	switch {
	case isForwarded(out):
		return "let through"
	case strings.Contains(out.Body, "API rate limit exceeded"), out.Status == http.StatusTooManyRequests:
		return "rate-limiting"
	case strings.Contains(out.Body, "no Route matched"), out.Status == http.StatusNotFound:
		return "no route"
	case strings.HasPrefix(out.Challenge, "Basic"):
		return "basic-auth"
	case strings.HasPrefix(out.Challenge, "Bearer"):
		return "jwt"
	case strings.HasPrefix(out.Challenge, "hmac"):
		return "hmac-auth"
	case strings.HasPrefix(out.Challenge, "Key"), out.Status == http.StatusUnauthorized:
		return "key-auth"
	case strings.Contains(out.Body, "IP address not allowed"):
		return "ip-restriction"
	case strings.Contains(out.Body, "cannot consume this service"):
		return "acl"
	case isForTLS(out):
		return "https only"
	case out.Status == http.StatusOK:
		return "cors" // a preflight
	}
	return fmt.Sprintf("status %d", out.Status)
}

// has reports whether the plan has an item with a code that states a worst case.
func (m *moved) has(code string) bool {
	for _, item := range m.plan.Items {
		if slices.Contains(item.Codes, code) && item.Status != "exact" {
			return true
		}
	}
	return false
}

// isForTLS reports whether Kong has refused a call without TLS, or has redirected it.
func isForTLS(before outcome) bool {
	return before.Status == http.StatusUpgradeRequired ||
		before.Status/100 == 3 && strings.HasPrefix(before.Answer.Get("Location"), "https:")
}

// openedBy returns the code of the item that states that a call which Kong refuses is let through.
func (m *moved) openedBy(c movedCall, before outcome) string {
	if isForTLS(before) && m.has("route.https") {
		return "route.https"
	}
	if m.has("route.slash") && c.slashless && before.Status == http.StatusNotFound { // no route had it
		return "route.slash"
	}
	return ""
}

// closedBy returns the code of the item that states that a call which Kong lets through is refused.
func (m *moved) closedBy(c movedCall, before, here outcome) string {
	refused := here.Status == http.StatusUnauthorized || here.Status == http.StatusForbidden
	for _, one := range []struct {
		code string
		is   bool
	}{
		{"route.prefix", c.sibling && (here.Status == http.StatusNotFound || refused)},
		{"route.slash", c.slashless && refused},
		{"route.guarded_everywhere", here.Status == http.StatusForbidden},
		{"route.slash_denied", here.Status == http.StatusForbidden},
		{"key-auth.places", c.twice && here.Status == http.StatusUnauthorized},
		{"plugin.auth_closed", c.basic && refused},
		{"jwt.closed", c.token && refused},
		{"route.closed", (refused || here.Status == http.StatusNotFound) && m.isLeftOut(c)},
		{"route.any_host", c.host == otherHost && here.Status == http.StatusNotFound},
		{"route.unserved_host", !strings.Contains(c.host, ".") && here.Status == http.StatusNotFound},
		{lateCounts, m.limited() && here.Status == http.StatusTooManyRequests},
		{"key-auth.anonymous", before.Seen[0].Headers.Get("X-Anonymous-Consumer") == "true" && refused},
		{"route.wildcard", strings.HasPrefix(c.host, "any.") && here.Status == http.StatusNotFound},
	} {
		if one.is && (one.code == lateCounts || one.code == "route.closed" || m.has(one.code)) {
			return one.code
		}
	}
	return ""
}

// isLeftOut reports whether no custom domain of a version that serves calls takes a call.
func (m *moved) isLeftOut(c movedCall) bool {
	d := m.domainOf(c)
	return len(m.plan.Closed) > 0 && (d == nil || m.isClosed(*d))
}

// lateCounts are no item's: Kong counts a call in a timer, after it has let it through, so that quick calls exceed its
// limit. Postern counts each call before.
const lateCounts = "counted late by Kong"

// difference compares what callers and upstreams get here with what they got from the first Kong. It returns the code
// of the item that states a difference, or what differs.
func (m *moved) difference(c movedCall, before, here outcome) (code, diff string) {
	was, is := isForwarded(before), isForwarded(here)
	switch {
	case !was && is:
		if code = m.openedBy(c, before); code != "" {
			return code, ""
		}
		return "", fmt.Sprintf("MORE OPEN: Kong answers %d %s, and here it is %d", before.Status, before.Body,
			here.Status)
	case was && !is:
		if code = m.closedBy(c, before, here); code != "" {
			return code, ""
		}
		return "", fmt.Sprintf("Kong lets it through as %s, and here it is %d %s", before.Seen[0].Target, here.Status,
			here.Body)
	case !was:
		return m.refusals(c, before, here)
	}
	want, got := m.plain(before), m.plain(here)
	if diff = cmp.Diff(want, got); diff == "" {
		return "", ""
	}
	for _, one := range statedChanges {
		if m.has(one.code) {
			one.change(c, &want, &got)
			if cmp.Diff(want, got) == "" {
				return one.code, ""
			}
		}
	}
	return "", "-Kong +here:\n" + diff
}

// statedChanges leave out of what the upstream and the caller got in which it differs as an item of the plan says.
var statedChanges = []struct {
	code   string
	change func(c movedCall, want, got *outcome)
}{
	{"consumer.name", func(_ movedCall, want, got *outcome) {
		if want.Seen[0].Headers["X-Consumer-Username"] == nil {
			got.Seen[0].Headers.Del("X-Consumer-Username")
		}
	}},
	{"key-auth.query", sortArguments},
	{"request-transformer.query", sortArguments},
	{"plugin.correlation", func(_ movedCall, want, _ *outcome) {
		for _, name := range []string{"Kong-Request-Id", "X-Request-Id", "X-Correlation-Id"} {
			want.Seen[0].Headers.Del(name)
			want.Answer.Del(name)
		}
	}},
	{"request-transformer.fixed", func(_ movedCall, _, got *outcome) {
		got.Seen[0].Headers.Del("Authorization")
	}},
	{"cors.credentials", func(c movedCall, want, got *outcome) {
		for _, name := range []string{
			"Access-Control-Allow-Credentials", "Access-Control-Allow-Origin", "Vary",
		} {
			if c.origin {
				want.Answer.Del(name)
				got.Answer.Del(name)
			}
		}
	}},
	{"route.slash", func(c movedCall, want, got *outcome) { // it reaches another route
		if c.slashless {
			want.Seen = got.Seen
		}
	}},
	{"route.prefix", func(c movedCall, want, got *outcome) { // it reaches another route
		if c.sibling {
			want.Seen, want.Answer = got.Seen, got.Answer
		}
	}},
}

// sortArguments writes the queries of both in one way.
func sortArguments(_ movedCall, want, got *outcome) {
	for _, s := range []*seen{&want.Seen[0], &got.Seen[0]} {
		path, query, _ := strings.Cut(s.Target, "?")
		if values, err := url.ParseQuery(query); err == nil {
			s.Target = path + "?" + values.Encode()
		}
	}
}

// refusals compares the statuses of calls that neither lets through.
func (m *moved) refusals(c movedCall, before, here outcome) (code, diff string) {
	if before.Status == here.Status {
		return "", ""
	}
	if before.Status == http.StatusOK && m.isLeftOut(c) { // a preflight
		return "route.closed", ""
	}
	refused := func(out outcome) bool {
		return isForTLS(out) || slices.Contains([]int{401, 403, 404, 429}, out.Status)
	}
	for _, one := range []struct {
		code string
		is   bool
	}{
		{"route.prefix", c.sibling},
		{"key-auth.places", c.twice && here.Status == http.StatusUnauthorized},
		{"plugin.auth_closed", before.Challenge != "" && here.Status == http.StatusForbidden},
		{"route.closed", m.isLeftOut(c)},
		{"route.https", isForTLS(before)},
		{"route.slash", c.slashless},
		{"route.wildcard", strings.HasPrefix(c.host, "any.") && here.Status == http.StatusNotFound},
	} {
		if one.is && (one.code == "route.closed" || m.has(one.code)) && refused(before) && refused(here) {
			return one.code, ""
		}
	}
	return "", fmt.Sprintf("Kong answers %d %s, and here it is %d %s", before.Status, before.Body, here.Status,
		here.Body)
}

// ownFields are the request headers that are the gateway's own, which each documents.
var ownFields = []string{
	"Via", "X-Real-Ip", "X-Consumer-Groups", "X-Authenticated-Groups", "X-Project-Id", "X-Tenant-Id", "Connection",
}

// plain is what a call comes to without what is the gateway's own and without the key.
func (m *moved) plain(out outcome) outcome {
	out = out.clone()
	for i, s := range out.Seen {
		maps.DeleteFunc(s.Headers, func(name string, lines []string) bool {
			return slices.Contains(ownFields, name) || strings.HasPrefix(name, "X-Forwarded-") ||
				strings.HasPrefix(name, "X-Kong-") || strings.HasPrefix(name, "X-Authenticated-") ||
				slices.ContainsFunc(m.keyNames(), func(key string) bool { return strings.EqualFold(key, name) }) ||
				name == "Content-Length" && lines[0] == "0"
		})
		s.Target, s.Trailers = m.withoutKey(s.Target), nil
		out.Seen[i] = s
	}
	answer := http.Header{}
	for name, lines := range out.Answer {
		if name != "Via" && name != "Server" && !strings.HasPrefix(name, "X-Kong-") && name != "Date" {
			answer[name] = lines
		}
	}
	return outcome{Status: out.Status, Body: out.Body, Answer: answer, Seen: out.Seen}
}

// withoutKey leaves the arguments with keys out of a target.
func (m *moved) withoutKey(target string) string {
	path, query, asked := strings.Cut(target, "?")
	if !asked {
		return target
	}
	var left []string
	for _, argument := range strings.Split(query, "&") {
		name, _, _ := strings.Cut(argument, "=")
		if !slices.Contains(m.keyNames(), name) {
			left = append(left, argument)
		}
	}
	if len(left) == 0 {
		return path
	}
	return path + "?" + strings.Join(left, "&")
}
