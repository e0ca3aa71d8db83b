package api_test

import (
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// badInput is a mistake of a caller, with the status and code of the answer and the
// pointers of its fields. {key}, {version} and {environment} in a request are the shop's.
type badInput struct {
	name, request, body string
	status              int
	code, pointers      string
}

// badProxies are mistakes in POST /proxy.
var badProxies = []badInput{
	{"no JSON", "POST /proxy", `{"target":`, 400, "malformed", ""},
	{"two documents", "POST /proxy", `{"target":"http://127.0.0.1:9"}{}`, 400, "malformed", ""},
	{"no body", "POST /proxy", "", 400, "malformed", ""},
	{
		"a member twice", "POST /proxy",
		`{"target":"http://127.0.0.1:9","requests_auth":{"mode":"authenticate","mode":"passthrough"}}`,
		400, "malformed", "",
	},
	{
		"no UTF-8", "POST /proxy",
		"{\"target\":\"http://127.0.0.1:9\",\"display_name\":\"\xff\"}",
		400, "malformed", "",
	},
	{
		"an environment named all", "POST /proxy",
		`{"target":"http://127.0.0.1:9","environments":{"all":{"target":"http://127.0.0.1:9"}}}`,
		422, "invalid_name", "/environments/all",
	},
	{
		"a target too long", "POST /proxy",
		`{"target":"http://127.0.0.1:9/` + strings.Repeat("x", 2048) + `"}`,
		422, "invalid_url", "/target",
	},
	{"an array", "POST /proxy", `[]`, 422, "invalid_type", ""},
	{"no target", "POST /proxy", `{}`, 422, "required", "/target"},
	{
		"unknown field", "POST /proxy",
		`{"target":"http://127.0.0.1:9","taget":"x"}`,
		422, "unknown_field", "/taget",
	},
	{
		"unknown field within", "POST /proxy",
		`{"target":"http://127.0.0.1:9","requests_auth":{"mod":"x"}}`,
		422, "unknown_field", "/requests_auth/mod",
	},
	{"other case", "POST /proxy", `{"Target":"http://127.0.0.1:9"}`, 422, "unknown_field", "/Target"},
	{"wrong type", "POST /proxy", `{"target":1}`, 422, "invalid_type", "/target"},
	{"no URL", "POST /proxy", `{"target":"nonsense"}`, 422, "invalid_url", "/target"},
	{"userinfo", "POST /proxy", `{"target":"http://u:canary@127.0.0.1:9"}`, 422, "invalid_url", "/target"},
	{"private address", "POST /proxy", `{"target":"http://10.0.0.1"}`, 422, "target_forbidden", "/target"},
	{
		"metadata address", "POST /proxy",
		`{"target":"http://169.254.169.254/latest"}`,
		422, "target_forbidden", "/target",
	},
	{
		"target of an environment", "POST /proxy",
		`{"target":"http://127.0.0.1:9","environments":{"dev":{"target":"http://10.0.0.1"}}}`,
		422, "target_forbidden", "/environments/dev/target",
	},
	{"name taken", "POST /proxy", controlplane.ShopBody, 409, "name_taken", "/name"},
	{"bad name", "POST /proxy", `{"target":"http://127.0.0.1:9","name":"Shop"}`, 422, "invalid_name", "/name"},
	{
		"login", "POST /proxy",
		`{"target":"http://127.0.0.1:9","login":{"providers":[]}}`,
		422, "required", "/login/providers",
	},
	{
		"jwt", "POST /proxy",
		`{"target":"http://127.0.0.1:9","requests_auth":{"mode":"authenticate","methods":["jwt"]}}`,
		422, "required", "/requests_auth/jwt/allowed_pairs",
	},
	{
		"opaque", "POST /proxy",
		`{"target":"http://127.0.0.1:9","requests_auth":{"mode":"authenticate","methods":["opaque"]}}`,
		422, "required", "/requests_auth/opaque",
	},
	{
		"an introspection endpoint at a port of another protocol", "POST /proxy",
		`{"target":"http://127.0.0.1:9","requests_auth":{"mode":"authenticate","methods":["opaque"],` +
			`"opaque":{"endpoint":"https://8.8.8.8:25/i"}}}`,
		422, "port_forbidden", "/requests_auth/opaque/endpoint",
	},
	{
		"Azure's wire server", "POST /proxy",
		`{"target":"http://168.63.129.16"}`,
		422, "target_forbidden", "/target",
	},
	{
		"a port of another protocol", "POST /proxy",
		`{"target":"http://8.8.8.8:22"}`,
		422, "port_forbidden", "/target",
	},
	{
		"limits of a key type", "POST /proxy",
		`{"target":"http://127.0.0.1:9",` +
			`"requests_auth":{"key_types":[{"name":"gold","scopes":["a"],"limits":{"week":1}}]}}`,
		422, "unknown_window", "/requests_auth/key_types/0/limits/week",
	},
	{
		"a product's name", "POST /proxy",
		`{"target":"http://127.0.0.1:9","product":"S"}`,
		422, "invalid_name", "/product",
	},
	{
		"a reserved tenant", "POST /proxy",
		`{"target":"http://127.0.0.1:9","tenant":"default"}`,
		422, "reserved_name", "/tenant",
	},
	{"too large", "POST /proxy", `{"target":"` + strings.Repeat("x", 7<<20) + `"}`, 413, "too_large", ""},
}

// badKeys are mistakes in requests about keys.
var badKeys = []badInput{
	{
		"an expiry that cannot be written", "POST /api/v1/projects/shop/keys",
		`{"owner":"o","expires_at":"9999-12-31T23:59:59-01:00"}`,
		422, "invalid_expiry", "/expires_at",
	},
	{"key without owner", "POST /api/v1/projects/shop/keys", `{}`, 422, "", "/owner"},
	{
		"key of an unknown type", "POST /api/v1/projects/shop/keys",
		`{"owner":"o","key_type":"gold"}`,
		422, "unknown_key_type", "/key_type",
	},
	{
		"key in an unknown environment", "POST /api/v1/projects/shop/keys",
		`{"owner":"o","environment":"dev"}`,
		422, "unknown_environment", "/environment",
	},
	{
		"a key limited to nothing", "POST /api/v1/projects/shop/keys",
		`{"owner":"o","limits":{"minute":0}}`,
		422, "invalid_limit", "/limits/minute",
	},
	{
		"a key with a fraction of a call", "POST /api/v1/projects/shop/keys",
		`{"owner":"o","limits":{"minute":0.5}}`,
		422, "", "/limits/minute",
	},
	{
		"a day that admits less than an hour", "POST /api/v1/projects/shop/keys",
		`{"owner":"o","limits":{"hour":10,"day":9}}`,
		422, "limit_out_of_order", "/limits/day",
	},
	{
		"a range with host bits", "POST /api/v1/projects/shop/keys",
		`{"owner":"o","allowed_cidrs":["10.0.0.0/8","203.0.113.7/24"]}`,
		422, "invalid_range", "/allowed_cidrs/1",
	},
	{
		"a name for a range", "PATCH /api/v1/keys/{key}",
		`{"allowed_cidrs":["localhost"]}`,
		422, "invalid_range", "/allowed_cidrs/0",
	},
	{
		"key of an unknown tenant", "POST /api/v1/projects/shop/keys",
		`{"owner":"o","tenant":"acme"}`,
		422, "unknown_tenant", "/tenant",
	},
	{
		"key of a product", "POST /api/v1/projects/shop/keys",
		`{"owner":"o","product":"store"}`,
		422, "unknown_product", "/product",
	},
	{
		"an expiry in the past", "PATCH /api/v1/keys/{key}",
		`{"expires_at":"2020-01-01T00:00:00Z"}`,
		422, "invalid_expiry", "/expires_at",
	},
	{"another owner", "PATCH /api/v1/keys/{key}", `{"owner":"o"}`, 422, "unknown_field", "/owner"},
	{
		"grace too long", "POST /api/v1/keys/{key}/rotate",
		`{"grace_seconds":2592001}`,
		422, "invalid_grace", "/grace_seconds",
	},
	{
		"grace that overflows", "POST /api/v1/keys/{key}/rotate",
		`{"grace_seconds":18446744074}`,
		422, "invalid_grace", "/grace_seconds",
	},
	{
		"a limit that no number holds", "POST /api/v1/projects/shop/keys",
		`{"owner":"o","limits":{"minute":1e30}}`,
		422, "out_of_range", "/limits",
	},
	{
		"a grace that no number holds", "POST /api/v1/keys/{key}/rotate",
		`{"grace_seconds":1e30}`,
		422, "out_of_range", "/grace_seconds",
	},
	{"no body", "POST /api/v1/projects/shop/keys", "", 400, "malformed", ""},
	{
		"an unknown filter", "GET /api/v1/projects/shop/keys?owner=o&bogus=1",
		"",
		422, "unknown_field", "/bogus",
	},
}

// badSettings are mistakes in all other requests.
var badSettings = []badInput{
	{"a list without items", "GET /api/v1/projects?limit=0", "", 422, "out_of_range", "/limit"},
	{"a list that is too long", "GET /api/v1/tenants?limit=201", "", 422, "out_of_range", "/limit"},
	{"a limit that is not a number", "GET /api/v1/tenants?limit=ten", "", 422, "invalid_type", "/limit"},
	{
		"a state that does not exist", "GET /api/v1/tenants/acme/users?state=asleep",
		"",
		422, "invalid_value", "/state",
	},
	{
		"a role that does not exist", "PUT /api/v1/groups/grp_1/members/usr_1",
		`{"role":"king"}`,
		422, "invalid_value", "/role",
	},
	{
		"limits of a project", "PATCH /api/v1/projects/shop",
		`{"limits":{"ip":{"second":-1}}}`,
		422, "invalid_limit", "/limits/ip/second",
	},
	{
		"limits of what is not counted", "PATCH /api/v1/projects/shop",
		`{"limits":{"route":{"second":1}}}`,
		422, "unknown_field", "/limits/route",
	},
	{
		"an unknown product", "PATCH /api/v1/projects/shop",
		`{"product":"store"}`,
		422, "unknown_product", "/product",
	},
	{
		"a denied range", "PATCH /api/v1/projects/shop/versions/{version}",
		`{"ip":{"deny":["::1/64"]}}`,
		422, "invalid_range", "/ip/deny/0",
	},
	{
		"a key type's scope", "POST /api/v1/projects/shop/key-types",
		`{"name":"gold","scopes":["A"]}`,
		422, "invalid_scope", "/scopes/0",
	},
	{
		"an API scope", "PUT /api/v1/projects/shop/api-scopes",
		`{"audience":"","scopes":[{"name":"orders:read"},{"name":"Orders"}]}`,
		422, "invalid_scope", "/scopes/1/name",
	},
	{
		"every API scope", "PUT /api/v1/projects/shop/api-scopes",
		`{"audience":"","scopes":[{"name":"*"}]}`,
		422, "invalid_scope", "/scopes/0/name",
	},
	{
		"a scope of OpenID Connect", "PUT /api/v1/projects/shop/api-scopes",
		`{"audience":"","scopes":[{"name":"email"}]}`,
		422, "reserved_scope", "/scopes/0/name",
	},
	{
		"an API scope twice", "PUT /api/v1/projects/shop/api-scopes",
		`{"audience":"","scopes":[{"name":"a"},{"name":"a"}]}`,
		422, "duplicate", "/scopes/1/name",
	},
	{
		"an API scope's text", "PUT /api/v1/projects/shop/api-scopes",
		`{"audience":"","scopes":[{"name":"a","description":"read\nwrite"}]}`,
		422, "invalid_text", "/scopes/0/description",
	},
	{
		"an audience", "PUT /api/v1/projects/shop/api-scopes",
		`{"audience":"https://api.example/#x","scopes":[]}`,
		422, "invalid_audience", "/audience",
	},
	{
		"a built-in key type", "PATCH /api/v1/projects/shop/key-types/full",
		`{"scopes":["read"]}`,
		409, "built_in", "",
	},
	{"a built-in key type's end", "DELETE /api/v1/projects/shop/key-types/read-only", "", 409, "built_in", ""},
	{
		"a key type that exists", "POST /api/v1/projects/shop/key-types",
		`{"name":"full","scopes":["a"]}`,
		409, "name_taken", "/name",
	},
	{"a tenant named default", "POST /api/v1/tenants", `{"name":"default"}`, 422, "reserved_name", "/name"},
	{
		"a tenant's fallback owner", "POST /api/v1/tenants",
		`{"name":"acme","fallback_owner":" "}`,
		422, "invalid_owner", "/fallback_owner",
	},
	{
		"a user as a tenant's fallback owner", "POST /api/v1/tenants",
		`{"name":"acme","fallback_owner":"usr_01"}`,
		422, "invalid_owner", "/fallback_owner",
	},
	{
		"an app client as a project's fallback owner", "PATCH /api/v1/projects/shop",
		`{"fallback_owner":"cli_01"}`,
		422, "invalid_owner", "/fallback_owner",
	},
	{
		"a product's display name", "POST /api/v1/products",
		`{"name":"store","display_name":"a\nb"}`,
		422, "invalid_display_name", "/display_name",
	},
	{"export format", "POST /api/v1/projects/shop/exports", `{"format":"tar"}`, 422, "invalid_format", "/format"},
	{"a time of the audit log", "GET /api/v1/audit?from=x", "", 422, "invalid_value", "/from"},
	{"a grouping by another name", "GET /api/v1/projects/shop/usage?by=owner", "", 422, "unknown_field", "/by"},
	{
		"a recipient of no secrets", "POST /api/v1/projects/shop/exports",
		`{"format":"data","recipient":"age1"}`,
		422, "recipient_without_secrets", "/recipient",
	},
	{
		"mode of a version", "PATCH /api/v1/projects/shop/versions/{version}",
		`{"requests_auth":{"mode":"x"}}`,
		422, "invalid_mode", "/requests_auth/mode",
	},
	{
		"target of an update", "PATCH /api/v1/projects/shop/versions/1.0.0/environments/{environment}",
		`{"target":"ftp://x"}`,
		422, "invalid_url", "/target",
	},
	{
		"a timeout out of range", "PATCH /api/v1/projects/shop/versions/1.0.0/environments/{environment}",
		`{"upstream":{"timeouts":{"connect_ms":0,"idle_ms":3600001}}}`,
		422, "invalid_fields", "/upstream/timeouts/connect_ms /upstream/timeouts/idle_ms",
	},
	{
		"a timeout of another name", "PATCH /api/v1/projects/shop/versions/1.0.0/environments/{environment}",
		`{"upstream":{"timeouts":{"read_ms":1}}}`,
		422, "unknown_field", "/upstream/timeouts/read_ms",
	},
	{
		"a timeout that isn't a number", "PATCH /api/v1/projects/shop/versions/1.0.0/environments/{environment}",
		`{"upstream":{"timeouts":{"idle_ms":"1s"}}}`,
		422, "invalid_type", "/upstream/timeouts/idle_ms",
	},
	{
		"a certificate that isn't one", "PATCH /api/v1/projects/shop/versions/1.0.0/environments/{environment}",
		`{"upstream":{"ca":{"pem":"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"}}}`,
		422, "invalid_ca", "/upstream/ca/pem",
	},
	{
		"a server name with a port", "PATCH /api/v1/projects/shop/versions/1.0.0/environments/{environment}",
		`{"upstream":{"server_name":"api.internal:443"}}`,
		422, "invalid_server_name", "/upstream/server_name",
	},
	{
		"a Host header that isn't a name", "PATCH /api/v1/projects/shop/versions/1.0.0/environments/{environment}",
		`{"upstream":{"host_header":"http://x"}}`,
		422, "invalid_host_header", "/upstream/host_header",
	},
	{
		"a Host header that leads back", "PATCH /api/v1/projects/shop/versions/1.0.0/environments/{environment}",
		`{"upstream":{"host_header":"LOCALHOST"}}`,
		422, "own_host", "/upstream/host_header",
	},
	{
		"a project as Host header", "PATCH /api/v1/projects/shop/versions/1.0.0/environments/{environment}",
		`{"upstream":{"host_header":"shop.localhost"}}`,
		422, "own_host", "/upstream/host_header",
	},
	{
		"a Host header with a dot at its end", "PATCH /api/v1/projects/shop/versions/1.0.0/environments/{environment}",
		`{"upstream":{"host_header":"localhost."}}`,
		422, "invalid_host_header", "/upstream/host_header",
	},
	{
		"an unknown setting of an upstream", "POST /proxy",
		`{"target":"http://127.0.0.1:9","environments":{"prod":{"upstream":{"retry":{"max":1}}}}}`,
		422, "unknown_field", "/environments/prod/upstream/retry",
	},
	{
		"retries out of range", "PATCH /api/v1/projects/shop/versions/1.0.0/environments/{environment}",
		`{"upstream":{"retries":{"max":11,"on":[502,"timeout",500,502]}}}`,
		422, "invalid_fields", "/upstream/retries/max /upstream/retries/on/2 /upstream/retries/on/3",
	},
	{
		"a retry that isn't a number", "PATCH /api/v1/projects/shop/versions/1.0.0/environments/{environment}",
		`{"upstream":{"retries":{"max":"1"}}}`,
		422, "invalid_type", "/upstream/retries/max",
	},
	{
		"a condition that isn't one", "PATCH /api/v1/projects/shop/versions/1.0.0/environments/{environment}",
		`{"upstream":{"retries":{"on":["connect"]}}}`,
		422, "invalid_retry_condition", "/upstream/retries/on/0",
	},
	{
		"retries of a new project", "POST /proxy",
		`{"target":"http://127.0.0.1:9","environments":{"prod":{"upstream":{"retries":{"max":11}}}}}`,
		422, "out_of_range", "/environments/prod/upstream/retries/max",
	},
	{
		"a timeout of a new project", "POST /proxy",
		`{"target":"http://127.0.0.1:9","environments":{"prod":{"upstream":{"timeouts":{"stream_idle_ms":86400001}}}}}`,
		422, "out_of_range", "/environments/prod/upstream/timeouts/stream_idle_ms",
	},
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	shop := controlplane.CreateShop(t, h)
	ids := strings.NewReplacer(
		"{key}", shop.KeyID, "{version}", shop.VersionID, "{environment}", shop.EnvironmentID)
	for group, inputs := range map[string][]badInput{
		"ignored":  ignored,
		"proxy":    badProxies,
		"keys":     badKeys,
		"settings": badSettings,
	} {
		for _, tt := range inputs {
			t.Run(group+"/"+tt.name, func(t *testing.T) {
				method, path, _ := strings.Cut(ids.Replace(tt.request), " ")
				checkBadInput(t, tt, controlplane.Call(t, h, method, path, shop.Token, tt.body))
			})
		}
	}
}

func checkBadInput(t *testing.T, tt badInput, got controlplane.Response) {
	t.Helper()
	if got.Status != tt.status {
		t.Errorf("status %d, want %d: %s", got.Status, tt.status, got.Raw)
	}
	if code := got.Body["code"]; tt.code != "" && code != tt.code {
		t.Errorf("code %v, want %s: %s", code, tt.code, got.Raw)
	}
	if pointers := strings.Join(got.Pointers(), " "); pointers != tt.pointers {
		t.Errorf("points at %q, want %q", pointers, tt.pointers)
	}
	if contentType := got.Header.Get("Content-Type"); contentType != "application/problem+json" {
		t.Errorf("content type %q", contentType)
	}
	if got.Body["request_id"] == nil {
		t.Errorf("no request id: %s", got.Raw)
	}
	if got.Body["detail"] == "" {
		t.Errorf("no detail: %s", got.Raw)
	}
	for _, field := range got.Errors() {
		if field["code"] == nil {
			t.Errorf("a field without code: %s", got.Raw)
		}
		if field["detail"] == "" {
			t.Errorf("a field without detail: %s", got.Raw)
		}
	}
	if strings.Contains(got.Raw, "canary") {
		t.Errorf("repeats what may be a secret: %s", got.Raw)
	}
}
