package movein_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/movein"
)

// awsAPI returns an export of an API with the ID abc. rest are members after the paths.
func awsAPI(paths, rest string) string {
	return `{"openapi":"3.0.1","info":{"title":"shop"},"servers":[{"url":"https://abc.execute-api.eu-west-1.` +
		`amazonaws.com/prod"}],"paths":{` + paths + `},"components":{"securitySchemes":{"key":{"type":"apiKey",` +
		`"name":"x-api-key","in":"header"},"query":{"type":"apiKey","name":"x-api-key","in":"query"},"ref":{"$ref":` +
		`"#/components/securitySchemes/tokens"},"basic":{"type":"http","scheme":"basic"},"tokens":{"type":"apiKey",` +
		`"name":"Authorization","in":"header","x-amazon-apigateway-authtype":"custom"}},"parameters":{"q":{"in":` +
		`"query","name":"q","required":true}},"x-paths":{"a":{"get":{"security":[{"tokens":[]}],` + awsTo("/a") +
		`}}}},"x-amazon-apigateway-request-validators":{"all":{"validateRequestBody":true,` +
		`"validateRequestParameters":true}}` + rest + `}`
}

// awsTo returns the integration of an operation.
func awsTo(path string) string {
	return `"x-amazon-apigateway-integration":{"type":"http_proxy","httpMethod":"ANY","uri":"https://t.example.net` +
		path + `"}`
}

const (
	awsWide = `"/{p+}":{"x-amazon-apigateway-any-method":{"x-amazon-apigateway-integration":{"type":"http_proxy",` +
		`"httpMethod":"ANY","uri":"https://t.example.net/{p}","requestParameters":{"integration.request.path.p":` +
		`"method.request.path.p"}}}}`
	awsPlans = `{"items":[{"id":"plan01","name":"Gold","apiStages":[{"apiId":"abc","stage":"prod"}],"throttle":` +
		`{"rateLimit":5,"burstLimit":5}}]}`
)

// An operation that AWS checks in a way that isn't imported stays closed, also for calls that a wider path matches.
func TestAWS_neverMoreOpen(t *testing.T) {
	for _, tt := range []struct{ call, name, paths, rest string }{
		{"HEAD /a", "a method that the path doesn't have", `"/a":{"get":{` + awsTo("/a") + `}}`, ""},
		{"GET /a", "an authorizer", `"/a":{"get":{"security":[{"tokens":[]}],` + awsTo("/a") + `}}`, ""},
		{"GET /a", "a method of any", `"/a":{"x-amazon-apigateway-any-method":{` + awsTo("/a") + `},` +
			`"get":{"security":[{"tokens":` +
			`[]}],` + awsTo("/a") + `}}`, ""},
		{"GET /a", "security of the API", `"/a":{"get":{` + awsTo("/a") + `}}`, `,"security":[{"tokens":[]}]`},
		{"GET /a", "a key in the query", `"/a":{"get":{"security":[{"query":[]}],` + awsTo("/a") + `}}`, ""},
		{"GET /a", "basic", `"/a":{"get":{"security":[{"basic":[]}],` + awsTo("/a") + `}}`, ""},
		{"GET /a", "a scheme by reference", `"/a":{"get":{"security":[{"ref":[]}],` + awsTo("/a") + `}}`, ""},
		{"GET /a", "security that isn't a list", `"/a":{"get":{"security":{"tokens":[]},` + awsTo("/a") + `}}`, ""},
		{"GET /a", "names instead of requirements", `"/a":{"get":{"security":["tokens"],` + awsTo("/a") + `}}`, ""},
		{"GET /a", "IAM", `"/a":{"get":{"x-amazon-apigateway-auth":{"type":"AWS_IAM"},` + awsTo("/a") + `}}`, ""},
		{"GET /a", "IAM of the API", `"/a":{"get":{` + awsTo("/a") + `}}`, `,` +
			`"x-amazon-apigateway-auth":{"type":"AWS_IAM"}`},
		{"GET /a", "authentication without a type", `"/a":{"get":{"x-amazon-apigateway-auth":"AWS_IAM",` +
			awsTo("/a") + `}}`, ""},
		{"GET /a", "a method in capitals", `"/a":{"GET":{"security":[{"tokens":[]}],` + awsTo("/a") + `}}`, ""},
		{"GET /a", "a path by reference", `"/a":{"$ref":"#/components/x-paths/a"}`, ""},
		{"GET /a", "a path in another file", `"/a":{"$ref":"paths.json#/a"}`, ""},
		{"GET /:a", "a path that rules can't have", `"/:a":{"get":{"security":[{"tokens":[]}],` +
			awsTo("/:a") + `}}`, ""},
		{"GET /a/b/c", "a path that overlaps", `"/a/b/{p+}":{"get":{"security":[{"tokens":[]}],` +
			awsTo("/a") + `}},"/a/{x}/c":{"get":{` +
			`"x-amazon-apigateway-integration":{"type":"http_proxy","httpMethod":"GET","uri":` +
			`"https://t.example.net/a/{x}/c"}}}`, ""},
		{"GET /a", "a slash at the end", `"/a":{"get":{` + awsTo("/a") + `}},` +
			`"/a/":{"get":{"security":[{"tokens":[]}],` +
			awsTo("/a") + `}}`, ""},
		{"GET /a/1", "another name of a parameter",
			`"/a/{x}":{"get":{"x-amazon-apigateway-integration":{"type":"http_proxy",` +
				`"httpMethod":"GET","uri":"https://t.example.net/a/{x}"}}},` +
				`"/a/{y}":{"get":{"security":[{"tokens":[]}],` +
				awsTo("/a") + `}}`, ""},
		{"GET /a", "keys of an authorizer", `"/a":{"get":{"security":[{"key":[]}],` + awsTo("/a") + `}}`,
			`,"x-amazon-apigateway-api-key-source":"authorizer"`},
		{"GET /a", "a parameter by reference", `"/a":{"get":{"x-amazon-apigateway-request-validator":"all",` +
			`"parameters":[{"$ref":` +
			`"#/components/parameters/q"}],` + awsTo("/a") + `}}`, ""},
		{"GET /a", "a parameter of the path", `"/a":{"parameters":[{"in":"header","name":"x","required":true}],` +
			`"get":{` +
			`"x-amazon-apigateway-request-validator":"all",` + awsTo("/a") + `}}`, ""},
		{"POST /a", "a validated body", `"/a":{"post":{"requestBody":{"$ref":"#/x"},` + awsTo("/a") + `}}`,
			`,"x-amazon-apigateway-request-validator":"all"`},
	} {
		p := planAWS(t, []movein.File{{Text: []byte(awsAPI(awsWide+","+tt.paths, tt.rest))}}, movein.Options{
			Hosts: []string{"api.example.com"},
		})
		method, path, _ := strings.Cut(tt.call, " ")
		if awsServed(t, p, "api.example.com", method, path) != "" {
			t.Errorf("%s: %s is forwarded", tt.name, tt.call)
		}
	}
	p := planAWS(t, []movein.File{{Text: []byte(awsAPI(awsWide, ""))}},
		movein.Options{Hosts: []string{"h.example.com"}})
	if awsServed(t, p, "h.example.com", "GET", "/a") == "" {
		t.Error("a call to an open operation isn't forwarded")
	}
}

// An API that only VPC endpoints reach, or with a resource policy that does more than allow every call, stays closed.
func TestAWS_closedAPIs(t *testing.T) {
	policy := func(statement string) string {
		return `,"x-amazon-apigateway-policy":{"Statement":[` + statement + `]}`
	}
	const all = `"Effect":"Allow","Principal":"*","Action":"execute-api:Invoke","Resource":"execute-api:/*"`
	endpoint := func(text string) string { return `,"x-amazon-apigateway-endpoint-configuration":` + text }
	for _, tt := range []struct {
		name, rest string
		open       bool
	}{
		{"nothing", "", true},
		{"regional", endpoint(`{"types":["REGIONAL"],"disableExecuteApiEndpoint":true}`), true},
		{"private", endpoint(`{"types":["PRIVATE"]}`), false},
		{"private in small letters", endpoint(`{"types":"private"}`), false},
		{"types that can't be read", endpoint(`{"types":{"PRIVATE":true}}`), false},
		{"a VPC endpoint", endpoint(`{"vpcEndpointIds":["vpce-1"]}`), false},
		{"a VPC endpoint as text", endpoint(`{"vpcEndpointIds":"vpce-1"}`), false},
		{"allow", policy("{" + all + "}"), true},
		{"allow and deny", policy("{" + all + `},{"Effect":"Deny","Principal":"*","Action":"*",` +
			`"Resource":"*"}`), false},
		{"a condition", policy("{" + all + `,"Condition":{"IpAddress":{"aws:SourceIp":"192.0.2.0/24"}}}`), false},
		{"a condition as a list", policy("{" + all + `,"Condition":[{"IpAddress":{}}]}`), false},
		{"NotPrincipal", policy(strings.ReplaceAll("{"+all+"}", "Principal", "NotPrincipal")), false},
		{"NotAction", policy(strings.ReplaceAll("{"+all+"}", "Action", "NotAction")), false},
		{"a path", policy(strings.ReplaceAll("{"+all+"}", "execute-api:/*", "execute-api:/prod/GET/a")), false},
		{"text", `,"x-amazon-apigateway-policy":"{}"`, false},
		{"no statements", `,"x-amazon-apigateway-policy":{}`, false},
	} {
		text := awsAPI(awsWide, tt.rest)
		p := planAWS(t, []movein.File{{Text: []byte(text)}}, movein.Options{Hosts: []string{"h.example.com"}})
		if open := awsServed(t, p, "h.example.com", "GET", "/a") != ""; open != tt.open {
			t.Errorf("%s: open is %t", tt.name, open)
		}
	}
	for old, replaced := range map[string]string{
		"/prod\"}": `/prod","x-amazon-apigateway-endpoint-configuration":{"vpcEndpointIds":["vpce-1"]}}`,
		"//abc.ex": "//abc-vpce-0a1b.ex",
	} {
		text := strings.Replace(awsAPI(awsWide, ""), old, replaced, 1)
		p := planAWS(t, []movein.File{{Text: []byte(text)}}, movein.Options{Hosts: []string{"h.example.com"}})
		if !strings.Contains(text, replaced) || len(p.Projects) > 0 {
			t.Errorf("%s: a private API is open", replaced)
		}
	}
}

// A key calls what its usage plans include, and only if AWS accepts it.
func TestAWS_keys(t *testing.T) {
	const plan2 = `{"id":"plan02","name":"Gold","apiStages":[{"apiId":"xyz","stage":"prod"}]}`
	key := func(id, rest string) string {
		return `{"id":"` + id + `","name":"n","value":"` + id + awsKeyValue + `"` + rest + `}`
	}
	members := func(ids ...string) string {
		out := ""
		for _, id := range ids {
			out += `,{"id":"` + id + `","type":"API_KEY","name":"n","value":"` + id + awsKeyValue + `"}`
		}
		return `{"items":[` + out[1:] + `]}`
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string // owners with their groups
	}{
		{
			"a key of a plan",
			map[string]string{"k": `{"items":[` + key("k1", `,"enabled":true`) + `]}`, "p": awsPlans,
				"plan01": members("k1")},
			"n-k1[gold-plan01]",
		},
		{
			"a disabled key",
			map[string]string{"k": `{"items":[` + key("k1", `,"enabled":false`) + `]}`, "p": awsPlans,
				"plan01": members("k1")},
			"n-k1[gold-plan01] frozen api_key.disabled",
		},
		{
			"a key that one of two files has as disabled",
			map[string]string{
				"k": `{"items":[` + key("k1", `,"enabled":true`) + `]}`, "p": awsPlans, "plan01": members("k1"),
				"l": `{"items":[` + key("k1", `,"enabled":false`) + `]}`,
			},
			"n-k1[gold-plan01] frozen api_key.disabled",
		},
		{
			"a key of which only the plan is known",
			map[string]string{"p": awsPlans, "plan01": members("k1")},
			"n-k1[gold-plan01] frozen api_key.unknown",
		},
		{
			"a key without a plan",
			map[string]string{"k": `{"items":[` + key("k1", `,"enabled":true`) + `]}`, "p": awsPlans},
			"n-k1[] frozen api_key.no_plan",
		},
		{
			"a key of another API's plan with the same name",
			map[string]string{
				"k": `{"items":[` + key("k1", `,"enabled":true`) + `]}`, "plan02": members("k1"),
				"p": strings.Replace(awsPlans, "[{", "["+plan2+",{", 1),
			},
			"n-k1[]",
		},
		{
			"a file of keys whose plan can be each of two",
			map[string]string{
				"k": `{"items":[` + key("k1", `,"enabled":true`) + `]}`, "plan01-plan02": members("k1"),
				"p": strings.Replace(awsPlans, "[{", "["+plan2+",{", 1),
			},
			"n-k1[] frozen api_key.no_plan",
		},
		{
			"two files of keys for one plan",
			map[string]string{
				"k": `{"items":[` + key("k1", `,"enabled":true`) + "," + key("k2", `,"enabled":true`) + `]}`,
				"p": awsPlans,
				"x": members("k1"), "y": members("k2"),
			},
			"n-k1[] frozen api_key.no_plan, n-k2[] frozen api_key.no_plan",
		},
		{
			"keys of a plan that the files don't have",
			map[string]string{
				"k": `{"items":[` + key("k1", `,"enabled":true`) + `]}`, "p": awsPlans,
				"m": strings.Replace(members("k1"), "{", `{"usagePlanId":"plan09",`, 1),
			},
			"n-k1[] frozen api_key.no_plan",
		},
		{
			"a plan that allows no calls",
			map[string]string{
				"k": `{"items":[` + key("k1", `,"enabled":true`) + `]}`, "plan01": members("k1"),
				"p": strings.Replace(awsPlans, `"rateLimit":5`, `"rateLimit":0`, 1),
			},
			"n-k1[gold-plan01] frozen api_key.zero",
		},
		{
			"a quota that can't be read",
			map[string]string{
				"k": `{"items":[` + key("k1", `,"enabled":true`) + `]}`, "plan01": members("k1"),
				"p": strings.Replace(awsPlans, `"throttle"`, `"quota":{"limit":"NaN","period":"DAY"},"throttle"`, 1),
			},
			"n-k1[gold-plan01] frozen api_key.zero",
		},
	} {
		api := awsAPI(`"/a":{"get":{"security":[{"key":[]}],`+awsTo("/a")+`}}`, "")
		files := []movein.File{{Name: "api", Text: []byte(api)}}
		for _, name := range slices.Sorted(maps.Keys(tt.files)) {
			files = append(files, movein.File{Name: name, Text: []byte(tt.files[name])})
		}
		p := planAWS(t, files, movein.Options{Hosts: []string{"h.example.com"}})
		var got []string
		for i, owner := range p.Owners {
			text := fmt.Sprintf("%s%v", owner.Name, owner.Groups)
			if owner.Frozen != (p.OwnerKeys[i][0].State == contract.KeyFrozen) {
				t.Errorf("%s: the key of %s has the state %s", tt.name, owner.Name, p.OwnerKeys[i][0].State)
			}
			for _, item := range p.Items {
				if owner.Frozen && item.Pointer == p.OwnerKeys[i][0].Pointer {
					text += " frozen " + strings.Join(item.Codes, " ")
				}
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		for _, rule := range p.Projects[0].Versions[0].Rules.List {
			if len(rule.Groups) != 1 || rule.Groups[0] != "gold-plan01" && rule.Groups[0] != "aws-closed" {
				t.Errorf("%s: %+v", tt.name, rule)
			}
		}
	}
}

const awsKeyValue = "Pk1rTq8vXz2mWs5yBn7cLd4gHj6fKe9aQu3oRi"

// Without usage plans, operations that require a key can be called by no one: the product can have other keys.
func TestAWS_noPlans(t *testing.T) {
	text := awsAPI(`"/a":{"get":{"security":[{"key":[]}],`+awsTo("/a")+`}}`, "")
	p := planAWS(t, []movein.File{{Text: []byte(text)}}, movein.Options{})
	if rule := p.Projects[0].Versions[0].Rules.List[0]; !slices.Equal(rule.Groups, []string{"aws-keys"}) {
		t.Errorf("%+v", rule)
	}
}

// --open opens what it names, which still requires its key.
func TestAWS_open(t *testing.T) {
	text := awsAPI(`"/a":{"get":{"security":[{"key":[]},{"tokens":[]}],`+awsTo("/a")+`}},`+
		`"/b":{"get":{"security":[{"tokens":`+
		`[]}],`+awsTo("/b")+`}}`, "")
	for _, tt := range []struct {
		open string
		want string // paths of rules with the groups that may call them, or an error
	}{
		{"GET /a", "/a[aws-keys] /a[aws-closed]"},
		{"GET /b", "/b[] /b[aws-closed]"},
		{"shop", "/a[aws-keys] /b[] /a[aws-closed] /b[aws-closed]"},
		{"/paths/~1a/get", "/a[aws-keys] /a[aws-closed]"},
		{"", "contain a closed"},
		{"GET /c", "contain a closed"},
	} {
		read, err := movein.Read([]movein.File{{Text: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := read.Plan(nil, movein.Options{Now: now, Open: []string{tt.open}})
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q: %v", tt.open, err)
			}
			continue
		}
		var got []string
		for _, rule := range p.Projects[0].Versions[0].Rules.List {
			got = append(got, fmt.Sprint(rule.Path, rule.Groups))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: %q, want %q", tt.open, got, tt.want)
		}
	}
}

// The variables of a stage with the same name are those of its API only.
func TestAWS_stageVariables(t *testing.T) {
	api := func(id string) movein.File {
		text := strings.ReplaceAll(awsAPI(`"/a":{"get":{`+awsTo("/a")+`}}`, ""), "abc.execute", id+".execute")
		return movein.File{Name: id + ".json", Text: []byte(strings.ReplaceAll(text, "t.example.net",
			"${stageVariables.host}"))}
	}
	stages := func(name, host string) movein.File {
		return movein.File{Name: name, Text: []byte(`{"item":[{"stageName":"prod","variables":{"host":"` +
			host + `"}}]}`)}
	}
	for _, tt := range []struct {
		name  string
		files []movein.File
		want  string
	}{
		{"one API", []movein.File{api("abc"), stages("s", "one.example.net")}, "abc https://one.example.net"},
		{"two APIs", []movein.File{api("abc"), api("xyz"), stages("s", "one.example.net")}, ""},
		{
			"two APIs and a file with the ID of one",
			[]movein.File{api("abc"), api("xyz"), stages("stages-xyz", "one.example.net")},
			"xyz https://one.example.net",
		},
		{"two files", []movein.File{api("abc"), stages("s", "one.example.net"), stages("t", "two.example.net")}, ""},
		{
			"one file twice",
			[]movein.File{api("abc"), stages("s", "one.example.net"), stages("t", "one.example.net")},
			"abc https://one.example.net",
		},
	} {
		var got []string
		for _, project := range planAWS(t, tt.files, movein.Options{}).Projects {
			got = append(got, project.Source+" "+project.Versions[0].Environment.Target)
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The same export twice is imported once.
func TestAWS_twice(t *testing.T) {
	file := movein.File{Name: "a", Text: []byte(awsAPI(awsWide, ""))}
	p := planAWS(t, []movein.File{file, file}, movein.Options{Hosts: []string{"h.example.com"}})
	if len(p.Projects) != 1 || len(p.Projects[0].Versions) != 1 || p.Summary.Skipped < 2 {
		t.Errorf("%+v, %+v", p.Summary, p.Projects)
	}
}

// The display names of projects and groups are ones that they can have, whatever the names in the files are.
func TestAWS_displayNames(t *testing.T) {
	for title, want := range map[string]string{
		strings.Repeat("é", 300): strings.Repeat("é", 80),
		"a\u202eb":               "a b",
		"":                       "abc",
	} {
		text := strings.Replace(awsAPI(awsWide, ""), `"title":"shop"`, fmt.Sprintf(`"title":%q`, title), 1)
		p := planAWS(t, []movein.File{{Text: []byte(text)}}, movein.Options{})
		if got := p.Projects[0]; got.DisplayName != want || !contract.IsName(got.Name) {
			t.Errorf("%q: %q, %q", title, got.DisplayName, got.Name)
		}
	}
}
