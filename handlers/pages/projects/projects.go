package projects

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/handlers/page"
	"postern/handlers/pages/calls"
	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/service/usage"
	"postern/views/projects"
	"postern/views/ui"
)

// The list stays short enough to load quickly.
const (
	cardsPerPage     = 50
	addressesPerCard = 4
)

func (h *Handler) showProjects(v *page.Visit) (web.Answer, error) {
	list := &page.Listing{
		Path:   "/projects",
		One:    "project",
		Search: "Name",
		Orders: []page.ListOrder{{By: "name", Text: "Name"}, {By: "created", Text: "Created", Desc: true}},
	}
	in := contract.ProjectList{
		Page: list.Read(v).Request(), Sort: list.Sorting(), Text: list.Get("q"), Team: v.Who.HomeTeam,
		State: contract.ProjectServed,
	}
	in.Limit = cardsPerPage
	found, err := h.Projects.List(v.Ctx(), v.Who, in)
	if err != nil {
		return web.Answer{}, err
	}
	ids := make([]string, 0, len(found.Items))
	for _, p := range found.Items {
		ids = append(ids, p.ID)
	}
	active, err := h.Keys.ActiveCounts(v.Ctx(), v.Who, ids)
	if err != nil {
		return web.Answer{}, err
	}
	latest, err := h.Exports.Latest(v.Ctx(), v.Who, ids)
	if err != nil {
		return web.Answer{}, err
	}
	traffic, err := h.Usage.Overviews(v.Ctx(), v.Who, ids, lastDay.From(time.Now()))
	if err != nil {
		return web.Answer{}, err
	}
	m := projects.List{Page: v.Shell("Projects", "/projects"), ReadOnly: page.ReadsOnly(v)}
	if m.Claims, err = h.claimOffers(v); err != nil {
		return web.Answer{}, err
	}
	binned, err := h.Projects.AnyInBin(v.Ctx(), v.Who, v.Who.HomeTeam)
	if err != nil {
		return web.Answer{}, err
	}
	if binned {
		m.BinURL = binPath
	}
	m.List = page.ListView(list, found)
	for _, p := range found.Items {
		m.Projects = append(m.Projects, h.card(p, active[p.ID], latest[p.ID], traffic[p.ID]))
	}
	return web.Show(projects.ListPage(m)), nil
}

func (h *Handler) card(
	p contract.Project,
	activeKeys int64,
	latest contract.Export,
	traffic usage.Series,
) projects.Card {
	m := projects.Card{
		ID: p.ID, Name: p.Name, DisplayName: p.DisplayName, Version: english.Plural(len(p.Versions), "version", ""),
		Access: page.AccessBadge(p.Versions), ActiveKeys: "no active keys",
		ConfigureURL: page.ProjectPath(p.Name), ExportURL: page.ProjectPath(p.Name) + "/export",
		PreviewURL: page.ProjectPath(p.Name) + "/export/preview", Overview: overviewOf(p, traffic, latest),
	}
	if activeKeys > 0 {
		m.ActiveKeys = humanize.Comma(activeKeys) + " active " + english.PluralWord(int(activeKeys), "key", "")
	}
	if activeKeys > models.MaxActiveKeys {
		m.ActiveKeys = "more than " + humanize.Comma(models.MaxActiveKeys) + " active keys"
	}
	if len(p.Versions) == 1 {
		m.Version = p.Versions[0].Name
	}
	if n := len(p.Versions); n > 0 {
		m.Addresses = addressesOf(p.Versions[n-1])
	}
	if more := len(m.Addresses) - addressesPerCard; more > 0 {
		m.Addresses, m.More = m.Addresses[:addressesPerCard], english.Plural(more, "more environment", "")
	}
	return m
}

func addressesOf(version contract.Version) []projects.Address {
	var out []projects.Address
	for _, e := range version.Environments {
		out = append(out, projects.Address{
			ID:          e.ID,
			Environment: e.Name,
			URL:         e.URL,
		})
	}
	return out
}

func lastExport(e contract.Export) projects.LastExport {
	switch e.State {
	case contract.ExportQueued, contract.ExportBuilding:
		return projects.LastExport{Text: "exporting now"}
	case contract.ExportFailed:
		return projects.LastExport{Text: "last export failed"}
	case contract.ExportCancelled:
		return projects.LastExport{Text: "last export canceled"}
	case contract.ExportReady, contract.ExportExpired:
		return projects.LastExport{Text: "exported", At: e.CreatedAt}
	}
	return projects.NeverExported
}

func (h *Handler) showNewProject(v *page.Visit) (web.Answer, error) {
	m := projects.New{Page: newProjectShell(v), RequireKeys: true}
	m.Denied = page.ReadsOnly(v)
	return web.Show(projects.NewPage(m)), nil
}

func newProjectShell(v *page.Visit) ui.Page {
	return v.Shell("New project", "/projects/new", page.ProjectsCrumb(), ui.Crumb{Text: "New"})
}

func (h *Handler) createProject(v *page.Visit) (web.Answer, error) {
	target, name := strings.TrimSpace(v.Posted("target")), strings.TrimSpace(v.Posted("name"))
	requireKeys, _ := strconv.ParseBool(v.Posted("require_keys"))
	in := rules.CreateInput{Target: target, Name: contract.Slug(name)}
	if in.Name != name {
		in.DisplayName = name
	}
	if requireKeys {
		in.Auth.Mode = snapshot.Authenticate
	}
	created, err := h.Projects.Create(v.Ctx(), v.Who, in)
	if err == nil {
		minted := map[string]string{}
		for environment, key := range created.Keys {
			minted[environment] = key.Secret.Reveal()
		}
		return v.Disclose(createdPath(created.Project), page.Disclosed{Keys: minted})
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m := projects.New{Page: newProjectShell(v), RequireKeys: requireKeys,
		Target: wrong.Target("/target", target, "Create project"), Name: wrong.Value("/name", name)}
	m.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: projects.NewPage(m)}, nil
}

func createdPath(p rules.Project) string { return page.ProjectPath(p.Name) + "/created" }

// showCreatedProject shows a new project's addresses, the first time with its keys.
func (h *Handler) showCreatedProject(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	found, err := v.Disclosed(createdPath(p))
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(projects.CreatedPage(h.created(v, p, found))), nil
}

func (h *Handler) created(v *page.Visit, p rules.Project, found *page.Disclosed) projects.Created {
	v.SelectTeam(p.Team)
	m := projects.Created{
		Page:         v.Shell(p.DisplayName, createdPath(p), page.ProjectsCrumb(), page.ProjectCrumb(p)),
		DisplayName:  p.DisplayName,
		ConfigureURL: page.ProjectPath(p.Name),
		KeysGone:     found == nil,
	}
	if found == nil {
		found = &page.Disclosed{}
	}
	version := p.Versions[0]
	m.Addresses = addressesOf(version.Version)
	if v.MayChange(p, access.ProjectUpdate) {
		for _, e := range version.Environments {
			m.Targets = append(m.Targets, projects.Target{
				ID: e.ID, Environment: e.Name, URL: e.Target, CheckAction: targetCheckPath(p, version, e),
			})
		}
	}
	for _, e := range version.Environments {
		if key := found.Keys[e.Name]; key != "" {
			m.Keys = append(m.Keys, projects.Minted{ID: "key-" + e.Name, Environment: e.Name, Key: key})
		}
	}
	if len(m.Keys) > 0 {
		m.Curl = page.Curl(m.Addresses[0].URL, m.Keys[0].Key, version.RequestsAuth.APIKey)
	} else if version.RequestsAuth.Mode != snapshot.Authenticate {
		m.Curl = page.Curl(m.Addresses[0].URL, "", version.RequestsAuth.APIKey)
	}
	return m
}

// claimOffers returns the workspaces that this browser created and that can still be
// claimed. It removes the codes of others from the cookie.
func (h *Handler) claimOffers(v *page.Visit) ([]projects.Offer, error) {
	var out []projects.Offer
	var kept []string
	for _, code := range h.Web.ClaimCodes(v.Gin.Request) {
		found, err := h.Accounts.PreviewClaim(v.Ctx(), v.Who, code)
		switch fault.KindOf(err) {
		case fault.NotFound, fault.Conflict, fault.Gone:
			continue
		}
		if err != nil {
			return nil, err
		}
		kept = append(kept, code)
		out = append(out, projects.Offer{
			Projects: strings.Join(found.Projects, ", "),
			Ends:     found.ExpiresAt,
			URL:      "/claim/" + url.PathEscape(code),
		})
	}
	v.KeepClaimCodes(kept)
	return out, nil
}

// lastDay is the period of overviews.
var lastDay = calls.Periods[0]

// overview sums up a project for its first page.
func (h *Handler) overview(v *page.Visit, p rules.Project) (m projects.Overview, err error) {
	traffic, err := h.Usage.Traffic(v.Ctx(), v.Who, p.ID, lastDay.Step, lastDay.From(time.Now()))
	if err != nil {
		return m, err
	}
	latest, err := h.Exports.Latest(v.Ctx(), v.Who, []string{p.ID})
	if err != nil {
		return m, err
	}
	return overviewOf(p.Project, traffic, latest[p.ID]), nil
}

// overviewOf sums up a project: its traffic of the last day, and what its latest export moved.
func overviewOf(p contract.Project, traffic usage.Series, latest contract.Export) projects.Overview {
	sum := traffic.Sum
	m := projects.Overview{
		Calls:      humanize.Comma(sum.Calls()),
		Refused:    humanize.Comma(sum.Refused()),
		Rejected:   humanize.Comma(sum.Rejected - sum.RejectedHere),
		Failed:     humanize.Comma(sum.Failed - sum.FailedHere),
		P50:        projects.LatencyText(sum.Total.P50),
		P95:        projects.LatencyText(sum.Total.P95),
		Spark:      calls.ChartOf(lastDay, lastDay.From(time.Now()), traffic),
		UsageURL:   page.ProjectPath(p.Name) + "/usage",
		LastExport: lastExport(latest),
		ExportURL:  page.ProjectPath(p.Name) + "/export",
		Leaves:     portability(p, latest),
	}
	if sum.FirstByte.P95 > 0 {
		m.FirstByte = "first byte " + projects.LatencyText(sum.FirstByte.P50) + " / " +
			projects.LatencyText(sum.FirstByte.P95)
	}
	return m
}

// portability says how much of what the team configured the project's latest export moved exactly.
func portability(p contract.Project, latest contract.Export) projects.Portability {
	out := projects.Portability{
		Badge: ui.Badge{Text: "not exported yet"},
		Note:  "Portability preview",
		URL:   page.ProjectPath(p.Name) + "/export/preview",
	}
	if latest.State == contract.ExportQueued || latest.State == contract.ExportBuilding {
		out.Badge.Text, out.Exporting = "exporting", true
	}
	text := latest.Ledger.PortableText(latest.Format)
	if text == "" {
		return out
	}
	own := latest.Ledger.Configured
	out.Badge = ui.Badge{Text: text, Tone: ui.Good}
	if own.Lossy > 0 {
		out.Badge.Tone = ui.Warn
	}
	out.Note = humanize.Comma(own.Exact) + " of " + humanize.Comma(own.Total()) + " items exact"
	out.URL = page.LedgerPath(latest.ID)
	return out
}
