package movein_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/movein"
	"postern/core/policy"
)

// awsOperation is an operation as API Gateway sees it.
type awsOperation struct {
	method, path string
	closed       bool   // it has an authorizer
	target       string // host name
}

func awsSegments(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(segment string) bool { return segment == "" })
}

// awsKinds returns how specific each segment of a path is, if a call matches it: 0 for text, 1 for a parameter and 2
// for a greedy one.
func awsKinds(path, call string) (kinds []int, ok bool) {
	segments, own := awsSegments(call), awsSegments(path)
	for i, segment := range own {
		switch {
		case i >= len(segments):
			return nil, false
		case strings.HasSuffix(segment, "+}") || segment == "**":
			return append(kinds, 2), true
		case strings.HasPrefix(segment, "{"):
			kinds = append(kinds, 1)
		case segment != segments[i]:
			return nil, false
		default:
			kinds = append(kinds, 0)
		}
	}
	return append(kinds, -1), len(own) == len(segments)
}

// awsReached returns the operation that a call comes to: the most specific path decides, and then its methods. It
// returns nil if AWS refuses the call.
func awsReached(operations []awsOperation, method, call string) (found *awsOperation) {
	var best []int
	path := ""
	for _, o := range operations {
		if kinds, ok := awsKinds(o.path, call); ok && (best == nil || slices.Compare(kinds, best) < 0) {
			best, path = kinds, o.path
		}
	}
	for i := range operations {
		o := &operations[i]
		if o.path == path && (o.method == method || o.method == "ANY" && found == nil) {
			found = o
		}
	}
	return found
}

// awsServed returns the target that a call without a key reaches, "" if it is refused.
func awsServed(t *testing.T, p *movein.Plan, host, method, path string) string {
	t.Helper()
	var first *contract.PlannedDomain
	var version *contract.PlannedVersion
	for i := range p.Projects {
		for j := range p.Projects[i].Versions {
			v := &p.Projects[i].Versions[j]
			for n := range v.Domains {
				d := &v.Domains[n]
				if d.Host != host || len(d.Methods) > 0 && !slices.Contains(d.Methods, method) ||
					path != d.PathPrefix && !strings.HasPrefix(path, d.PathPrefix+"/") {
					continue
				}
				if first == nil || cmp.Or(cmp.Compare(min(len(d.Methods), 1), min(len(first.Methods), 1)),
					cmp.Compare(len(d.PathPrefix), len(first.PathPrefix))) > 0 {
					first, version = d, v
				}
			}
		}
	}
	if first == nil || version.Closed || version.RequestsAuth.Mode != contract.Passthrough {
		return ""
	}
	if first.StripPrefix != nil && *first.StripPrefix {
		path = cmp.Or(path[len(first.PathPrefix):], "/")
	}
	if one, other, tied := policy.TiedRules(version.Rules.List); tied {
		t.Fatalf("rules %v and %v are for the same calls", version.Rules.List[one], version.Rules.List[other])
	}
	var best []int
	allowed := false
	for _, rule := range version.Rules.List {
		own := strings.ReplaceAll(rule.Path, "}/**", "+}")
		kinds, ok := awsKinds(own, path)
		for _, one := range rule.Methods {
			implied := one == "GET" && method == "HEAD" && !slices.Contains(rule.Methods, "HEAD")
			rank := slices.Clone(kinds)
			if implied {
				rank = append(rank, 1) // a rule that names the method wins
			}
			if ok && (one == method || implied) && (best == nil || slices.Compare(rank, best) < 0) {
				best, allowed = rank, len(rule.Groups) == 0
			}
		}
	}
	if !allowed {
		return ""
	}
	host, _, _ = strings.Cut(strings.TrimPrefix(version.Environment.Target, "https://"), "/")
	return host
}

func awsText(operations []awsOperation, host, prefix, id string) string {
	paths := map[string]map[string]any{}
	for _, o := range operations {
		parameters := map[string]string{}
		for segment := range strings.SplitSeq(o.path, "/") {
			if name := strings.Trim(segment, "{}+"); segment != name {
				parameters["integration.request.path."+name] = "method.request.path." + name
			}
		}
		one := map[string]any{"x-amazon-apigateway-integration": map[string]any{
			"type": "http_proxy", "httpMethod": o.method, "requestParameters": parameters,
			"uri": "https://" + o.target + strings.ReplaceAll(o.path, "+}", "}"),
		}}
		if o.closed {
			one["security"] = []any{map[string]any{"tokens": []any{}}}
		}
		if paths[o.path] == nil {
			paths[o.path] = map[string]any{}
		}
		name := strings.ToLower(o.method)
		if name == "any" {
			name = "x-amazon-apigateway-any-method"
		}
		paths[o.path][name] = one
	}
	text, err := json.MarshalIndent(map[string]any{
		"openapi": "3.0.1", "info": map[string]any{"title": id}, "paths": paths,
		"servers": []any{
			map[string]any{"url": "https://" + host + prefix},
			map[string]any{"url": "https://" + id + ".execute-api.eu-west-1.amazonaws.com/prod"},
		},
		"components": map[string]any{"securitySchemes": map[string]any{"tokens": map[string]any{
			"type": "apiKey", "name": "Authorization", "in": "header", "x-amazon-apigateway-authtype": "custom",
		}}},
	}, "", "  ")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// No call is forwarded that AWS refuses, or to another target, whatever operations APIs on one host name have. A call
// to an operation that isn't skipped is forwarded.
func TestAWS_callsOfRandomExports(t *testing.T) {
	pick := func(r *rand.Rand, values ...string) string { return values[r.IntN(len(values))] }
	paths := []string{
		"/", "/a", "/a/b", "/a/{x}", "/a/{x}/c", "/a/{p+}", "/{p+}", "/{x}", "/a/b/{p+}", "/a/b/c", "/{x}/b", "/b/{p+}",
		"/a/:d",
	}
	calls := []string{"/", "/a", "/a/b", "/a/z", "/a/b/c", "/a/z/c", "/a/b/d", "/z", "/z/b", "/b", "/b/c/d", "/a/:d"}
	served := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 0))
		prefixes := []string{"", "/v2"}[:1+r.IntN(2)]
		var files []movein.File
		all := map[string][]awsOperation{}
		for i, prefix := range prefixes {
			var operations []awsOperation
			seen := map[string]bool{}
			for range 1 + r.IntN(5) {
				o := awsOperation{
					pick(r, "GET", "GET", "POST", "HEAD", "ANY"), pick(r, paths...), r.IntN(2) == 0,
					pick(r, "one.example.net", "one.example.net", "two.example.net"),
				}
				if !seen[o.method+o.path] {
					seen[o.method+o.path] = true
					operations = append(operations, o)
				}
			}
			all[prefix] = operations
			files = append(files, movein.File{
				Name: fmt.Sprint(i), Text: []byte(awsText(operations, "api.example.com", prefix, fmt.Sprint("api", i))),
			})
		}
		p := planAWS(t, files, movein.Options{})
		for _, method := range []string{"GET", "HEAD", "POST", "DELETE"} {
			for _, call := range calls {
				for i, prefix := range prefixes {
					if prefix == "" && len(prefixes) > 1 && strings.HasPrefix(call, "/v2") {
						continue
					}
					want := ""
					o := awsReached(all[prefix], method, call)
					if o != nil && !o.closed {
						want = o.target
					}
					got := awsServed(t, p, "api.example.com", method, prefix+call)
					if got != "" {
						served++
					}
					skipped := o != nil && slices.ContainsFunc(p.Items, func(item contract.ImportItem) bool {
						file, _, _ := strings.Cut(item.Pointer, "#")
						refused := item.Status == "skipped" || slices.Contains(item.Codes, "operation.shadow")
						return refused && item.Name == o.method+" "+o.path &&
							(len(files) == 1 || file == files[i].Name)
					})
					if got != want && (got != "" || !skipped) {
						var out strings.Builder
						for _, prefix := range prefixes {
							fmt.Fprintf(&out, "%q %+v\n", prefix, all[prefix])
						}
						for i := range p.Projects {
							for _, v := range p.Projects[i].Versions {
								fmt.Fprintf(&out, "%s %s %v\n", v.Name, v.Environment.Target, v.Rules.List)
								for _, d := range v.Domains {
									fmt.Fprintf(&out, "   %+v\n", d.NewDomain)
								}
							}
						}
						t.Fatalf("seed %d: %s %s%s reaches %q, want %q\n%s", seed, method, prefix, call, got, want,
							&out)
					}
				}
			}
		}
	}
	if served < 10_000 {
		t.Errorf("%d calls were forwarded", served)
	}
}
