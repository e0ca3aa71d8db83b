package kong

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// routedDoc is what decides in gateway.yaml which route a call has.
type routedDoc struct {
	Services []struct{ Routes []routeDoc }
	Routes   []routeDoc
	Plugins  []struct {
		Config struct {
			Routes   map[string]routePolicyDoc
			Unrouted []string
		}
	}
}

func (d routedDoc) all() []routeDoc {
	out := slices.Clone(d.Routes)
	for _, s := range d.Services {
		out = append(out, s.Routes...)
	}
	return out
}

func routedOf(t *testing.T, p *snapshot.Project) routedDoc {
	t.Helper()
	in := sampleInput()
	in.Project = p
	var doc routedDoc
	if err := json.Unmarshal([]byte(write(t, in)["gateway/gateway.yaml"]), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// weightOf is the priority of a route without headers by Kong's router (kong/router/transform.lua, get_priority), its
// most significant part first.
func weightOf(r routeDoc) []int {
	categories, regex, length := 1, 0, 0 // all have paths
	for _, list := range [][]string{r.Hosts, r.Methods} {
		if len(list) > 0 {
			categories++
		}
	}
	if strings.HasPrefix(r.Paths[0], "~") {
		regex = 1
	} else {
		length = len(r.Paths[0])
	}
	return []int{categories, len(r.Hosts), regex, regex * r.RegexPriority, length}
}

// routeOn returns the route that a call has on Kong; "" for none.
func (d routedDoc) routeOn(host, method, path string) string {
	var found []routeDoc
	for _, r := range d.all() {
		if len(r.Headers) > 0 || len(r.Hosts) > 0 && !slices.Contains(r.Hosts, host) ||
			len(r.Methods) > 0 && !slices.Contains(r.Methods, method) {
			continue
		}
		pattern, isRegex := strings.CutPrefix(r.Paths[0], "~")
		if !isRegex {
			pattern = regexp.QuoteMeta(pattern)
		}
		if regexp.MustCompile("^" + pattern).MatchString(path) {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		return ""
	}
	slices.SortFunc(found, func(a, b routeDoc) int { return slices.Compare(weightOf(b), weightOf(a)) })
	if len(found) > 1 && slices.Equal(weightOf(found[0]), weightOf(found[1])) {
		return found[0].Name + " or " + found[1].Name
	}
	return found[0].Name
}

// Of the custom domains of a host, Kong chooses the same one for a call, whichever they are.
func TestDomains_precedence(t *testing.T) {
	prefixes := []string{"", "/a", "/a/b", "/a.b", "/1.0.0/prod", "/a~b", "/shop", "/a$(x)"}
	methods := [][]string{nil, {"GET"}, {"POST"}, {"GET", "POST"}}
	paths := []string{"/", "/a", "/a/", "/a/b", "/a/b/c", "/ab", "/a.b/c", "/a-b", "/a~b/", "/1.0.0/prod/x",
		"/shop/1.0.0/prod/x",
		"/axb", "/a$(x)/y"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		p := sample.Project("https://up.example")
		places := []*snapshot.Environment{
			&p.Versions[0].Environments[0], &p.Versions[0].Environments[1], &p.Versions[1].Environments[0],
		}
		for i := range p.Versions {
			for j := range p.Versions[i].Environments {
				p.Versions[i].Environments[j].Domains = nil
			}
		}
		taken := map[string]bool{} // by host, prefix and method
		for range 1 + random.IntN(8) {
			host := []string{"a.example.com", "b.example.com"}[random.IntN(2)]
			d := sample.DomainAt(host, prefixes[random.IntN(len(prefixes))], methods[random.IntN(len(methods))]...)
			d.StripPrefix = random.IntN(2) == 0
			marks := []string{d.Address()}
			for _, m := range d.Methods {
				marks = append(marks, d.Address()+":"+m)
			}
			if len(d.Methods) > 0 {
				marks = marks[1:]
			}
			if slices.ContainsFunc(marks, func(mark string) bool { return taken[mark] }) {
				continue // a team can't have both
			}
			for _, mark := range marks {
				taken[mark] = true
			}
			e := places[random.IntN(len(places))]
			e.Domains = append(e.Domains, d)
		}
		doc := routedOf(t, p)
		for _, host := range []string{"a.example.com", "b.example.com"} {
			for _, method := range []string{"GET", "POST", "PUT"} {
				for _, path := range paths {
					var want string
					if d := taker(p, host, method, path); d != nil {
						want = "host~" + domainName(d)
					} else if len(domainsByHost(p)[host]) > 0 {
						want = "unrouted~" + host
					} else {
						continue // any host
					}
					if got := doc.routeOn(host, method, path); got != want {
						t.Fatalf("%s %s%s has the route %q, want %q", method, host, path, got, want)
					}
				}
			}
		}
	}
}

func TestDomains_names(t *testing.T) {
	seen := map[string]string{}
	for _, d := range []snapshot.Domain{
		sample.DomainAt("a.example.com", ""), sample.DomainAt("a.example.com", "/a/b"),
		sample.DomainAt("a.example.com", "/a~b"), sample.DomainAt("a.example.com", "/a-b"),
		sample.DomainAt("a.example.com", "/a$b"), sample.DomainAt("a.example.com", "/a", "GET"),
		sample.DomainAt("a.example.com", "/a/GET"), sample.DomainAt("a.example.com", "", "GET"),
		sample.DomainAt("a.example.com", "/a$b", "GET", "POST"),
	} {
		name := domainName(&d)
		if other, twice := seen[name]; twice || !regexp.MustCompile(`^[A-Za-z0-9._~-]+$`).MatchString(name) {
			t.Errorf("%s is named %s, as is %q", d.Key(), name, other)
		}
		seen[name] = d.Key()
	}
}

func TestDomains_export(t *testing.T) {
	p := sample.Project("http://up.example")
	for i := range p.Versions {
		for j := range p.Versions[i].Environments {
			p.Versions[i].Environments[j].Domains = nil
		}
	}
	prod := &p.Versions[0].Environments[1]
	prod.Domains = []snapshot.Domain{
		sample.DomainAt("a.example.com", "/orders", "GET", "POST"),
		sample.Kept(sample.DomainAt("a.example.com", "/kept")),
		sample.DomainAt("b.example.com", ""),
		sample.DomainAt("c.example.com", "/c"),
	}
	prod.Domains[3].Shared = true
	p.Versions[0].Rules = snapshot.Rules{Default: snapshot.RulesDeny}
	doc := routedOf(t, p)
	var got []string
	for _, r := range doc.all() {
		if len(r.Hosts) == 0 {
			continue
		}
		got = append(got, fmt.Sprintln(r.Name, r.Hosts, r.Methods, r.Paths, r.RegexPriority, r.StripPath,
			doc.Plugins[0].Config.Routes[r.ID].Prefix, slices.Contains(doc.Plugins[0].Config.Unrouted, r.ID)))
	}
	slices.SortFunc(got, cmp.Compare)
	const want = `
host~a.example.com~kept [a.example.com] [] [~/kept(?:/|$)] 5 false  false
host~a.example.com~orders~~GET~POST [a.example.com] [GET POST] [~/orders(?:/|$)] 7 true /orders false
host~b.example.com [b.example.com] [] [/] 0 false  false
host~c.example.com~c [c.example.com] [] [~/c(?:/|$)] 2 true /c false
unrouted~a.example.com [a.example.com] [] [/] 0 false  true
unrouted~c.example.com [c.example.com] [] [/] 0 false  true
`
	if text := "\n" + strings.Join(got, ""); text != want {
		t.Errorf("routes:%s", text)
	}
	wantFates(t, p, map[string]string{
		"a.example.com/orders:GET,POST": "exact kong.custom_domains.route_part",
		"a.example.com/kept":            "exact kong.custom_domains.route_part",
		"b.example.com":                 "exact kong.custom_domains.route_host",
		"c.example.com/c":               "approximate kong.custom_domains.shared",
	})
}

// gRPC has its own routes, in the same order. Kong tries them before all others.
func TestDomains_grpc(t *testing.T) {
	p := sample.Project("http://up.example")
	p.Versions = p.Versions[:1]
	p.Versions[0].Environments = []snapshot.Environment{{
		ID: "env_1", Name: "prod", Target: "http://up.example:50051",
		Domains: []snapshot.Domain{
			sample.DomainAt("a.example.com", ""),
			sample.DomainAt("a.example.com", "", "GET"),
			sample.DomainAt("a.example.com", "", "POST"),
			sample.DomainAt("a.example.com", "/stripped"),
			sample.Kept(sample.DomainAt("a.example.com", "/a.B")),
			sample.Kept(sample.DomainAt("a.example.com", "/a.B", "POST")),
		},
		Upstream: snapshot.Upstream{HTTP: contract.HTTP2},
	}}
	var got []string
	for _, r := range routedOf(t, p).all() {
		if len(r.Headers) > 0 {
			got = append(got, fmt.Sprintln(r.Name, r.Methods, r.Paths, r.RegexPriority, r.StripPath))
		}
	}
	slices.SortFunc(got, cmp.Compare)
	const want = `
grpc~a.example.com [] [/] 0 false
grpc~a.example.com~a.B [] [~/a\.B(?:/|$)] 4 false
grpc~a.example.com~a.B~~POST [] [~/a\.B(?:/|$)] 1004 false
grpc~a.example.com~~POST [] [~/] 1000 false
`
	if text := "\n" + strings.Join(got, ""); text != want {
		t.Errorf("routes:%s", text)
	}
	wantFates(t, p, map[string]string{
		"a.example.com":          "exact kong.custom_domains.route_host",
		"a.example.com:GET":      "approximate kong.custom_domains.grpc",
		"a.example.com:POST":     "exact kong.custom_domains.route_part",
		"a.example.com/stripped": "approximate kong.custom_domains.grpc",
		"a.example.com/a.B":      "exact kong.custom_domains.route_part",
		"a.example.com/a.B:POST": "exact kong.custom_domains.route_part",
	})
}

// wantFates requires the status and code of each custom domain's item.
func wantFates(t *testing.T, p *snapshot.Project, want map[string]string) {
	t.Helper()
	in := sampleInput()
	in.Project = p
	var report struct {
		Items []struct{ Kind, Name, Status, Code string }
	}
	text := write(t, in)["MIGRATION-REPORT.json"]
	if err := json.NewDecoder(bytes.NewReader([]byte(text))).Decode(&report); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, item := range report.Items {
		if item.Kind != string(snapshot.FeatureCustomDomains) {
			continue
		}
		n++
		if got := item.Status + " " + item.Code; got != want[item.Name] {
			t.Errorf("%s is %s, want %s", item.Name, got, want[item.Name])
		}
	}
	if n != len(want) {
		t.Errorf("%d items of custom domains, want %d", n, len(want))
	}
}
