package policy

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"postern/core/snapshot"
)

// ruleCase is a call line of testdata/rules.txt.
type ruleCase struct {
	line                  int
	rules                 *Rules
	method, path          string
	scopes, groups, admin []string
	owns                  []string
	want                  string
}

func readRuleTable(t *testing.T) []ruleCase {
	t.Helper()
	file, err := os.Open("testdata/rules.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var cases []ruleCase
	var list snapshot.Rules
	lines := bufio.NewScanner(file)
	for at := 1; lines.Scan(); at++ {
		text, want, _ := strings.Cut(lines.Text(), " : ")
		words := strings.Fields(text)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		with := map[string]string{}
		for _, word := range words[1:] {
			if name, value, ok := strings.Cut(word, "="); ok && !strings.Contains(name, "/") {
				with[name] = value
			}
		}
		switch words[0] {
		case "list":
			list = snapshot.Rules{
				Default:         snapshot.RuleDefault(with["default"]),
				Mode:            snapshot.RuleMode(with["mode"]),
				ReadWriteScopes: with["read_write"] == "yes",
			}
		case "rule":
			list.List = append(list.List, snapshot.Rule{
				ID:      words[1],
				Methods: strings.Split(words[2], ","),
				Path:    words[3],
				Scopes:  listed(with["scopes"]),
				Groups:  listed(with["groups"]),
				Role:    with["role"],
				Mode:    snapshot.RuleMode(with["mode"]),
				Owner:   with["owner"],
			})
		case "call":
			rules, err := CompileRules(&list)
			if err != nil {
				t.Fatalf("line %d: %v", at, err)
			}
			cases = append(cases, ruleCase{
				line:   at,
				rules:  rules,
				method: words[1],
				path:   strings.TrimPrefix(words[2], "-"),
				scopes: listed(with["scopes"]),
				groups: listed(with["groups"]),
				admin:  listed(with["admin"]),
				owns:   listed(with["owns"]),
				want:   want,
			})
		default:
			t.Fatalf("line %d: %q", at, words[0])
		}
	}
	if len(cases) < 100 {
		t.Fatalf("only %d calls", len(cases))
	}
	return cases
}

func listed(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// call returns what Decide would be called with for the key of a user.
func (c *ruleCase) call() (*Call, *Identity) {
	realm := &Realm{
		ID:      "prj_1",
		members: map[memberKey]*snapshot.Member{{"tnt_1", "usr_1"}: {In: c.groups, Admin: c.admin}},
	}
	id := &Identity{Owner: "usr_1", CredentialID: "key_1", TenantID: "tnt_1", Scopes: c.scopes}
	var objects []string
	for _, object := range c.owns {
		objects = append(objects, "tnt_1 usr_1 "+object)
	}
	return &Call{Realm: realm, Rules: c.rules, Method: c.method, Path: c.path, Relations: owned(objects...)}, id
}

// outcome is written as in the table.
func outcome(enforced, shadow RuleOutcome) string {
	text := func(o RuleOutcome) string {
		code, by := o.Denial.Code, o.By
		if code == "" {
			code = "allow"
		}
		if by == "" {
			by = "-"
		}
		return code + " " + by
	}
	if shadow == (RuleOutcome{}) {
		return text(enforced)
	}
	return text(enforced) + " shadow " + text(shadow)
}

func TestRules(t *testing.T) {
	for _, tc := range readRuleTable(t) {
		t.Run(fmt.Sprintf("line %d", tc.line), func(t *testing.T) {
			call, id := tc.call()
			if got := outcome(tc.rules.decide(call, id)); got != tc.want {
				t.Errorf("%s %s: %s, want %s", tc.method, tc.path, got, tc.want)
			}
		})
	}
}

func TestRules_allocations(t *testing.T) {
	for _, tc := range readRuleTable(t) {
		call, id := tc.call()
		if n := testing.AllocsPerRun(10, func() { tc.rules.decide(call, id) }); n > 0 {
			t.Errorf("line %d: %v allocations", tc.line, n)
		}
	}
}

// The user of a token has the groups of the directory, and not those of the token. A key has those of its owner in the
// tenant that it counts for.
func TestRules_callersGroups(t *testing.T) {
	rules, err := CompileRules(&snapshot.Rules{List: []snapshot.Rule{
		{ID: "staff", Methods: []string{"GET"}, Path: "/staff", Groups: []string{"staff"}},
		{ID: "boss", Methods: []string{"GET"}, Path: "/boss", Groups: []string{"staff"}, Role: "admin"},
		{ID: "scope", Methods: []string{"GET"}, Path: "/scope", Scopes: []string{"s"}},
	}, ReadWriteScopes: true})
	if err != nil {
		t.Fatal(err)
	}
	staffs := []string{"staff"}
	realm := NewRealm(&snapshot.Project{
		Members: []snapshot.Member{
			{User: "billing", TenantID: "tnt_1", In: staffs},
			{User: "billing", TenantID: "tnt_2", In: []string{"other"}},
			{User: "deploy app", TenantID: "tnt_2", In: staffs, Admin: staffs},
			{User: "usr_1", TenantID: "tnt_1", In: staffs, Admin: staffs},
		},
		Users: []snapshot.Member{
			{User: "cli_1", TenantID: "tnt_1", In: staffs},
			{User: "usr_2", TenantID: "tnt_1", In: staffs},
			{User: "usr_boss", TenantID: "tnt_1", In: staffs, Admin: staffs},
		},
	})
	read := []string{"read"}
	hosted := func(user string, groups ...string) *Token {
		return &Token{Subject: user, Hosted: Hosted{Client: "cli_1", Groups: groups}}
	}
	at := func(tenant string) Identity { return Identity{TenantID: tenant} }
	ofApp := func(owner, tenant string) Identity {
		return Identity{Owner: owner, CredentialID: "key_1", TenantID: tenant, Scopes: read}
	}
	for name, tc := range map[string]struct {
		path  string
		token *Token
		id    Identity
		want  Denial
	}{
		"a key of the user": {
			"/staff", nil, Identity{Owner: "usr_1", CredentialID: "key_1", TenantID: "tnt_1", Scopes: read}, Denial{},
		},
		"an admin's key": {
			"/boss", nil, Identity{Owner: "usr_1", CredentialID: "key_1", TenantID: "tnt_1", Scopes: read}, Denial{},
		},
		"a key of another tenant": {
			"/staff", nil, Identity{Owner: "usr_1", CredentialID: "key_1", TenantID: "tnt_2", Scopes: read}, NotInGroup,
		},
		"an admin's key of another tenant": {
			"/boss", nil, Identity{Owner: "usr_1", CredentialID: "key_1", TenantID: "tnt_2", Scopes: read}, NotInGroup,
		},
		"a fallback owner": {"/staff", nil, Identity{Owner: "usr_1"}, NotInGroup},
		"no one":           {"/staff", nil, Identity{}, NotInGroup},
		"a key of an app without a tenant": {
			"/staff", nil, Identity{Owner: "billing", CredentialID: "key_1", Scopes: read}, NotInGroup,
		},
		"a key of an app in the group": {"/staff", nil, ofApp("billing", "tnt_1"), Denial{}},
		"a key of another app":         {"/staff", nil, ofApp("billing 2", "tnt_1"), NotInGroup},
		"a key of another tenant's app of this name": {
			"/staff", nil, ofApp("billing", "tnt_2"), NotInGroup,
		},
		"an app that isn't an admin":       {"/boss", nil, ofApp("billing", "tnt_1"), NotInGroup},
		"an app that is an admin":          {"/boss", nil, ofApp("deploy app", "tnt_2"), Denial{}},
		"an admin app of another tenant":   {"/boss", nil, ofApp("deploy app", "tnt_1"), NotInGroup},
		"an app's key with a user's token": {"/staff", hosted("usr_3"), ofApp("billing", "tnt_1"), NotInGroup},
		"a machine with an app's name": {
			"/staff", hosted("cli_1"), Identity{Owner: "billing", TenantID: "tnt_1"}, NotInGroup,
		},
		"an app as fallback owner": {"/staff", nil, Identity{Owner: "billing", TenantID: "tnt_1"}, NotInGroup},
		"a token": {
			"/staff", hosted("usr_2"), at("tnt_1"), Denial{},
		},
		"a token that names a group": {
			"/staff", hosted("usr_3", "staff"), at("tnt_1"), NotInGroup,
		},
		"a token of another tenant": {
			"/staff", hosted("usr_2", "staff"), at("tnt_2"), NotInGroup,
		},
		"a member's token": {
			"/boss", hosted("usr_2", "staff"), at("tnt_1"), NotInGroup,
		},
		"an admin's token": {
			"/boss", hosted("usr_boss"), at("tnt_1"), Denial{},
		},
		"a machine": {
			"/staff", hosted("cli_1", "staff"), Identity{Owner: "cli_1", TenantID: "tnt_1"}, NotInGroup,
		},
		"a foreign token": {"/staff", &Token{Subject: "usr_1"}, at("tnt_1"), NotInGroup},
		"a key with a foreign token": {
			"/staff", &Token{}, Identity{Owner: "usr_1", CredentialID: "key_1", Scopes: read}, NotInGroup,
		},
		"read by no one":              {"/x", nil, Identity{}, Denial{}},
		"read by a fallback owner":    {"/x", nil, Identity{Owner: "usr_1"}, Denial{}},
		"read by a token":             {"/x", &Token{}, Identity{User: "u"}, Denial{}},
		"read by a key":               {"/x", nil, Identity{CredentialID: "key_1"}, InsufficientScope},
		"scopes of no one":            {"/scope", nil, Identity{}, InsufficientScope},
		"scopes of a token":           {"/scope", &Token{}, Identity{User: "u", Scopes: []string{"t"}}, TokenScope},
		"scopes of a key and a token": {"/scope", &Token{}, Identity{CredentialID: "key_1"}, InsufficientScope},
	} {
		t.Run(name, func(t *testing.T) {
			call := &Call{Realm: realm, Rules: rules, Method: "GET", Path: tc.path, Token: tc.token}
			if got, _ := rules.decide(call, &tc.id); got.Denial != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestCompileRules_unknown(t *testing.T) {
	good := snapshot.Rule{ID: "a", Methods: []string{"GET"}, Path: "/a"}
	with := func(edit func(*snapshot.Rule)) []snapshot.Rule {
		rule := good
		edit(&rule)
		return []snapshot.Rule{rule}
	}
	for name, of := range map[string]snapshot.Rules{
		"default":     {Default: "ask"},
		"mode":        {Mode: "audit"},
		"rule's mode": {List: with(func(r *snapshot.Rule) { r.Mode = "audit" })},
		"role":        {List: with(func(r *snapshot.Rule) { r.Role = "king" })},
		"path":        {List: with(func(r *snapshot.Rule) { r.Path = "a" })},
		"tied":        {List: []snapshot.Rule{good, good}},
		"tied by name": {
			List: append(with(func(r *snapshot.Rule) { r.Path = "/{x}" }),
				with(func(r *snapshot.Rule) { r.Path = "/{y}" })...),
		},
	} {
		if rules, err := CompileRules(&of); err == nil {
			t.Errorf("%s: compiled to %+v", name, rules)
		}
	}
	if rules, err := CompileRules(&snapshot.Rules{}); rules != nil || err != nil {
		t.Errorf("no rules: %+v, %v", rules, err)
	}
}

// naive returns the rule for a path by comparing all of them, segment by segment.
func naive(list []snapshot.Rule, method, path string) string {
	segments := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
	best, rank := "", ""
	for _, rule := range list {
		specific, matches := naiveMatch(strings.Split(strings.TrimPrefix(rule.Path, "/"), "/"), segments)
		if !matches {
			continue
		}
		for _, m := range rule.Methods {
			var how string
			switch {
			case m == method:
				how = "3"
			case m == "GET" && method == "HEAD":
				how = "2"
			case m == AnyMethod:
				how = "1"
			default:
				continue
			}
			if specific+how > rank {
				best, rank = rule.ID, specific+how
			}
		}
	}
	return best
}

// naiveMatch returns a text that is greater the more specific a rule's path is.
func naiveMatch(wanted, segments []string) (specific string, matches bool) {
	for i, segment := range wanted {
		if segment == "**" || strings.HasSuffix(segment, "...}") {
			return specific + "0", true
		}
		if i == len(segments) {
			return "", false
		}
		have := decodeSegment(segments[i])
		before, after, templated := strings.Cut(segment, "{")
		_, after, _ = strings.Cut(after, "}")
		switch {
		case !templated && have == segment:
			specific += "8"
		case !templated || len(have) <= len(before)+len(after):
			return "", false
		case !strings.HasPrefix(have, before) || !strings.HasSuffix(have, after):
			return "", false
		case before+after == "":
			specific += "2"
		default:
			specific += fmt.Sprintf("4 %03d %03d", len(before), len(after))
		}
	}
	return specific + "9", len(wanted) == len(segments)
}

// FuzzRules compares the compiled rules with naive, on random rules.
func FuzzRules(f *testing.F) {
	f.Add(uint64(1), "GET", "/a/b/c")
	f.Add(uint64(2), "HEAD", "/a/%61/")
	f.Add(uint64(3), "PUT", "/b")
	f.Fuzz(func(t *testing.T, seed uint64, method, raw string) {
		path, err := NormalizePath(raw)
		if err != nil || strings.Count(path, "/") > 8 {
			return
		}
		list := randomRules(rand.New(rand.NewPCG(seed, 1)), path)
		var tree ruleTree
		for i := range list {
			tree.add(&rule{Rule: &list[i]})
		}
		got := ""
		if rule := tree.find(path, method, true); rule != nil {
			got = rule.ID
		}
		if want := naive(list, method, path); got != want {
			t.Fatalf("%s %s: rule %q, want %q of %+v", method, path, got, want, list)
		}
		for as := range readings {
			tree.findBytes(as.of(nil, path), method)
		}
	})
}

// randomRules returns untied rules, some of which match the path.
func randomRules(random *rand.Rand, path string) []snapshot.Rule {
	var list []snapshot.Rule
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for n := range 12 {
		text := ""
		for _, segment := range segments {
			literal := decodeSegment(segment)
			from := random.IntN(len(literal) + 1)
			to := from + random.IntN(len(literal)+1-from)
			switch plain := checkText(literal) == nil && !strings.ContainsAny(literal, "{}"); random.IntN(8) {
			case 0:
				text += "/**"
			case 1, 2:
				text += "/" + string("abc"[random.IntN(3)])
			case 3, 4:
				if plain {
					text += "/" + literal
					break
				}
				fallthrough
			case 5:
				text += fmt.Sprintf("/{p%d}", len(text))
			default:
				if !plain {
					text += fmt.Sprintf("/{q%d...}", len(text))
					break
				}
				text += fmt.Sprintf("/%s{r%d}%s", literal[:from], len(text), literal[to:])
			}
			if strings.HasSuffix(text, "**") || strings.HasSuffix(text, "...}") {
				break
			}
		}
		rule := snapshot.Rule{ID: fmt.Sprint(n), Path: text}
		for _, method := range []string{"GET", "HEAD", "PUT", AnyMethod} {
			if random.IntN(2) == 0 {
				rule.Methods = append(rule.Methods, method)
			}
		}
		if CheckRulePath(text) != nil {
			continue
		}
		if _, _, tied := TiedRules(append(list, rule)); !tied {
			list = append(list, rule)
		}
	}
	return list
}
