package ascode

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
)

var projectPages = map[string]Page{
	"/projects":     shows(contract.ListProjects, listOfProjects(contract.ProjectServed)...),
	"/projects/new": shows(contract.ListProjects, projectTeam),
	"/imports":      shows(contract.ListProjects, projectTeam).alsoShows(contract.ListImports, projectTeam),
	"/imports/:import": {Reads: []Call{
		{
			Operation: contract.GetImportResult.ID, Command: commandOf(contract.GetImportPlan),
			When: func(path url.Values) bool { return contract.IsAppliedImport(path.Get("import")) },
		},
		{
			Operation: contract.GetImportPlan.ID, Command: commandOf(contract.GetImportPlan),
			When: func(path url.Values) bool { return !contract.IsAppliedImport(path.Get("import")) },
		},
	}},
	"/bin": shows(contract.ListProjects, listOfProjects(contract.ProjectDeleted)...),

	"/projects/:project":          shows(contract.GetProject),
	"/projects/:project/created":  shows(contract.GetProject),
	"/projects/:project/delete":   shows(contract.GetProjectDeletion),
	"/projects/:project/settings": shows(contract.GetProject),
	"/projects/:project/limits":   shows(contract.GetProject).alsoShows(contract.GetCORS),
	"/projects/:project/relations": shows(contract.ListRelations,
		append(listQuery("object", "user", "-created"), relationQuery...)...),
	"/projects/:project/relations/forget": shows(contract.ListRelations, relationQuery...),
	"/projects/:project/users": shows(contract.ListProjectUsers,
		slices.Concat(userQuery, []Field{Text("tenant", "tenant", "--tenant")})...),
	"/projects/:project/tenants":           shows(contract.ListTenants),
	"/projects/:project/tenants/:tenant":   shows(contract.GetTenant),
	"/projects/:project/api-scopes":        reads("get-api-scopes", "api-scopes show {project}"),
	"/projects/:project/api-scopes/:scope": reads("get-api-scopes", "api-scopes show {project}"),
	"/projects/:project/call-signing":      shows(contract.GetCallSigning),
	"/projects/:project/domains": shows(contract.ListDomains,
		append(listQuery("host"), Text("state", "state", "--state"))...),
	"/projects/:project/domains/:domain":   shows(contract.GetDomain),
	"/projects/:project/requests":          shows(contract.ListRequests, requestQuery...),
	"/projects/:project/requests/:request": shows(contract.GetRequest),
	"/projects/:project/explain": shows(contract.Explain,
		Text("version", "version", "--version"), Text("environment", "environment", "--environment"),
		Text("host", "host", "--host"),
		Text("method", "method", "").Or("GET"), Text("path", "path", "").Or("/"),
		Text("key", "key", "--key"), Text("user", "user", "--user"), Joined(Words("scopes", "scopes", "--scopes"))),
	"/projects/:project/export": shows(contract.ListExports,
		sorted("exports_sort", "exports_dir", "-created", "-size"), Text("exports_state", "state", "--state"),
		Text("exports_format", "format", "--format")),
	"/projects/:project/export/preview": {Reads: []Call{{
		Operation: "preview-export", Command: "export {project} --preview", Query: []Field{exportFormat},
	}}},
	"/exports/:export/ledger": reads("get-export-ledger", "exports ledger {export}",
		Text("status", "status", "--status"), Text("area", "area", "--area"), Text("code", "code", "")),
}

// projectTeam is the chosen team of a list of projects.
var projectTeam = Text("team", "team", "--team")

// listOfProjects is the query of a list of projects in a state.
func listOfProjects(state string) []Field {
	return append([]Field{projectTeam, Fixed("state", state, "--state", state)}, listQuery("name", "-created")...)
}

var relationQuery = []Field{
	Text("tenant", "tenant", "--tenant"), Text("user", "user", "--user"), Text("object", "object", "--object"),
}

var requestQuery = []Field{
	Text("status", "status", "--status"), Text("owner", "owner", "--owner"), Text("path", "path", "--path"),
	Text("code", "code", "--code"),
}

// usagePages is the page of usage, whose periods are those of its handler.
func usagePages(read Readers) map[string]Page {
	return map[string]Page{
		"/projects/:project/usage": shows(contract.GetUsage,
			Func("period", "from", func(query url.Values) (any, [][]string) {
				from, _ := read.Usage(query)
				text := from.Format(time.RFC3339)
				return text, [][]string{{"--from", text}}
			}),
			Func("by", "group_by", func(query url.Values) (any, [][]string) {
				_, by := read.Usage(query)
				var flags [][]string
				for _, one := range by {
					flags = append(flags, []string{"--group-by", one})
				}
				return repeated(by), flags
			})),
	}
}

// exportFormat is the format of a zip, that for Kong unless the other is chosen.
var exportFormat = Func("format", "format", func(form url.Values) (any, [][]string) {
	if form.Get("format") == "data" {
		return "data", [][]string{{"--data"}}
	}
	return "gateway", [][]string{{"--kong"}}
})

// left is a box that is ticked to begin with: without its tick the member is false.
func left(name, member, flag string) Field {
	return Func(name, member, func(form url.Values) (any, [][]string) {
		if form.Get(name) == "true" {
			return nil, nil
		}
		return false, [][]string{{flag}}
	})
}

// importChoices are the fields of the choices for an import, whose command has them as flags and makes a new plan.
var importChoices = fieldsOf(contract.UpdateImportPlan, "name", "open", "hosts", "trust", "theirs", "allow_weak",
	"retry_on_timeout")

var projectForms = map[string][]Call{
	"/projects/new": does("create-proxy", "create", Text("target", "target", "--target").Need(),
		Name("name", "name", "--name"), titleOf("name", "display_name", "--display-name"),
		Text("team", "team", "--team"),
		Func("require_keys", "requests_auth.mode", func(form url.Values) (any, [][]string) {
			if form.Get("require_keys") != "true" {
				return nil, nil
			}
			return "authenticate", [][]string{{"--require-key"}}
		})),
	"/imports": {{
		Operation: "import-project", Command: "import FILE --yes", Media: contract.Zip,
		Query: []Field{Name("name", "name", "--name")},
	}},
	"/imports/preview": {{
		Operation: "import-project", Command: "import FILE", Media: contract.Zip,
		Query: []Field{Name("name", "name", "--name"), Fixed("dry_run", true, "--dry-run")},
	}},
	"/imports/plan": {{Operation: "import-project", Command: "import FILE", Media: "application/yaml"}},
	"/imports/:import": {{
		Operation: contract.UpdateImportPlan.ID, Fields: importChoices,
		Note: "Send the placeholders' values in the set object.",
	}},
	"/imports/:import/apply":  {{Operation: contract.ApplyImport.ID}},
	"/imports/:import/delete": submits(contract.DeleteImportPlan),
	"/imports/:import/undo":   submits(contract.UndoImport),
	"/projects/:project/delete": {
		{
			When: is("now", "true"), Operation: "delete-project", Command: "projects delete {project} --now --yes",
			Query: []Field{Fixed("now", true), confirmName},
		},
		{Operation: "delete-project", Command: "projects delete {project} --yes"},
	},
	"/projects/:project/restore":  submits(contract.RestoreProject),
	"/projects/:project/move":     submits(contract.MoveProject, "team"),
	"/projects/:project/settings": submits(contract.UpdateProject, "display_name"),
	"/projects/:project/limits": carriesOut(contract.UpdateProject,
		limitRows("key"), limitRows("owner"), limitRows("ip"), limitRows("project")),
	"/projects/:project/cors": corsCalls(contract.SetCORS, contract.RemoveCORS),
	"/projects/:project/product": {
		{
			When: has("new_product"), Operation: "update-project", Command: "projects update {project}",
			Fields: []Field{slugged(Nullable("new_product", "product", "--product"))},
			Note:   "Create the product first with POST /api/v1/products or postern products create.",
		},
		carriesOut(contract.UpdateProject, Nullable("in_product", "product", "--product"))[0],
	},
	"/projects/:project/relations": does(contract.AddRelations.ID, "relations add {project} {user} {object}",
		Text("user", "user", "").Need(), Text("object", "object", "").Need(), Text("tenant", "tenant", "--tenant")),
	"/projects/:project/relations/import": {{
		Operation: contract.AddRelations.ID, Command: "relations import {project} FILE",
		Body: func(url.Values) any { return Raw("@FILE") },
	}},
	"/projects/:project/relations/forget": {{
		Operation: contract.RemoveRelations.ID, Command: commandOf(contract.RemoveRelations), Query: relationQuery,
	}},
	"/projects/:project/tenants": {
		submits(contract.AttachTenant)[0].when(has("tenant")),
		submits(contract.CreateTenant, "name", "display_name", "fallback_owner", "team")[0].note(
			"Then attach it to the project with PUT /api/v1/projects/{project}/tenants/{tenant} or postern tenants " +
				"attach."),
	},
	"/projects/:project/tenants/:tenant/detach": submits(contract.DetachTenant),
	"/projects/:project/api-scopes": {{
		Operation: "set-api-scopes", Command: "api-scopes set {project}",
		Fields: []Field{apiScope("name")},
		Edit: func(form url.Values) string {
			return "{audience, scopes: (.scopes + [" + scopeJSON(cmp.Or(form.Get("name"), "NAME"), form) + "])}"
		},
	}},
	"/projects/:project/api-scopes/:scope": {{
		Operation: "set-api-scopes", Command: "api-scopes set {project}",
		Fields: []Field{apiScope("scope")},
		Edit: func(form url.Values) string {
			return "{audience, scopes: [.scopes[] | select(.name != " + jsonText(form.Get("scope")) + ")] + [" +
				scopeJSON(form.Get("scope"), form) + "]}"
		},
	}},
	"/projects/:project/api-scopes/:scope/remove": {{
		Operation: "set-api-scopes", Command: "api-scopes set {project} --remove {scope}",
		Edit: func(form url.Values) string {
			return "{audience, scopes: [.scopes[] | select(.name != " + jsonText(form.Get("scope")) + ")]}"
		},
	}},
	"/projects/:project/api-audience": {{
		Operation: "set-api-scopes", Command: "api-scopes set {project}",
		Fields: []Field{Text("audience", "", "--audience").Keep()},
		Edit: func(form url.Values) string {
			return "{audience: " + jsonText(strings.TrimSpace(form.Get("audience"))) + ", scopes}"
		},
	}},
	"/projects/:project/export": {{
		Operation: "create-export", Command: "export {project}",
		Fields: []Field{
			exportFormat, Text("keys", "keys", "--keys"), left("consumers", "consumers", "--no-consumers"),
			Bool("secrets", "secrets", "--secrets"), Text("recipient", "recipient", "--recipient"),
			Secret("password", "password", "--password-file"),
		},
		Note: "The command waits for the export and saves the zip.",
	}},
	"/exports/:export/cancel": submits(contract.CancelExport),
}

// titleOf is the display name that a page saves if the typed text isn't a valid name.
func titleOf(name, member, flag string) Field {
	return Func(name, member, func(form url.Values) (any, [][]string) {
		title := strings.TrimSpace(form.Get(name))
		if title == contract.Slug(title) {
			return nil, nil
		}
		return title, [][]string{{flag, title}}
	})
}

// limitRows are the limits of a form with a row for each limit, by what they count.
func limitRows(of string) Field {
	return withOneFlag(LimitRows(of, "limits."+of, "--"+of+"-limits", "", "--"+of+"-limits", "none")).Keep()
}

// apiScope is the flag for a scope whose name is in the field.
func apiScope(name string) Field {
	return Func(name, "", func(form url.Values) (any, [][]string) {
		scope := cmp.Or(strings.TrimSpace(form.Get(name)), Placeholder(name))
		if text := strings.TrimSpace(form.Get("description")); text != "" {
			scope += "=" + text
		}
		return nil, [][]string{{"--scope", scope}}
	})
}

func scopeJSON(name string, form url.Values) string {
	scope := &Object{}
	scope.Set("name", strings.TrimSpace(name))
	scope.Set("description", strings.TrimSpace(form.Get("description")))
	return jsonText(scope)
}

func jsonText(value any) string {
	text, err := unescaped(value)
	if err != nil {
		return "null"
	}
	return string(text)
}

// corsCalls are those of a form for CORS. Without origins it is left to others.
func corsCalls(set, remove contract.Described) []Call {
	none := func(form url.Values) bool {
		return strings.TrimSpace(form.Get("origins")) == "" && form.Get("app_origins") != "true"
	}
	calls := append(submits(remove), submits(set, "origins", "app_origins", "methods", "headers", "exposed_headers",
		"credentials", "max_age")...)
	calls[0].When = none
	return calls
}
