package calls

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// requestsPerPage is the number of requests that a page lists.
const requestsPerPage = 50

// fromOldest is an id that no request has: following starts at the oldest in the log.
const fromOldest = "none"

func requestsPath(p rules.Project) string { return page.ProjectPath(p.Name) + "/requests" }

// showRequests lists the latest requests, or streams the rows of new ones to the page's
// script.
func (h *Handler) showRequests(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	if web.WantsEvents(v.Gin.Request) {
		h.followRows(v, p)
		return web.Answer{}, nil
	}
	v.SelectTeam(p.Team)
	cursor := v.Gin.Query("before")
	filter, query := filterOf(v)
	status, wrong := http.StatusOK, &page.Errors{}
	found, err := h.Usage.Requests(v.Ctx(), v.Who, contract.RequestList{
		ProjectPath:   contract.ProjectPath{Project: p.ID},
		Page:          contract.Page{Cursor: cursor, Limit: requestsPerPage},
		RequestFilter: filter,
	})
	if mistakes, ok := page.ErrorsIn(err); ok {
		status, wrong = mistakes.Status, mistakes
	} else if err != nil {
		return web.Answer{}, err
	}
	path := requestsPath(p)
	here := path
	if len(query) > 0 {
		here += "?" + query.Encode()
	}
	m := projects.Requests{
		Page: v.Shell(
			"Requests to "+p.DisplayName,
			path,
			page.ProjectsCrumb(),
			page.ProjectCrumb(p),
			ui.Crumb{Text: "Requests"},
		),
		Head: v.HeadOf(p), Here: here, LiveFrom: fromOldest,
		Path: path, Filtered: len(query) > 0, Status: wrong.Value("/status", filter.Status),
		Owner: ui.Value{Text: filter.Owner}, Contains: ui.Value{Text: filter.Path}, Code: ui.Value{Text: filter.Code},
		Curl: page.CallOf(p), NoGateway: found.NoGateway,
	}
	m.Statuses = statusOptions(filter.Status)
	if cursor == "" && err == nil && !found.NoGateway {
		m.LiveURL = here // an older page does not change
	}
	if found.NextCursor != nil {
		query.Set("before", *found.NextCursor)
		m.OlderURL = path + "?" + query.Encode()
	}
	if found.Dropped > 0 {
		m.Dropped = "The log was too busy to keep " + humanize.Comma(found.Dropped) + " " +
			english.PluralWord(int(found.Dropped), "call", "") + ". All calls were still served and counted."
	}
	if len(found.Items) > 0 {
		m.LiveFrom = found.Items[0].ID
	}
	// The log has calls in the order in which they ended.
	slices.SortStableFunc(found.Items, func(a, b contract.Request) int { return b.Time.Compare(a.Time) })
	for _, r := range found.Items {
		m.Rows = append(m.Rows, requestRow(p, r))
	}
	return web.Answer{Status: status, Page: projects.RequestsPage(m)}, nil
}

// statusOptions are the classes, and the status that was asked for if it is not one of them.
func statusOptions(chosen string) []ui.Option {
	list := []ui.Option{{Value: "", Title: "All"}}
	for _, class := range []string{"2xx", "3xx", "4xx", "5xx"} {
		list = append(list, ui.Option{Value: class, Title: class})
	}
	if !slices.ContainsFunc(list, func(o ui.Option) bool { return o.Value == chosen }) {
		list = append(list, ui.Option{Value: chosen, Title: chosen})
	}
	for i := range list {
		list[i].Chosen = list[i].Value == chosen
	}
	return list
}

func (h *Handler) followRows(v *page.Visit, p rules.Project) {
	after := cmp.Or(v.Gin.GetHeader("Last-Event-ID"), v.Gin.Query("after"))
	h.Web.StreamRequests(v.Gin, h.Usage, after, func(r contract.Request) ([]byte, error) {
		var row bytes.Buffer
		err := projects.RequestRow(requestRow(p, r)).Render(v.Ctx(), &row)
		return row.Bytes(), err
	})
}

func requestRow(p rules.Project, r contract.Request) projects.Request {
	row := projects.Request{
		Time:        callTime(r.Time, time.Now()),
		URL:         requestsPath(p) + "/" + url.PathEscape(r.ID),
		Arrival:     arrival(r.Time),
		Route:       r.Route,
		At:          r.Time,
		Method:      r.Method,
		Path:        r.Path,
		Rest:        below(r),
		Status:      statusBadge(r.Status),
		Step:        r.Step,
		Environment: r.Version + " " + r.Environment,
		Duration:    durationText(r.DurationMS.Duration()),
		Bytes:       bytesText(r.BytesIn) + " / " + bytesText(r.BytesOut),
		Address:     r.RemoteIP,
		ExplainURL:  explainURL(p, r),
	}
	if r.Code != nil {
		row.Reason = *r.Code
	}
	if r.Owner != nil {
		row.Owner = *r.Owner
	}
	if r.Key != nil {
		row.KeyURL = page.KeyPath(p, *r.Key)
	}
	return row
}

// callTime is when a call arrived, in UTC, with the date unless that is today.
func callTime(at, now time.Time) string {
	at, now = at.UTC(), now.UTC()
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format("15:04:05.000")
	}
	return at.Format("2 Jan 2006, 15:04:05.000")
}

// below returns the path without the part that leads to the environment, which has its own
// column.
func below(r contract.Request) string {
	if r.Host != nil {
		return r.Path
	}
	if _, rest, ok := strings.Cut(r.Path, "/"+r.Version+"/"+r.Environment); ok {
		return cmp.Or(rest, "/")
	}
	return r.Path
}

func statusBadge(status int) ui.Badge {
	badge := ui.Badge{Text: strconv.Itoa(status)}
	switch {
	case status >= 500:
		badge.Tone = ui.Bad
	case status >= 400:
		badge.Tone = ui.Warn
	case status >= 200 && status < 300:
		badge.Tone = ui.Good
	case status == 0:
		badge = ui.Badge{Tone: ui.Bad, Text: "interrupted"}
	}
	return badge
}

func durationText(d time.Duration) string {
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 1, 64) + " ms"
}
