package page

import (
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// DeletePath returns the URL of the page that deletes a project.
func DeletePath(name string) string { return ProjectPath(name) + "/delete" }

// HeadOf is the head of a project's pages.
func (v *Visit) HeadOf(p rules.Project) projects.Head {
	return projects.Head{
		Name:        p.Name,
		DisplayName: p.DisplayName,
		Access:      AccessBadge(p.Project.Versions),
		HistoryURL:  v.HistoryOf(p, ""),
		Frozen:      frozenText(p),
		Deleted:     deletedText(p),
		DeleteURL:   DeletePath(p.Name),
	}
}

func frozenText(p rules.Project) string {
	if p.Frozen == nil {
		return ""
	}
	return "Taken down by an operator on " + Moment(p.Frozen.Since) + ". All calls get 403. You can " +
		"still export the project. Reason: " + p.Frozen.Reason
}

func deletedText(p rules.Project) string {
	if p.Deleted == nil {
		return ""
	}
	return "Deleted on " + Moment(p.Deleted.Since) + ". All calls get 410. You can export or restore " +
		"it until " + Moment(p.Deleted.PurgeAt) + "."
}

// ConfigureOf is the frame of a page of a project's settings. Without a title it has the project's name.
func ConfigureOf(v *Visit, p rules.Project, of, here string) projects.Configure {
	v.SelectTeam(p.Team)
	crumbs := []ui.Crumb{ProjectsCrumb(), ProjectCrumb(p)}
	title := p.DisplayName
	if of != "" {
		crumbs = append(crumbs, ui.Crumb{Text: of})
		title = ui.TitleOf(of, p.DisplayName)
	}
	return projects.Configure{
		Page:     v.Shell(title, here, crumbs...),
		Head:     v.HeadOf(p),
		ReadOnly: p.Deleted == nil && !v.MayChange(p, access.ProjectUpdate),
	}
}

// AccessBadge names the credentials that the project accepts.
func AccessBadge(versions []contract.Version) ui.Badge {
	var badge ui.Badge
	for i, version := range versions {
		this := versionBadge(version)
		if i > 0 && this != badge {
			return ui.Badge{Text: "Differs by version"}
		}
		badge = this
	}
	return badge
}

func versionBadge(version contract.Version) ui.Badge {
	auth := version.RequestsAuth
	if len(auth.Methods) == 0 {
		return ui.Badge{Text: "Passthrough"}
	}
	optional := auth.Mode != snapshot.Authenticate
	text := "Tokens"
	switch {
	case !auth.Allows(snapshot.APIKey):
	case len(auth.Methods) > 1:
		text = "Keys or tokens"
	case optional:
		text = "Keys"
	default:
		text = "API keys"
	}
	if optional {
		text += " optional"
	}
	return ui.Badge{Tone: ui.Accent, Text: text}
}

// CallOf returns a command that calls a project, with the key of the variable KEY if it takes keys.
func CallOf(p rules.Project) string {
	if len(p.Versions) == 0 || len(p.Versions[0].Environments) == 0 {
		return ""
	}
	version := p.Versions[0]
	address := version.Environments[0].URL
	if version.RequestsAuth.Mode == snapshot.Authenticate {
		sample := version.RequestsAuth.APIKey.Sample("$KEY")
		if sample.Header == "" {
			return "curl \"" + sample.URL(address+"/") + "\""
		}
		return "curl -H \"" + sample.Header + "\" \\\n  " + address + "/"
	}
	return Curl(address, "", version.RequestsAuth.APIKey)
}

// Curl returns a command that calls the address, with the key if there is one. in says how it is sent.
func Curl(address, key string, in contract.APIKeyAuth) string {
	if key == "" {
		return "curl " + address + "/"
	}
	sample := in.Sample(key)
	if sample.Header == "" {
		return "curl '" + sample.URL(address+"/") + "'"
	}
	return "curl -H '" + sample.Header + "' \\\n  " + address + "/"
}
