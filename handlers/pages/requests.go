package pages

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/handlers/web"
	"postern/models"
	rules "postern/service/projects"
	"postern/service/usage"
	"postern/views/projects"
	"postern/views/ui"
)

// requestsPerPage is the number of requests that a page lists.
const requestsPerPage = 50

// fromOldest is an id that no request has: following starts at the oldest in the log.
const fromOldest = "none"

func requestsPath(p rules.Project) string { return projectPath(p.Name) + "/requests" }

// showRequests lists the latest requests, or streams the rows of new ones to the page's
// script.
func (h *Handler) showRequests(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	if web.WantsEvents(v.c.Request) {
		h.followRows(v, p)
		return web.Answer{}, nil
	}
	cursor := v.c.Query("before")
	found, err := h.Usage.Requests(v.ctx(), v.who, p.ID, models.Page{Cursor: cursor, Limit: requestsPerPage})
	if err != nil {
		return web.Answer{}, err
	}
	path := requestsPath(p)
	m := projects.Requests{
		Page: v.shell("Requests to "+p.DisplayName, path, projectsCrumb(), projectCrumb(p), ui.Crumb{Text: "Requests"}),
		Head: v.headOf(p), Here: path, LiveFrom: fromOldest,
	}
	if cursor == "" {
		m.LiveURL = path // an older page does not change
	}
	if found.Next != "" {
		m.OlderURL = path + "?before=" + found.Next
	}
	if found.Dropped > 0 {
		m.Dropped = "The log was too busy for " + humanize.Comma(found.Dropped) + " " +
			english.PluralWord(int(found.Dropped), "call", "") + ". They were served and counted all the same."
	}
	for i, r := range found.Items {
		if i == 0 {
			m.LiveFrom = r.ID
		}
		m.Rows = append(m.Rows, requestRow(p, r))
	}
	return web.Show(projects.RequestsPage(m)), nil
}

func (h *Handler) followRows(v *visit, p rules.Project) {
	after := cmp.Or(v.c.GetHeader("Last-Event-ID"), v.c.Query("after"))
	h.Web.StreamRequests(v.c, h.Usage, after, func(r usage.Request) ([]byte, error) {
		var row bytes.Buffer
		err := projects.RequestRow(requestRow(p, r)).Render(v.ctx(), &row)
		return row.Bytes(), err
	})
}

func requestRow(p rules.Project, r usage.Request) projects.Request {
	row := projects.Request{
		Time:        r.Start.UTC().Format("15:04:05.000"),
		Stamp:       r.Start.UTC().Format(time.RFC3339Nano),
		Method:      r.Method,
		Path:        r.Path,
		Rest:        below(r),
		Status:      statusBadge(r.Status),
		Reason:      r.Code,
		Step:        r.Step,
		Environment: r.Version + " " + r.Environment,
		Owner:       r.Owner,
		Duration:    durationText(r.Duration),
		Bytes:       bytesText(r.BytesIn) + " / " + bytesText(r.BytesOut),
		Address:     r.RemoteIP,
		ExplainURL:  explainURL(p, r),
	}
	if r.CredentialID != "" {
		row.KeyURL = keyPath(p, r.CredentialID)
	}
	return row
}

// below returns the path without the part that leads to the environment, which has its own
// column.
func below(r usage.Request) string {
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
		badge = ui.Badge{Tone: ui.Bad, Text: "broken off"}
	}
	return badge
}

func durationText(d time.Duration) string {
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 1, 64) + " ms"
}
