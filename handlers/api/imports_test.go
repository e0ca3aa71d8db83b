package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

const imports = "/api/v1/imports"

// with returns the headers of the owner and more.
func with(o *controlplane.Fixture, header ...string) []string { return slices.Concat(o.Owner, header) }

const form = "multipart/form-data; boundary=b"

// formOf is a form with files: pairs of a name and a text.
func formOf(files ...string) (body string) {
	for i := 0; i < len(files); i += 2 {
		body += fmt.Sprintf("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\n%s\r\n",
			files[i], files[i+1])
	}
	return body + "--b--\r\n"
}

// Two files of one Kong.
const (
	servicesFile = "_format_version: '3.0'\nservices: [{name: orders, url: 'http://$UPSTREAM:1'}]\n"
	routesFile   = "_format_version: '3.0'\nroutes:\n- {name: orders, service: orders, paths: [/], headers: {a: [b]}}\n"
)

func TestImportPlan(t *testing.T) {
	t.Parallel()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	var one string
	for _, sent := range [][]string{
		{controlplane.KongFile, "application/yaml"},
		{controlplane.KongFile, "application/octet-stream"},
		{formOf("kong.yaml", controlplane.KongFile), form},
		{`{"_format_version":"3.0","services":[{"name":"a","url":"http://a.example.net","routes":[{"paths":["/"]}]}]}`,
			"application/json"},
	} {
		got := o.Do(t, "POST", imports, sent[0], with(o, "Content-Type", sent[1]))
		if got.Status != 202 || got.Body["state"] != "planned" ||
			got.Header.Get("ETag") != fmt.Sprintf("%q", got.Body["etag"]) {
			t.Fatalf("%s: %d %s", sent[1], got.Status, got.Raw)
		}
		if one == "" {
			one = imports + "/" + got.Body["id"].(string)
		}
	}
	plan := o.Do(t, "GET", one, "", o.Owner)
	if plan.Status != 200 || fmt.Sprint(plan.Body["hosts"]) != "[]" || fmt.Sprint(plan.Body["theirs"]) != "false" {
		t.Fatalf("%d %s", plan.Status, plan.Raw)
	}
	change := func(body, etag string) controlplane.Response {
		return o.Do(t, "PATCH", one, body, with(o, "If-Match", etag))
	}
	changed := change(`{"set":{"UPSTREAM":"orders.internal"},"allow_weak":true}`, plan.Header.Get("ETag"))
	if changed.Status != 200 || changed.Header.Get("ETag") == plan.Header.Get("ETag") ||
		fmt.Sprint(changed.Body["filled"]) != "[UPSTREAM]" {
		t.Fatalf("%d %s", changed.Status, changed.Raw)
	}
	if got := change(`{"theirs":true}`, plan.Header.Get("ETag")); got.Status != 412 {
		t.Errorf("with the ETag of before: %d %s", got.Status, got.Raw)
	}
	for body, pointer := range map[string]string{
		`{"hosts":["localhost"]}`: "/hosts/0", `{"set":{"NONE":"x"}}`: "/set/NONE", `{"open":["none"]}`: "/open/0",
		`{"opens":[]}`: "/opens", `{"set":{"UPSTREAM":null}}`: "/set/UPSTREAM",
	} {
		if got := change(body, ""); got.Status != 422 || fmt.Sprint(got.Pointers()) != "["+pointer+"]" {
			t.Errorf("%s: %d %s", body, got.Status, got.Raw)
		}
	}
	full := o.Do(t, "GET", one+"/download", "", o.Owner)
	if full.Status != 200 || !strings.Contains(full.Raw, `"/consumers/0/keyauth_credentials/1"`) {
		t.Errorf("%d %s", full.Status, full.Raw)
	}
	if got := o.Do(t, "DELETE", one, "", o.Owner); got.Status != 204 {
		t.Errorf("%d %s", got.Status, got.Raw)
	}
}

func TestImportPlan_refused(t *testing.T) {
	t.Parallel()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	many := strings.Repeat(strings.TrimSuffix(formOf("a.yaml", servicesFile), "--b--\r\n"), 51) + "--b--\r\n"
	half := servicesFile + strings.Repeat("#", 11<<20)
	for name, tt := range map[string]struct {
		query, body, kind string
		status            int
		want              string
	}{
		"no file":       {"", formOf(), form, 422, `"pointer":"/file"`},
		"an empty file": {"", formOf("a.yaml", servicesFile, "b.yaml", ""), form, 422, "b.yaml: The file is empty."},
		"a file twice":  {"", formOf("a.yaml", servicesFile, "a.yaml", servicesFile), form, 422, "a.yaml-2, line 2: "},
		"an error": {
			"", formOf("a.yaml", servicesFile, "b.yaml", "_format_version: '3.0'\n\tx"), form, 422, "b.yaml, line 2: ",
		},
		"too many":  {"", many, form, 422, "more than 50 files"},
		"two large": {"", formOf("a.yaml", half, "b.yaml", half), form, 413, "20 MB"},
		"a zip":     {"", formOf("a.zip", "PK\x03\x04"), form, 422, "Send a zip as the body"},
		"a zip too": {"", formOf("a.yaml", servicesFile, "b", "PK\x03\x04"), form, 422, "Send a zip as the body"},
		"a field":   {"", formOf("", "x"), form, 422, "can contain only files"},
		"a broken form": {
			"", strings.TrimSuffix(formOf("a.yaml", servicesFile), "--b--\r\n"), form, 400, "can't be read",
		},
		"a name":        {"?name=x", controlplane.KongFile, "", 422, `"pointer":"/name"`},
		"apply":         {"?apply=true", controlplane.KongFile, "", 422, `"pointer":"/apply"`},
		"another file":  {"", "hello: world\n", "application/yaml", 422, "_format_version"},
		"NUL":           {"", "_format_version: '3.0'\nservices: \x00\n", "", 422, "Line 2"},
		"a large one":   {"", strings.Repeat("#", 60<<20), "application/yaml", 413, "20 MB"},
		"neither":       {"", "hello", "application/octet-stream", 422, "bundle"},
		"dry and apply": {"?apply=true&dry_run=true", "PK\x03\x04", "application/zip", 422, `"pointer":"/apply"`},
	} {
		got := o.Do(t, "POST", imports+tt.query, tt.body, with(o, "Content-Type", tt.kind))
		if got.Status != tt.status || !strings.Contains(got.Raw, tt.want) {
			t.Errorf("%s: %d %s", name, got.Status, got.Raw)
		}
	}
	list, err := o.Server.Plans.List(t.Context(), o.Principal, contract.ImportList{Team: o.Team})
	if err != nil || len(list.Items) > 0 {
		t.Errorf("plans: %v, %v", list.Items, err)
	}
}

// Several files make one plan, which names them.
func TestImportPlan_several(t *testing.T) {
	t.Parallel()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	got := o.Do(t, "POST", imports, formOf("all/orders.yaml", servicesFile, "routes é.yaml", routesFile),
		with(o, "Content-Type", form))
	if got.Status != 202 {
		t.Fatalf("%d %s", got.Status, got.Raw)
	}
	for _, want := range []string{
		`"pointer":"orders.yaml#/services/0"`, `"pointer":"routes-é.yaml#/routes/0"`,
		`{"name":"UPSTREAM","file":"orders.yaml","line":2,"count":1}`, `"name":"kong"`, `"code":"kong.route.`,
	} {
		if !strings.Contains(got.Raw, want) {
			t.Errorf("%s isn't in %s", want, got.Raw)
		}
	}
}

// A request with the same files is the same, however they are put into a form. In another order, it is another one.
func TestImportPlan_severalSentAgain(t *testing.T) {
	t.Parallel()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	send := func(body, boundary string) controlplane.Response {
		return o.Do(t, "POST", imports, body, with(o, "Content-Type", "multipart/form-data; boundary="+boundary,
			"Idempotency-Key", "import-1"))
	}
	body := formOf("a.yaml", servicesFile, "b.yaml", routesFile)
	first, again := send(body, "b"), send(strings.ReplaceAll(body, "--b", "--other"), "other")
	if first.Status != 202 || again.Status != 202 || first.Raw != again.Raw {
		t.Errorf("%d %s\n%d %s", first.Status, first.Raw, again.Status, again.Raw)
	}
	if got := send(formOf("b.yaml", routesFile, "a.yaml", servicesFile), "b"); got.Status != 422 {
		t.Errorf("in another order: %d %s", got.Status, got.Raw)
	}
}

// A request that is sent again with its Idempotency-Key leads to the same plan.
func TestImportPlan_sentAgain(t *testing.T) {
	t.Parallel()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	send := func() controlplane.Response {
		return o.Do(t, "POST", imports, controlplane.KongFile,
			with(o, "Content-Type", "application/yaml", "Idempotency-Key", "import-1"))
	}
	first, again := send(), send()
	if first.Status != 202 || again.Status != 202 || first.Raw != again.Raw {
		t.Errorf("%d %s\n%d %s", first.Status, first.Raw, again.Status, again.Raw)
	}
}

const smallFile = `{"_format_version": "3.0", "services": [{"name": "small", "url": "http://127.0.0.1:9", "routes": [
	{"paths": ["/"]}]}], "consumers": [{"username": "web", "keyauth_credentials": [
	{"key": "4d1c9a2b7e8f4a6db1c2d3e4f5a69788"}]}]}`

func TestImportPlan_apply(t *testing.T) {
	t.Parallel()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	plan := o.Do(t, "POST", imports, smallFile, with(o, "Content-Type", "application/json"))
	one, etag := imports+"/"+fmt.Sprint(plan.Body["id"]), plan.Header.Get("ETag")
	got := o.Do(t, "POST", one+"/apply", "", o.Owner)
	if got.Status != 422 || fmt.Sprint(got.Pointers()) != "[/If-Match]" {
		t.Errorf("without an ETag: %d %s", got.Status, got.Raw)
	}
	if got := o.Do(t, "POST", one+"/apply", "", with(o, "If-Match", `"x"`)); got.Status != 412 {
		t.Errorf("with another ETag: %d %s", got.Status, got.Raw)
	}
	did := o.Do(t, "POST", one+"/apply", "", with(o, "If-Match", etag))
	if did.Status != 200 || !strings.HasPrefix(fmt.Sprint(did.Body["id"]), "imp_") {
		t.Fatalf("%d %s", did.Status, did.Raw)
	}
	if got := o.Do(t, "GET", one, "", o.Owner); got.Status != 404 {
		t.Errorf("the plan is still there: %d %s", got.Status, got.Raw)
	}
	if got := o.Do(t, "GET", "/api/v1/projects/small", "", o.Owner); got.Status != 200 {
		t.Errorf("%d %s", got.Status, got.Raw)
	}
	list := o.Do(t, "GET", imports, "", o.Owner)
	if list.Status != 200 || !strings.Contains(list.Raw, `"state":"applied"`) ||
		!strings.Contains(list.Raw, fmt.Sprint(did.Body["id"])) {
		t.Errorf("%d %s", list.Status, list.Raw)
	}
	undo := imports + "/" + fmt.Sprint(did.Body["id"]) + "/undo"
	if got := o.Do(t, "POST", undo, "", o.Outsider); got.Status != 404 {
		t.Errorf("for another team: %d %s", got.Status, got.Raw)
	}
	if got := o.Do(t, "POST", undo, "", o.Owner); got.Status != 204 {
		t.Errorf("%d %s", got.Status, got.Raw)
	}
	if got := o.Do(t, "GET", "/api/v1/projects/small", "", o.Owner); got.Status != 404 {
		t.Errorf("after the undo: %d %s", got.Status, got.Raw)
	}
}
