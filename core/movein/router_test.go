package movein_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/movein"
	"postern/core/policy"
)

// kongRoute is a route as Kong's router sees it.
type kongRoute struct {
	host, method, path string // "" for any
	more               string // another path; Kong takes plain ones and regular expressions for two routes
	priority           int    // of regular expressions
	keyed              bool
	plugin             string // that checks keys, or that can't be imported
	keeps              bool   // strip_path: false
}

func (r kongRoute) yaml(i int) string {
	out := fmt.Sprintf("  - {name: r%d", i)
	paths := r.path
	if r.more != "" {
		paths += "', '" + r.more
	}
	for _, one := range []struct{ name, value string }{{"hosts", r.host}, {"methods", r.method}, {"paths", paths}} {
		if one.value != "" {
			out += fmt.Sprintf(", %s: ['%s']", one.name, one.value)
		}
	}
	if r.priority > 0 {
		out += fmt.Sprintf(", regex_priority: %d", r.priority)
	}
	if r.keyed {
		out += ", plugins: [{name: " + r.plugin + "}]"
	}
	if r.keeps {
		out += ", strip_path: false"
	}
	return out + "}\n"
}

// split returns routes with a path each.
func split(routes []kongRoute) (out []kongRoute) {
	for _, r := range routes {
		out = append(out, r)
		if r.more != "" {
			r.path = r.more
			out = append(out, r)
		}
	}
	return out
}

func (r kongRoute) matches(host, method, path string) bool {
	if r.host != "" && r.host != host || r.method != "" && r.method != method {
		return false
	}
	if pattern, ok := strings.CutPrefix(r.path, "~"); ok {
		return regexp.MustCompile("^(?:" + pattern + ")").MatchString(path)
	}
	return strings.HasPrefix(path, r.path)
}

// rank is Kong's get_priority: attributes, plain host, regular expression and its priority, length of the path.
func (r kongRoute) rank() [5]int {
	var out [5]int
	for _, value := range []string{r.host, r.method, r.path} {
		if value != "" {
			out[0]++
		}
	}
	if r.host != "" {
		out[1] = 1
	}
	if strings.HasPrefix(r.path, "~") {
		out[2], out[3] = 1, r.priority
	} else {
		out[4] = len(r.path)
	}
	return out
}

// needsKey reports whether Kong can refuse a call without a key: routes of equal rank come in any order.
func needsKey(routes []kongRoute, host, method, path string) bool {
	var best [5]int
	needs := false
	for _, r := range routes {
		if !r.matches(host, method, path) {
			continue
		}
		rank := r.rank()
		switch slices.Compare(rank[:], best[:]) {
		case 1:
			best, needs = rank, r.keyed
		case 0:
			needs = needs || r.keyed
		}
	}
	return needs
}

// isServed reports whether the projects of a plan forward a call without a key.
func isServed(t *testing.T, p *movein.Plan, host, method, path string) bool {
	t.Helper()
	type choice struct {
		version *contract.PlannedVersion
		domain  contract.PlannedDomain
	}
	var found []choice
	for i := range p.Projects {
		for j := range p.Projects[i].Versions {
			v := &p.Projects[i].Versions[j]
			for _, d := range v.Domains {
				if d.Host == host && (len(d.Methods) == 0 || slices.Contains(d.Methods, method)) &&
					(path == d.PathPrefix || strings.HasPrefix(path, d.PathPrefix+"/")) {
					found = append(found, choice{v, d})
				}
			}
		}
	}
	if len(found) == 0 {
		return false
	}
	slices.SortStableFunc(found, func(a, b choice) int {
		return cmp.Or(cmp.Compare(min(len(b.domain.Methods), 1), min(len(a.domain.Methods), 1)),
			cmp.Compare(len(b.domain.PathPrefix), len(a.domain.PathPrefix)))
	})
	first := found[0]
	if len(found) > 1 && found[1].domain.PathPrefix == first.domain.PathPrefix &&
		len(found[1].domain.Methods) == len(first.domain.Methods) && found[1].version != first.version {
		t.Errorf("two custom domains take %s %s%s: %v and %v", method, host, path, first.domain, found[1].domain)
	}
	if first.version.Closed || first.version.RequestsAuth.Mode == "authenticate" {
		return false
	}
	if first.domain.StripPrefix != nil && *first.domain.StripPrefix {
		path = path[len(first.domain.PathPrefix):]
	}
	return rulesAllow(t, first.version, method, path)
}

// rulesAllow reports whether the rules of a version let a call without a key through: the longest path decides.
func rulesAllow(t *testing.T, v *contract.PlannedVersion, method, path string) bool {
	t.Helper()
	if first, second, tied := policy.TiedRules(v.Rules.List); tied {
		t.Errorf("rules %d and %d of %s are for the same calls", first, second, v.Name)
	}
	longest, allowed := -1, v.Rules.Default == contract.RulesAllow
	for _, rule := range v.Rules.List {
		if err := policy.CheckRulePath(rule.Path); err != nil {
			t.Errorf("%s: %v", rule.Path, err)
		}
		begin := strings.TrimSuffix(rule.Path, "/**")
		begin, goesOn := strings.CutSuffix(begin, "{rest}")
		rest, ok := strings.CutPrefix(strings.TrimSuffix(path, "/"), begin)
		inSegment := rest != "" && rest[0] != '/'
		rank := 2 * len(begin)
		if slices.Contains(rule.Methods, method) {
			rank++ // a rule that names the method wins over one for all
		} else if rule.Methods[0] != policy.AnyMethod {
			continue
		}
		if ok && inSegment == goesOn && rank > longest {
			longest, allowed = rank, len(rule.Groups) == 0
		}
	}
	return allowed
}

// isReachable reports whether Kong forwards a call without a key to a path of the upstream.
func isReachable(routes []kongRoute, method, upstream string) bool {
	for _, r := range routes {
		prefix := ""
		if !r.keeps {
			prefix = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(r.path, "~"), "(/|$)"), "$")
			prefix = strings.TrimSuffix(prefix, "/")
		}
		for _, host := range []string{"h.example.com", "g.example.com", "other.example.com"} {
			for _, path := range []string{prefix + upstream, strings.TrimSuffix(prefix+upstream, "/")} {
				if !r.keyed && r.matches(host, method, path) && !needsKey(routes, host, method, path) {
					return true
				}
			}
		}
	}
	return false
}

// No call without a key is forwarded that Kong refuses, whatever routes a file has.
func TestKong_routesOfRandomFiles(t *testing.T) {
	pick := func(r *rand.Rand, values ...string) string { return values[r.IntN(len(values))] }
	paths := []string{
		"", "/", "/a", "/a/b", "/ab", "/a/b/c", `~/a/[0-9]+$`, `~/a(/|$)`, `~/a/b/.+/x`, "~/b", "~/a$", "~/a/b",
	}
	calls := []string{"/", "/a", "/a/", "/ab", "/abc/d", "/a/b", "/a/bc", "/a/1", "/a/b/c/x", "/a/b/cd", "/b", "/bc"}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		routes := make([]kongRoute, 2+r.IntN(4))
		text := "_format_version: '3.0'\nservices:\n- name: api\n  url: http://api.example.net\n  routes:\n"
		for i := range routes {
			routes[i] = kongRoute{
				host: pick(r, "", "h.example.com", "g.example.com"), method: pick(r, "", "", "GET", "POST"),
				path: pick(r, paths...), keyed: r.IntN(2) == 0, plugin: pick(r, "key-auth", "key-auth", "oauth2"),
				keeps: r.IntN(3) == 0, priority: r.IntN(3) / 2,
			}
			if routes[i].path != "" && r.IntN(3) == 0 {
				routes[i].more = pick(r, paths[1:]...)
			}
			if r.IntN(5) == 0 {
				routes[i].path, routes[i].more = "~/a$", "/a/"
			}
			text += routes[i].yaml(i)
		}
		routes = split(routes)
		_, p := read(t, text, movein.Options{Hosts: []string{"h.example.com", "g.example.com"}})
		for _, host := range []string{"h.example.com", "g.example.com"} {
			for _, method := range []string{"GET", "POST", "PUT"} {
				for _, path := range calls {
					if t.Failed() {
						t.Fatal(text)
					}
					if needsKey(routes, host, method, path) && isServed(t, p, host, method, path) {
						t.Fatalf("seed %d: %s %s%s is served without a key\n%s", seed, method, host, path, text)
					}
				}
			}
		}
		for i := range p.Projects {
			for j := range p.Projects[i].Versions {
				v := &p.Projects[i].Versions[j]
				for _, method := range []string{"GET", "POST", "PUT"} {
					for _, path := range calls {
						if !v.Closed && v.RequestsAuth.Mode == contract.Passthrough &&
							rulesAllow(t, v, method, path) && !isReachable(routes, method, path) {
							t.Fatalf("seed %d: the gateway URL of %s serves %s %s without a key\n%s", seed, v.Name,
								method, path, text)
						}
					}
				}
			}
		}
	}
}
