//go:build conformance

package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/service/projects"
	"postern/testkit/idp"
	"postern/testkit/sample"
	"postern/testkit/scripted"
)

// hostileText has what templates, shells, Kong's vaults and Lua interpret, and what misleads a reader, as far as
// the value of a transform can hold it.
const hostileText = "${HOME} {vault://env/HOME} {{ env }} `id` '\"\\ ]] .. os.getenv(\"HOME\") %{x} " +
	"%0d%0aX-Evil: 1 # <b>$"

// hostileRules have paths and scopes that a shell, a template, a pattern or a parser could interpret.
func hostileRules() []snapshot.Rule {
	get := []string{"GET"}
	return []snapshot.Rule{
		{ID: "rul_h1", Methods: get, Path: "/%24(id)/`id`", Scopes: []string{"$(id)"}},
		{ID: "rul_h2", Methods: get, Path: "/%24%28HOME%29/{x}", Scopes: []string{"${HOME}"}},
		{ID: "rul_h3", Methods: get, Path: `/it's "quoted"`, Scopes: []string{"it's"}},
		{ID: "rul_h4", Methods: get, Path: "/%E2%80%AEgnp.exe/{x}", Scopes: []string{"{vault://env/HOME}"}},
		{ID: "rul_h5", Methods: get, Path: "/a.+[x]|(y)^-", Groups: []string{"staff"}},
		{ID: "rul_h6", Methods: get, Path: "/.a/-/~b", Groups: []string{"ops"}},
		// Neither gateway has a relation for it.
		{ID: "rul_h8", Methods: get, Path: "/carts/{id}", Owner: "cart:{id}", Scopes: []string{"orders:read"}},
		{ID: "rul_h7", Methods: []string{"GET", "POST", "PURGE"}, Path: "/scripted/{name}",
			Scopes: []string{"orders:read"}},
	}
}

// hostilePaths are paths that match these rules, and paths close to them.
func hostilePaths() []string {
	return []string{
		"/$(id)/`id`", "/%24%28id%29/%60id%60", "/$(id)/id", "/$(HOME)/1", "/%24%28HOME%29/1", "/${HOME}/1", "/root/1",
		`/it's%20"quoted"`, "/it%27s%20%22quoted%22", "/it's", "/%E2%80%AEgnp.exe/x",
		"/%e2%80%aegnp.exe/x", "/gnp.exe/x",
		"/a.+[x]|(y)^-", "/a.+%5Bx%5D%7C(y)%5E-", "/abx", "/y", "/.a/-/~b", "/.a/-/%7Eb", "/.a/-/b", "/.a/./-/~b",
		"/carts/1", "/carts/%31", "/carts/$(id)",
	}
}

// togetherProject has rules, CORS with several origins, and transforms, in versions whose upstream uses TLS.
func togetherProject(t *testing.T, up *upstream) (*snapshot.Project, map[string]sample.Plain) {
	project, keys := rulesProject(t, up, startTokenIssuer(t))
	project.CORS = &snapshot.CORS{
		CORS: contract.CORS{
			Origins:        []string{"https://app.example", "http://localhost:3000"},
			Methods:        []string{"GET", "HEAD", "POST", "DELETE"},
			Headers:        []string{"X-API-Key", "X-$'*`|~^_"},
			ExposedHeaders: []string{"X-Added", "X-#$%&'*+.^_`|~"},
			Credentials:    true,
			MaxAge:         new(60),
		},
	}
	for i := range project.Versions {
		v := &project.Versions[i]
		v.Rules.List = slices.Concat(orderRules(), hostileRules())
		v.Transforms = snapshot.Transforms{
			Request: snapshot.Changes{
				Remove:  []string{"X-Gone"},
				Rename:  []string{"X-Known:X-New"},
				Replace: []string{"X-Other:" + hostileText},
				Add:     []string{"X-Added:" + hostileText, "X-Vault:{vault://env/HOME}"},
				Append:  []string{"X-Twice:" + hostileText},
			},
			Query: snapshot.Changes{
				Remove:  []string{"gone", "a[]", "'"},
				Rename:  []string{"old:${HOME}"},
				Replace: []string{"known:" + hostileText},
				Add:     []string{"`id`:" + hostileText},
				Append:  []string{"{vault}:" + hostileText, "a.*:1"},
			},
			Response: snapshot.Changes{
				Remove:  []string{"X-From", "X-Gone"},
				Rename:  []string{"X-Known:X-New"},
				Replace: []string{"X-Other:" + hostileText},
				Add:     []string{"X-Added:" + hostileText},
				Append:  []string{"X-Twice:" + hostileText},
			},
		}
		if a, b, tied := policy.TiedRules(v.Rules.List); tied {
			t.Fatalf("rules %d and %d are tied", a, b)
		}
		if wrong := projects.CheckTransforms("", &v.Transforms); wrong != nil {
			t.Fatalf("no one could save these transforms: %v", wrong)
		}
		for n := range v.Environments {
			v.Environments[n].Target = up.secure.byName + "/base"
		}
	}
	return project, keys
}

func togetherCallers(t *testing.T, keys map[string]sample.Plain) []togetherCaller {
	of := ruleCallers(t, keys)
	var callers []togetherCaller
	for _, name := range []string{
		"no one", "a key for all", "a key of an admin", "a key of a member", "a token of staff",
		"a token without groups",
		"a key and a token",
	} {
		callers = append(callers, togetherCaller{name, of[name]})
	}
	return append(callers, hostileTokens(t)...)
}

type togetherCaller struct {
	name  string
	lines []string
}

// hostileTokens have scopes and groups that look like those of rules.
func hostileTokens(t *testing.T) []togetherCaller {
	with := idp.WithClaim
	return []togetherCaller{
		{"hostile scopes", []string{bearing(t, with("sub", "usr_ops"), with("groups", []string{"ops"}),
			with("scope", "$(id) ${HOME} it's {vault://env/HOME}"))}},
		{"scopes of others", []string{bearing(t, with("sub", "usr_none"), with("groups", nil),
			with("scope", "id root its /root orders:read"))}},
		{"groups nearly of rules", []string{bearing(t,
			with("sub", "usr_none"), with("scope", "orders:*"), with("groups", []string{
				"Staff", "staff ", "\u202estaff", "staff\n", "$(staff)", "{vault://env/HOME}", "staff,ops", "*",
			}))}},
		{"groups of other scripts", []string{bearing(t, with("groups", []string{
			"\u0455taff", "staff\u200b", "${HOME}", "staff",
		}))}},
	}
}

func togetherCases(callers []togetherCaller) []Case {
	var out []Case
	const page, stranger = "Origin: https://app.example", "Origin: https://other.example"
	headers := []string{"X-Known: 1", "X-Twice: a", "X-Other: before", "X-Gone: 1", "Cookie: a=b"}
	query := "?gone=1&old=2&known=3&a[]=4&'=5&q=%24(id)"
	version := "/either/prod"
	for _, caller := range callers {
		for _, path := range append(hostilePaths(), "/orders/1", "/orders/export", "/staff/boss", "/none") {
			for n, origin := range []string{page, stranger} {
				name := fmt.Sprintf("%s GET %s %d", caller.name, path, n)
				out = append(out,
					get(name, version+path+query, slices.Concat(caller.lines, headers, []string{origin})...))
			}
		}
		out = append(out, preflights(caller.name, version, caller.lines)...)
	}
	return append(out, scriptedCases(callers[1].lines, page)...)
}

// preflights are from an allowed and from another origin. Both have a credential, which no browser sends.
func preflights(of, version string, lines []string) (out []Case) {
	for _, path := range []string{"/orders/1", "/staff/boss", "/none", "/$(id)/`id`"} {
		for _, origin := range []string{"https://app.example", "https://other.example", "http://localhost:3000"} {
			asked := []string{"Origin: " + origin, "Access-Control-Request-Method: DELETE",
				"Access-Control-Request-Headers: x-api-key, x-$'*`|~^_"}
			out = append(out, one("preflight of "+of+" "+path+" "+origin, "OPTIONS", projectHost, version+path,
				slices.Concat(lines, asked)...))
		}
	}
	return out
}

// scriptedCases are unusual answers to a call that rules allow and to one that they refuse.
func scriptedCases(lines []string, page string) (out []Case) {
	add := func(scripts []scripted.Script, items ...string) {
		for _, s := range scripts {
			at := "/either/prod" + scripted.Path + s.Name + "?old=1"
			allowed := get("answer "+s.Name, at, append(slices.Clone(lines), page, "X-Known: 1")...)
			out = append(out, differs([]Case{allowed}, items...)...)
			out = append(out, get("refused, answer "+s.Name, at, page))
		}
	}
	for _, group := range []func() []scripted.Script{
		scripted.Framings, scripted.Surpluses, scripted.Truncations, scripted.Timings, scripted.LargeHeads,
		scripted.Transformed, scripted.CrossOrigins, scripted.Cookies, scripted.HopFields, scripted.LowStatuses,
		scripted.InterimEnds, scripted.Accelerations,
	} {
		add(group())
	}
	add(scripted.Statuses()[:20])
	add(scripted.Absences(), ErrorBodies)
	add(scripted.BadLengths(), ErrorBodies)
	add(scripted.BadFields(), ErrorBodies)
	add(scripted.Interims(), InterimAnswers)
	add(scripted.UnaskedSwitches(), UnaskedSwitch)
	for _, s := range scripted.Timings() {
		at := "/either/prod" + scripted.Path + s.Name
		out = append(out, withBody("POST, answer "+s.Name, "POST", projectHost, at, "hello",
			append(slices.Clone(lines), page, length(5), "X-Known: 1")...))
	}
	return out
}

// Rules, CORS, transforms and an upstream with TLS have the same effect on both gateways when one call uses all
// of them.
func TestConformanceTogether(t *testing.T) {
	up := newUpstream(t)
	up.secure = newSecureUpstreams(t)
	project, keys := togetherProject(t, up)
	folder := exportOf(t, project, keys, bundle.Options{Consumers: true})
	kong, _ := startKong(t, folder, up, "KONG_NGINX_PROXY_PROXY_SSL_TRUSTED_CERTIFICATE="+up.secure.file)
	cases := togetherCases(togetherCallers(t, keys))
	equal := run(t, cases, declarations(t, folder), startPosternOf(t, up, project, keys), kong)
	t.Logf("equal by status: %v", equal)
	if equal[http.StatusOK] < 200 || equal[http.StatusForbidden] < 150 || equal[http.StatusUnauthorized] < 150 {
		t.Error("these calls show too little")
	}
}
