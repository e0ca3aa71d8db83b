package page

import (
	"net/url"

	"postern/core/contract"
	"postern/service/access"
	"postern/service/projects"
	"postern/views/ui"
)

// AuditPath is the URL of the audit log.
const AuditPath = "/audit"

// HistoryOf returns the URL of the audit entries about an object, "" for visitors who
// may not read them.
func (v *Visit) HistoryOf(p projects.Project, object string) string {
	if !v.Who.May(p.Team, access.AuditRead) {
		return ""
	}
	query := url.Values{"team": {p.Team}}
	if object == "" {
		query.Set("project", p.Name)
	} else {
		query.Set("object", object)
	}
	return AuditPath + "?" + query.Encode()
}

// ExplainPath returns the URL of the explanation of calls to a project.
func ExplainPath(p projects.Project) string { return ProjectPath(p.Name) + "/explain" }

// LedgerPath returns the URL of an export's ledger.
func LedgerPath(id string) string { return ExportPath(id) + "/ledger" }

// ExportPath returns the URL of an export.
func ExportPath(id string) string { return "/exports/" + id }

// CreateOpen is the part of the query that opens the form of a new key.
const CreateOpen = "create"

// KeysPath returns the URL of a project's keys.
func KeysPath(p projects.Project) string { return ProjectPath(p.Name) + "/keys" }

// KeyPath returns the URL of a key.
func KeyPath(p projects.Project, id string) string { return KeysPath(p) + "/" + id }

// ProductOf returns the name of the project's product, "" for none.
func ProductOf(p projects.Project) string {
	if p.Product == nil {
		return ""
	}
	return *p.Product
}

// ChoiceTitle is what a list to choose from calls something with a name and a display name: display names aren't
// unique.
func ChoiceTitle(displayName, name string) string {
	if displayName == name {
		return name
	}
	return displayName + " (" + name + ")"
}

// ProjectLinks returns links to projects by their names.
func ProjectLinks(names []string) []ui.Link {
	var out []ui.Link
	for _, name := range names {
		out = append(out, ui.Link{URL: ProjectPath(name), Text: name})
	}
	return out
}

// ProjectPath returns the URL of a project, by its name or id.
func ProjectPath(name string) string { return "/projects/" + name }

// ProjectsCrumb leads to the list of projects.
func ProjectsCrumb() ui.Crumb { return ui.Crumb{Text: "Projects", URL: "/projects"} }

// ProjectCrumb leads to the project. The sidebar shows its pages.
func ProjectCrumb(p projects.Project) ui.Crumb {
	nav := ui.Project{Name: p.Name, DisplayName: p.DisplayName}
	for _, version := range p.Versions {
		nav.Versions = append(nav.Versions, ui.Link{Text: version.Name, URL: version.ID})
	}
	return ui.Crumb{Text: p.DisplayName, URL: ProjectPath(p.Name), Project: &nav}
}

// ReadsOnly reports whether the visitor may create no projects in the chosen team. An
// account without a team may: its first project comes with one.
func ReadsOnly(v *Visit) bool {
	return v.Who.HomeTeam != "" && !v.Who.May(v.Who.HomeTeam, access.ProjectCreate)
}

// TenantsPath is the URL of a team's tenants.
const TenantsPath = "/tenants"

// TenantPath returns the URL of a tenant.
func TenantPath(id string) string { return TenantsPath + "/" + url.PathEscape(id) }

// TokensPath is the URL of an account's access tokens.
const TokensPath = "/settings/tokens"

// EnvironmentIn returns the project's environment with this id and its version, false if there is none.
func EnvironmentIn(p projects.Project, id string) (projects.Version, contract.Environment, bool) {
	for _, version := range p.Versions {
		for _, e := range version.Environments {
			if e.ID == id {
				return version, e, true
			}
		}
	}
	return projects.Version{}, contract.Environment{}, false
}

// UserPath returns the URL of a user.
func UserPath(id string) string { return "/users/" + url.PathEscape(id) }
