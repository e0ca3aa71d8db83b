package calls

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// showRequest shows one call of the live log: what each step did, and what the upstream learned of the caller.
func (h *Handler) showRequest(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	r, err := h.Usage.Request(v.Ctx(), v.Who, contract.RequestPath{
		ProjectPath: contract.ProjectPath{Project: p.ID}, Request: v.Param("request"),
	})
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	path := requestsPath(p) + "/" + url.PathEscape(r.ID)
	m := projects.RequestDetail{
		Page: v.Shell("Request to "+p.DisplayName, path, page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Requests", URL: requestsPath(p)}, ui.Crumb{Text: callTime(r.Time, time.Now())}),
		Request: requestRow(p, r.Request),
		Facts: []ui.Fact{
			{Label: "Time", Value: r.Time.Format("2 Jan 2006, 15:04:05.000 UTC")},
			{Label: "Duration", Value: durationText(r.DurationMS.Duration())},
			{Label: "Route", Value: r.Route, Mono: true},
			{Label: "Environment", Value: r.Version + " " + r.Environment},
			{Label: "Address", Value: r.RemoteIP, Mono: true},
			{Label: "Body size (in, out)", Value: bytesText(r.BytesIn) + ", " + bytesText(r.BytesOut)},
		},
		Curl:    h.curlOf(p, r.Request),
		BackURL: requestsPath(p),
	}
	if r.Host != nil {
		m.Facts = append(m.Facts, ui.Fact{Label: "Custom domain", Value: *r.Host, Mono: true})
	}
	if r.FirstByteMS != nil {
		first := ui.Fact{Label: "First byte", Value: durationText(r.FirstByteMS.Duration())}
		m.Facts = slices.Insert(m.Facts, 2, first)
	}
	if r.Tries > 1 {
		m.Facts = append(m.Facts, ui.Fact{Label: "Attempts", Value: strconv.Itoa(r.Tries)})
	}
	if r.Target != nil {
		m.Facts = append(m.Facts, ui.Fact{Label: "Target", Value: *r.Target, Mono: true})
	}
	if r.ShadowCode != "" {
		m.Facts = append(m.Facts, ui.Fact{Label: "Shadow rules would refuse", Value: r.ShadowCode, Mono: true})
	}
	if r.Invalid != "" {
		m.Facts = append(m.Facts, ui.Fact{Label: "OpenAPI mismatch", Value: r.Invalid})
	}
	for _, step := range r.Steps {
		m.Steps = append(m.Steps, requestStep(step, r.Request))
	}
	for _, line := range r.UpstreamHeaders {
		m.Upstream = append(m.Upstream, ui.Fact{Label: line.Name, Value: line.Value, Mono: true})
	}
	if len(r.UpstreamHeaders) > 0 {
		m.Upstream = append(m.Upstream, h.secretLines(v, p, r.EnvironmentID)...)
	}
	return web.Show(projects.RequestPage(m)), nil
}

var requestStepNames = map[string]string{
	"route":    "Route",
	"cors":     "CORS",
	"access":   "Access",
	"limits":   "Limits",
	"document": "OpenAPI document",
	"validate": "Validation",
	"forward":  "Forward",
}

func requestStep(step contract.RequestStep, r contract.Request) projects.ExplainedStep {
	out := projects.ExplainedStep{Name: requestStepNames[step.Step], Outcome: ui.Badge{Text: "not reached"}}
	switch step.Outcome {
	case contract.StepPassed:
		out.Outcome = ui.Badge{Tone: ui.Good, Text: "passed"}
	case contract.StepAnswered:
		out.Outcome = statusBadge(r.Status)
		switch {
		case r.Code != nil:
			out.Detail = *r.Code
		case step.Step == "forward":
			out.Detail = "the upstream responded"
		}
		if r.Status == 499 {
			out.Detail = "the caller disconnected before the response"
		}
	}
	return out
}

// secretLines names the headers that the environment adds. Their values are secrets.
func (h *Handler) secretLines(v *page.Visit, p rules.Project, environment string) (lines []ui.Fact) {
	version, e, ok := page.EnvironmentIn(p, environment)
	if !ok {
		return nil // it was deleted
	}
	headers, err := h.Projects.UpstreamHeaders(v.Ctx(), v.Who, contract.EnvironmentOf(p.ID, version.ID, e.ID))
	if err != nil {
		return nil
	}
	for _, header := range headers.Items {
		lines = append(lines, ui.Fact{Label: header.Name, Value: "***", Mono: true})
	}
	return lines
}

// curlOf returns a curl command for the same call. Query, headers and body are not in the log.
func (h *Handler) curlOf(p rules.Project, r contract.Request) string {
	rest := below(r)
	if rest == r.Path { // by a custom domain, whose scheme and port aren't in the log
		return ""
	}
	command := "curl -i"
	if r.Method != "GET" {
		command += " -X " + shellQuoted(r.Method)
	}
	var key contract.KeySample
	if r.Key != nil {
		key = keyOf(p, r.Version).Sample("$API_KEY")
	}
	if key.Header != "" {
		command += ` -H "` + key.Header + `"`
	}
	address := shellQuoted(h.Web.Config.Address(p.Name, r.Version, r.Environment) + strings.TrimSuffix(rest, "…"))
	if key.Query != "" {
		address += `"?` + key.Query + `"`
	}
	return command + " " + address
}

// keyOf says how keys are sent to a version, which may have been deleted since.
func keyOf(p rules.Project, version string) contract.APIKeyAuth {
	for _, v := range p.Versions {
		if v.Name == version {
			return v.RequestsAuth.APIKey
		}
	}
	return contract.APIKeyAuth{}
}

// shellQuoted returns a text as one word of a shell: the method and the path are a caller's.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// filterOf returns the filter of the query, and the query without anything else.
func filterOf(v *page.Visit) (contract.RequestFilter, url.Values) {
	of := func(name string) string { return strings.TrimSpace(v.Gin.Query(name)) }
	filter := contract.RequestFilter{Status: of("status"), Owner: of("owner"), Path: of("path"), Code: of("code")}
	query := url.Values{}
	for name, value := range map[string]string{
		"status": filter.Status, "owner": filter.Owner, "path": filter.Path, "code": filter.Code,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return filter, query
}

// arrival is the order in which calls arrived, as text of equal length.
func arrival(at time.Time) string { return at.UTC().Format("20060102150405.000000000") }
