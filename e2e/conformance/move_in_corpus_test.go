//go:build conformance

package conformance

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"postern/core/kongfile"
	"postern/core/policy"
)

// movedCall is a call to a host name of a Kong file, and in what the plan may declare a difference for it.
type movedCall struct {
	Case
	method, host, path string // path in the form of policy.NormalizePath

	sibling   bool // its path continues the last segment of a route's path
	slashless bool // only a slash is missing to the path of a route
	twice     bool // it has a key in two places
	basic     bool // it has a password
	token     bool // it has a token that the jwt plugin accepts
	origin    bool // it comes from a page
}

// movedCaller is who sends a call.
type movedCaller struct {
	name  string
	lines []string
	query string
	twice bool
	basic bool
	token bool
}

// otherHost is a host name that no file has.
const otherHost = "other.example.com"

const wrongKey = "wrong-key-0123456789"

// keyNames are all names that the file's key-auth plugins read keys by.
func (m *moved) keyNames() []string {
	var names []string
	for _, e := range m.file.Of(kongfile.Plugin) {
		if e.PluginName() == "key-auth" {
			found := e.Config("key_names").Texts()
			if len(found) == 0 {
				found = []string{"apikey"}
			}
			names = append(names, found...)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return []string{"apikey"}
	}
	return names
}

// keyValues are the keys of the file and one that isn't in it.
func (m *moved) keyValues() []string {
	var values []string
	for _, e := range m.file.Of(kongfile.KeyAuth) {
		values = append(values, e.Value.Get("key").Text)
	}
	return append(values, wrongKey)
}

func (m *moved) limited() bool {
	return slices.ContainsFunc(m.file.Of(kongfile.Plugin), func(e *kongfile.Entity) bool {
		return e.PluginName() == "rate-limiting" && e.IsOn()
	})
}

// callers are those with each key in the first place, and then those with it elsewhere.
func (m *moved) callers() (first, others []movedCaller) {
	first = []movedCaller{{name: "no key"}}
	names := m.keyNames()
	for _, value := range m.keyValues() {
		for n, name := range names {
			header := movedCaller{name: startOf(value) + " in " + name, lines: []string{name + ": " + value}}
			if n == 0 {
				first = append(first, header)
			} else {
				others = append(others, header)
			}
			others = append(others, movedCaller{name: startOf(value) + " in ?" + name, query: name + "=" + value})
		}
		others = append(others, movedCaller{
			name: startOf(value) + " elsewhere", lines: []string{"X-Elsewhere: " + value},
		})
	}
	if !m.limited() { // else one gateway would count a call that another doesn't
		value := m.keyValues()[0]
		others = append(others,
			movedCaller{name: "two places", lines: []string{names[0] + ": " + value},
				query: names[len(names)-1] + "=" + value, twice: true},
			movedCaller{name: "two headers", lines: []string{
				names[0] + ": " + value, names[0] + ": " + wrongKey}, twice: true})
	}
	if token := m.token(); token != "" {
		others = append(others, movedCaller{
			name: "token", lines: []string{"Authorization: Bearer " + token}, token: true,
		})
	}
	return first, append(others, movedCaller{
		name: "password", lines: []string{"Authorization: Basic YWxpY2U6cGFzc3dvcmQtb2YtYWxpY2U="}, basic: true,
	})
}

func startOf(value string) string { return value[:min(len(value), 4)] }

// token returns a token of the first JWT credential with a secret, "" if there is none.
func (m *moved) token() string {
	for _, e := range m.file.Of(kongfile.JWTSecret) {
		if secret := e.Value.Get("secret").Text; secret != "" {
			encode := base64.RawURLEncoding.EncodeToString
			claims := fmt.Sprintf(`{"iss":%q,"exp":%d}`, e.Value.Get("key").Text, time.Now().Add(time.Hour).Unix())
			text := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode([]byte(claims))
			sum := hmac.New(sha256.New, []byte(secret))
			sum.Write([]byte(text))
			return text + "." + encode(sum.Sum(nil))
		}
	}
	return ""
}

// mostCalls bounds the calls of a file that isn't ours.
const mostCalls = 500

// calls are the corpus of a file: all host names and paths of its routes, and those close to them.
func (m *moved) calls() []movedCall {
	out := m.allCalls()
	if !m.others || len(out) <= mostCalls {
		return out
	}
	some := make([]movedCall, 0, mostCalls)
	for i := range mostCalls { // evenly, so that all routes have some
		some = append(some, out[i*len(out)/mostCalls])
	}
	return some
}

func (m *moved) allCalls() (out []movedCall) {
	first, others := m.callers()
	methods := []string{"GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"}
	add := func(host, path string, sibling bool, method string, caller movedCaller, lines ...string) {
		out = append(out, m.call(host, path, sibling, method, caller, lines...))
	}
	for _, host := range m.hosts() {
		for _, path := range m.paths() {
			for _, caller := range first {
				for _, method := range methods {
					if path.few && method != "GET" && method != "POST" {
						continue
					}
					add(host, path.text, path.sibling, method, caller)
				}
			}
			if path.few {
				continue
			}
			for _, caller := range others {
				add(host, path.text, path.sibling, "GET", caller)
				add(host, path.text, path.sibling, "POST", caller)
			}
			for _, origin := range []string{"https://app.example", "https://stranger.example"} {
				add(host, path.text, path.sibling, "OPTIONS", first[0], "Origin: "+origin,
					"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: apikey")
				add(host, path.text, path.sibling, "GET", first[1], "Origin: "+origin)
			}
		}
	}
	// Half of all come from another address, after all from the usual one.
	for _, c := range slices.Clone(out) {
		if (c.method == "GET" || c.method == "POST") && !c.sibling {
			c.From = "127.0.0.2"
			c.Name += " from there"
			out = append(out, c)
		}
	}
	return out
}

func (m *moved) call(host, path string, sibling bool, method string, caller movedCaller, lines ...string) movedCall {
	lines = slices.Concat(caller.lines, lines, []string{"X-Gone: 1", "X-Known: 2", "X-Twice: 3", "X-Other: 4"})
	target, body := path, ""
	if caller.query != "" {
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		target += mark + caller.query
	}
	if method == "POST" || method == "PUT" || method == "PATCH" {
		body = "hello"
		lines = append(lines, length(len(body)), "Content-Type: text/plain")
	}
	plain, _, _ := strings.Cut(path, "?")
	normal, err := policy.NormalizePath(plain)
	if err != nil {
		normal = plain
	}
	c := movedCall{
		method: method, host: host, path: normal, sibling: sibling, twice: caller.twice, basic: caller.basic,
		token:  caller.token,
		origin: slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Origin: ") }),
	}
	for _, e := range m.file.Of(kongfile.Route) {
		c.slashless = c.slashless || slices.Contains(e.Value.Get("paths").Texts(), c.path+"/")
	}
	c.Case = withBody(fmt.Sprintf("%s %s%s, %s %v", method, host, path, caller.name, c.origin), method, host, target,
		body, lines...)
	return c
}

// hosts are the host names of the file's routes and another one.
func (m *moved) hosts() []string {
	var hosts []string
	for _, e := range m.file.Of(kongfile.Route) {
		for _, host := range e.Value.Get("hosts").Texts() {
			hosts = append(hosts, strings.ReplaceAll(host, "*", "any"))
		}
	}
	slices.Sort(hosts)
	return append(slices.Compact(hosts), otherHost)
}

// movedPath is a path of calls.
type movedPath struct {
	text    string
	few     bool // with few methods and callers
	sibling bool
}

var (
	regexGroups = regexp.MustCompile(`\([^()]*\)[?*+]?|\[[^\]]*\][?*+]?|\\[dwS][?*+]?|\.[*+]`)
	regexMarks  = regexp.MustCompile(`[\^$?*+\\]`)
)

// samplePath returns a path that a path of a route matches.
func samplePath(path string) string {
	if regex, ok := strings.CutPrefix(path, "~"); ok {
		regex = strings.ReplaceAll(regex, "(/|$)", "/")
		for regexGroups.MatchString(regex) {
			regex = regexGroups.ReplaceAllString(regex, "7")
		}
		return regexMarks.ReplaceAllString(regex, "")
	}
	return path
}

func (m *moved) paths() []movedPath {
	var all []string
	for _, e := range m.file.Of(kongfile.Route) {
		for _, path := range e.Value.Get("paths").Texts() {
			all = append(all, samplePath(path))
		}
	}
	if len(all) == 0 {
		all = []string{"/"}
	}
	slices.Sort(all)
	out := []movedPath{{text: "/nowhere", few: true}, {text: "/", few: true}}
	for _, path := range slices.Compact(all) {
		trimmed := strings.TrimRight(path, "/")
		out = append(out, movedPath{text: trimmed + "/1?a=b&c=d&gone=1"})
		few := []string{
			trimmed + "/", trimmed + "/a%20b/%2e%2e/c", trimmed + "//x", trimmed + "/x/../y", trimmed + "/%C3%A4?q=%C3",
			trimmed + "/%7Ex?" + url.QueryEscape("ä b"), trimmed + "/a;b=c/d+e",
		}
		if len(trimmed) > 1 {
			encoded := fmt.Sprintf("/%%%02x%s", trimmed[1], trimmed[2:])
			few = append(few, trimmed, trimmed+"/x/../../y", encoded+"/1", strings.ToUpper(trimmed)+"/1",
				trimmed[:len(trimmed)-1])
			if !m.limited() {
				out = append(out, movedPath{trimmed + "x", true, true}, movedPath{trimmed + "x/y?a=b", true, true},
					movedPath{trimmed + "%2fx", true, true})
			}
		}
		for _, one := range few {
			out = append(out, movedPath{text: one, few: true})
		}
	}
	slices.SortFunc(out, func(a, b movedPath) int { return cmp.Compare(a.text, b.text) })
	return slices.CompactFunc(out, func(a, b movedPath) bool { return a.text == b.text })
}
