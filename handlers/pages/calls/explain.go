package calls

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/core/policy"
	"postern/handlers/page"
	"postern/handlers/web"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// explainURL leads to the explanation of a call that was made.
func explainURL(p rules.Project, r contract.Request) string {
	query := url.Values{
		"version": {r.Version}, "environment": {r.Environment}, "method": {r.Method}, "path": {below(r)},
	}
	if r.Host != nil {
		query = url.Values{"host": {*r.Host}, "method": {r.Method}, "path": {r.Path}}
	}
	if r.Key != nil {
		query.Set("key", *r.Key)
	}
	return page.ExplainPath(p) + "?" + query.Encode()
}

// showExplain asks for a call, and explains the one that the query has.
func (h *Handler) showExplain(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	asked := func(name string) string { return strings.TrimSpace(v.Gin.Query(name)) }
	in := contract.Question{
		ProjectPath: contract.ProjectPath{Project: p.ID},
		Version:     asked("version"),
		Environment: asked("environment"),
		Method:      asked("method"),
		Path:        asked("path"),
		Key:         asked("key"),
		User:        asked("user"),
		Scopes:      strings.Join(strings.Fields(asked("scopes")), " "),
		Host:        asked("host"),
	}
	if in.Host != "" { // the form always sends these
		in.Version, in.Environment = "", ""
	}
	v.SelectTeam(p.Team)
	status, wrong := http.StatusOK, &page.Errors{}
	var answer *projects.Explained
	if in.Path != "" {
		found, err := h.Projects.Explain(v.Ctx(), v.Who, in)
		switch mistakes, ok := page.ErrorsIn(err); {
		case ok:
			status, wrong = mistakes.Status, mistakes
		case err != nil:
			return web.Answer{}, err
		default:
			answer = explained(p, in, found)
		}
	}
	m := explainModel(p, in, wrong)
	m.Page = v.Shell("Explain a call", page.ExplainPath(p), page.ProjectsCrumb(), page.ProjectCrumb(p),
		ui.Crumb{Text: "Requests", URL: requestsPath(p)}, ui.Crumb{Text: "Explain a call"})
	m.Answer = answer
	return web.Answer{Status: status, Page: projects.ExplainPage(m)}, nil
}

func explainModel(p rules.Project, in contract.Question, wrong *page.Errors) projects.Explain {
	m := projects.Explain{
		Action:      page.ExplainPath(p),
		Version:     wrong.Value("/version", in.Version),
		Environment: wrong.Value("/environment", in.Environment),
		Path:        wrong.Value("/path", in.Path),
		Key:         wrong.Value("/key", in.Key),
		User:        wrong.Value("/user", in.User),
		Scopes:      wrong.Value("/scopes", in.Scopes),
		Host:        wrong.Value("/host", in.Host),
		BackURL:     requestsPath(p),
	}
	m.Error = wrong.Rest()
	for _, version := range p.Versions {
		chosen := in.Version == version.Name || in.Version == version.ID
		m.Versions = append(m.Versions, ui.Option{Value: version.Name, Title: version.Name, Chosen: chosen})
		for _, e := range version.Environments {
			if !slices.ContainsFunc(m.Environments, func(o ui.Option) bool { return o.Value == e.Name }) {
				m.Environments = append(m.Environments,
					ui.Option{Value: e.Name, Title: e.Name, Chosen: in.Environment == e.Name})
			}
		}
	}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		m.Methods = append(m.Methods,
			ui.Option{Value: method, Title: method, Chosen: strings.EqualFold(in.Method, method)})
	}
	return m
}

func explained(p rules.Project, in contract.Question, found contract.Explanation) *projects.Explained {
	method := strings.ToUpper(in.Method)
	if method == "" {
		method = http.MethodGet
	}
	named := ruleNames(p)
	out := &projects.Explained{
		Call:     method + " " + in.Host + in.Path,
		Verdict:  verdictBadge(found.GatewayAnswer),
		Decided:  decidedBy(found, named),
		Exported: verdictBadge(found.OnExport),
		Differs:  found.OnExport != found.GatewayAnswer,
		Command:  explainCommand(p, method, in),
	}
	for _, step := range found.Steps {
		out.Steps = append(out.Steps, projects.ExplainedStep{
			Name:    policy.ExplainTitle(string(step.Step)),
			Outcome: outcomeBadges[step.Outcome],
			Detail:  named.Replace(step.Detail),
		})
	}
	return out
}

// ruleNames replaces ids of rules by their methods and path.
func ruleNames(p rules.Project) *strings.Replacer {
	var pairs []string
	for i := range p.Versions {
		for j := range p.Versions[i].Rules.List {
			rule := &p.Versions[i].Rules.List[j]
			pairs = append(pairs, rule.ID, strings.Join(rule.Methods, ",")+" "+rule.Path)
		}
	}
	return strings.NewReplacer(pairs...)
}

var outcomeBadges = map[string]ui.Badge{
	policy.OutcomePass:   {Tone: ui.Good, Text: "passed"},
	policy.OutcomeDeny:   {Tone: ui.Bad, Text: "refused"},
	policy.OutcomeSkip:   {Text: "skipped"},
	policy.OutcomeRefuse: {Tone: ui.Warn, Text: "would refuse"},
}

func verdictBadge(a contract.GatewayAnswer) ui.Badge {
	if a.Forwards() {
		return ui.Badge{Tone: ui.Good, Text: "forwarded"}
	}
	return ui.Badge{Tone: ui.Bad, Text: strconv.Itoa(a.Status) + " " + a.Code}
}

// decidedBy says what decided, in a sentence.
func decidedBy(found contract.Explanation, named *strings.Replacer) string {
	verb := "allows the call"
	if !found.Forwards() {
		verb = "refuses the call"
	}
	switch by := found.DecidedBy; by {
	case policy.ExplainForward:
		return "No step refuses the call."
	case policy.ByDefault:
		return "The setting for routes without a rule " + verb + "."
	case policy.ByReadWriteScopes:
		return "The key scopes setting " + verb + "."
	default:
		if title := policy.ExplainTitle(by); title != "" {
			return "The " + title + " step " + verb + "."
		}
		return "The rule " + named.Replace(by) + " " + verb + "."
	}
}

// explainCommand is the command that asks the same.
func explainCommand(p rules.Project, method string, in contract.Question) string {
	words := []string{"postern", "explain", p.Name, method, shellWord(in.Path)}
	for _, flag := range []struct{ name, value string }{
		{"--version", in.Version},
		{"--environment", in.Environment},
		{"--host", in.Host},
		{"--key", in.Key},
		{"--user", in.User},
		{"--scopes", in.Scopes},
	} {
		if flag.value != "" {
			words = append(words, flag.name, shellWord(flag.value))
		}
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word for a POSIX shell where it needs that.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:", r)
	}
	if !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
