package ui

import (
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
)

// navItem is a link of the sidebar.
type navItem struct {
	url     string
	text    string
	icon    templ.Component
	current bool
}

// path is the page's own path.
func (p Page) path() string {
	path, _, _ := strings.Cut(p.Here, "?")
	return path
}

// project is the project that the page belongs to, nil for none.
func (p Page) project() *Project {
	for _, step := range p.Crumbs {
		if step.Project != nil {
			return step.Project
		}
	}
	return nil
}

// teamNav lists the pages of the chosen team.
func (p Page) teamNav() []navItem {
	team := "/teams"
	if id := p.Account.teamID(); id != "" {
		team += "/" + url.PathEscape(id)
	}
	items := []navItem{
		{url: "/projects", text: "Projects", icon: IconProjects(), current: p.below("/bin", "/imports") ||
			p.below("/projects", "/exports") && p.project() == nil},
		{url: "/tenants", text: "Tenants", icon: IconTenants(), current: p.project() == nil &&
			p.below("/tenants", "/users", "/groups")},
		{url: "/products", text: "Products", icon: IconProducts(), current: p.below("/products")},
		{url: team, text: "Members", icon: IconTeam(), current: p.path() != team+"/settings" && p.below(team)},
		{url: "/settings/webhooks", text: "Webhooks", icon: IconWebhook(), current: p.below("/settings/webhooks")},
	}
	if p.Account.Audit {
		items = append(items, navItem{url: "/audit", text: "Audit log", icon: IconAudit(), current: p.below("/audit")})
	}
	if team != "/teams" {
		settings := team + "/settings"
		items = append(items, navItem{
			url:     settings,
			text:    "Settings",
			icon:    IconSettings(),
			current: p.below(settings),
		})
	}
	return append(items, navItem{url: "/docs", text: "Docs", icon: IconDocument(), current: p.below("/docs")})
}

// TitleOf names a page of a project, such as Keys for Shop.
func TitleOf(page, project string) string {
	if slices.Contains([]string{"Access", "Requests"}, page) {
		return page + " to " + project
	}
	return page + " for " + project
}

// Places lists what the sidebar leads to.
func (p Page) Places() []Link {
	var links []Link
	for _, i := range p.teamNav() {
		links = append(links, Link{URL: i.url, Text: i.text})
	}
	if project := p.project(); project != nil {
		for _, i := range p.projectNav(*project) {
			links = append(links, Link{URL: i.url, Text: TitleOf(i.text, project.DisplayName)})
		}
	}
	return links
}

// searchURL is the URL of the search, from within the page's project.
func (p Page) searchURL() string {
	if project := p.project(); project != nil {
		return "/search?project=" + url.QueryEscape(project.Name)
	}
	return "/search"
}

// below reports whether the page has one of the paths or is below it.
func (p Page) below(paths ...string) bool {
	for _, path := range paths {
		if rest, ok := strings.CutPrefix(p.path(), path); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// projectNav lists the pages of the project, those about a version for the version that
// the page is about, or the newest.
func (p Page) projectNav(project Project) []navItem {
	base := "/projects/" + url.PathEscape(project.Name)
	version := base + "/versions/" + url.PathEscape(p.version(project).URL)
	item := func(path, text string, icon templ.Component, also ...string) navItem {
		current := p.below(append(also, path)...)
		if strings.HasPrefix(path, version+"/") {
			current = current || strings.HasPrefix(p.path(), base+"/versions/") &&
				strings.HasSuffix(p.path(), strings.TrimPrefix(path, version))
		}
		return navItem{url: path, text: text, icon: icon, current: current}
	}
	overview := navItem{url: base, text: "Overview", icon: IconOverview()}
	items := []navItem{
		item(base+"/keys", "Keys", IconKey(), base+"/key-types"),
		item(version+"/access", "Access", IconLock()),
		item(base+"/login", "Login", IconSignIn(), base+"/api-scopes"),
		item(version+"/rules", "Rules", IconRules(), base+"/relations"),
		item(base+"/limits", "Limits and CORS", IconLimits()),
		item(version+"/transforms", "Transforms", IconTransforms()),
		item(version+"/openapi", "OpenAPI", IconDocument()),
		item(base+"/domains", "Custom domains", IconGlobe()),
		item(base+"/users", "Users", IconUser()),
		item(base+"/tenants", "Tenants", IconTenants(), "/tenants", "/users", "/groups"),
		item(base+"/usage", "Usage", IconChart()),
		item(base+"/requests", "Requests", IconActivity(), base+"/explain"),
		item(base+"/export", "Export", IconPackage(), "/exports"),
		item(base+"/settings", "Settings", IconSettings(), base+"/delete", base+"/move", base+"/call-signing"),
	}
	overview.current = true
	for _, i := range items {
		overview.current = overview.current && !i.current
	}
	return append([]navItem{overview}, items...)
}

// version is the version in the page's path, by id or name, otherwise the newest.
func (p Page) version(project Project) Link {
	_, rest, found := strings.Cut(p.path(), "/versions/")
	id, _, _ := strings.Cut(rest, "/")
	var newest Link
	for _, v := range project.Versions {
		newest = v
		if found && (v.URL == id || v.Text == id) {
			return v
		}
	}
	return newest
}

// versionTabs leads to the same page of each of the project's versions. It is empty for
// pages that are not about a version, and where there is no other.
func (p Page) versionTabs() []Tab {
	project := p.project()
	if project == nil || len(project.Versions) < 2 {
		return nil
	}
	before, rest, found := strings.Cut(p.path(), "/versions/")
	_, page, deeper := strings.Cut(rest, "/")
	if !found || !deeper || strings.Contains(page, "/") {
		return nil
	}
	chosen := p.version(*project)
	var tabs []Tab
	for _, v := range project.Versions {
		tabs = append(tabs, Tab{
			URL:     before + "/versions/" + url.PathEscape(v.URL) + "/" + page,
			Text:    v.Text,
			Current: v == chosen,
		})
	}
	return tabs
}
