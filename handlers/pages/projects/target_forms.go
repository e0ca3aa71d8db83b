package projects

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	"postern/views/projects"
	"postern/views/ui"
)

const (
	targetsPointer = "/upstream/targets"
	balancePointer = "/upstream/balance"

	// maxPostedTargets is how many rows are read of a form. The rule allows fewer.
	maxPostedTargets = 2 * contract.MostUpstreamTargets
)

// balances are the choices of the form for how calls are spread.
var balances = []ui.Option{
	{Value: string(contract.BalanceRoundRobin), Title: "In turn, by weight (round robin)"},
	{Value: string(contract.BalanceLeastConnections), Title: "To the target with the fewest calls in progress"},
	{Value: string(contract.HashKey), Title: "By API key (hash)"},
	{Value: string(contract.HashOwner), Title: "By owner (hash)"},
	{Value: string(contract.HashIP), Title: "By client address (hash)"},
	{Value: string(contract.HashHeader), Title: "By header (hash)"},
}

// targetRow is a target, as typed.
type targetRow struct {
	url, weight string

	added bool
}

// targetsForm are the targets of an environment, as typed.
type targetsForm struct {
	rows            []targetRow
	balance, header string
}

func targetsAsForm(e *contract.Environment) targetsForm {
	u := e.Upstream.Stated()
	f := targetsForm{balance: string(*u.Balance)}
	if name, ok := u.Balance.Header(); ok {
		f.balance, f.header = string(contract.HashHeader), name
	}
	for _, one := range u.TargetsOr(e.Target) {
		f.rows = append(f.rows, targetRow{url: one.URL, weight: strconv.Itoa(one.WeightOrDefault())})
	}
	return f
}

// postedTargets reads the form. Each row has both fields, so that those of one name are in the order of the rows.
func postedTargets(v *page.Visit) targetsForm {
	f := targetsForm{balance: v.Posted("balance"), header: strings.TrimSpace(v.Posted("balance_header"))}
	urls, weights := v.Gin.Request.PostForm["url"], v.Gin.Request.PostForm["weight"]
	for i := range min(len(urls), len(weights), maxPostedTargets) {
		f.rows = append(f.rows, targetRow{url: strings.TrimSpace(urls[i]), weight: strings.TrimSpace(weights[i])})
	}
	return f
}

// change is the change that the form stands for. A row without URL is left out, an empty weight is the default, and one
// that isn't a number is page.NoNumber.
func (f targetsForm) change() contract.UpstreamTargets {
	balance := contract.UpstreamBalance(f.balance)
	if balance == contract.HashHeader {
		balance += contract.UpstreamBalance(f.header)
	}
	out := contract.UpstreamTargets{Targets: []contract.UpstreamTarget{}, Balance: &balance}
	for _, row := range f.rows {
		if row.url == "" {
			continue
		}
		one := contract.UpstreamTarget{URL: row.url}
		if row.weight != "" {
			weight, ok := page.WholeNumber(row.weight)
			if !ok {
				weight = page.NoNumber
			}
			one.Weight = new(int(weight))
		}
		out.Targets = append(out.Targets, one)
	}
	return out
}

// view shows the form with its mistakes, whose pointers don't count rows without URL.
func (f targetsForm) view(wrong *page.Errors) *projects.Targets {
	m := &projects.Targets{
		Balance: ui.Field{
			ID: "balance", Name: "balance", Label: page.FieldLabel("balance"),
			Hint: "Calls with the same hashed value go to the same target.",
		},
		Header: ui.Field{
			ID: "balance_header", Name: "balance_header", Label: page.FieldLabel("balance_header"), Mono: true,
			Autocomplete: "off", Placeholder: "X-Session", Conditional: true,
			Hint:  "Used only if calls are distributed by header.",
			Value: wrong.Value(balancePointer+"/hash/header", f.header),
		},
	}
	saved := 0
	for i, row := range f.rows {
		shown := projects.TargetRow{
			N: i, URL: ui.Value{Text: row.url}, Weight: ui.Value{Text: row.weight}, New: row.added,
		}
		if row.url != "" {
			at := fmt.Sprintf("%s/%d", targetsPointer, saved)
			shown.URL = wrong.Target(at+"/url", row.url, "Save targets")
			shown.Weight = wrong.Number(at+"/weight", row.weight)
			saved++
		}
		m.Rows = append(m.Rows, shown)
	}
	for _, o := range balances {
		o.Chosen = o.Value == f.balance
		m.Options = append(m.Options, o)
	}
	m.Balance.Value.Error = wrong.Take(balancePointer)
	m.Error = wrong.Rest()
	return m
}

// saveTargets saves the form, or adds or removes a row without saving anything.
func (h *Handler) saveTargets(v *page.Visit) (web.Answer, error) {
	form := postedTargets(v)
	if do := v.Posted("do"); do != "" {
		return h.changeTargets(v, form, do)
	}
	in := contract.EnvironmentUpdate{EnvironmentPath: environmentPathIn(v), Condition: v.Condition()}
	in.Body.Upstream.UpstreamTargets = form.change()
	saved, err := h.Projects.UpdateEnvironment(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("targets", environmentHere(v), saved.Name)
	}
	return h.refusedPlace(v, err, func(m *projects.Place, wrong *page.Errors) { form.mark(m, wrong) })
}

// mark shows the form as it was typed.
func (f targetsForm) mark(m *projects.Place, wrong *page.Errors) {
	if m.Targets == nil {
		return
	}
	shown := f.view(wrong)
	shown.Open, shown.Action, shown.Revision = true, m.Targets.Action, m.Targets.Revision
	m.Targets = shown
}

// changeTargets carries out a button of the form.
func (h *Handler) changeTargets(v *page.Visit, form targetsForm, do string) (web.Answer, error) {
	at, err := h.placeOf(v)
	if err == nil {
		err = v.Allowed(at.project, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	what, number, _ := strings.Cut(do, " ")
	n, err := strconv.Atoi(number)
	switch {
	case do == doAdd:
		form.rows = append(form.rows, targetRow{weight: "1", added: true})
	case what == doRemove && err == nil && n >= 0 && n < len(form.rows):
		form.rows = slices.Delete(form.rows, n, n+1)
	default:
		return web.Answer{}, web.NotFound()
	}
	m, err := h.placeModel(v, at)
	if err != nil {
		return web.Answer{}, err
	}
	form.mark(&m, &page.Errors{})
	return web.Answer{Status: http.StatusOK, Page: projects.PlacePage(m)}, nil
}

// checkMembers and breakerMembers are the fields of the forms for the checks and the breaker of targets.
var (
	checkMembers   = contract.MembersWithin(contract.UpdateEnvironment, "upstream.checks")
	breakerMembers = contract.MembersWithin(contract.UpdateEnvironment, "upstream.breaker")
)

// checkHints say what each number of checks and breakers is about.
var checkHints = map[string]string{
	"interval_ms": "Time between checks. If no path is set, how long an unhealthy target is skipped.",
	"timeout_ms":  "The maximum duration of a check.",
	"healthy":     "The number of successful checks in a row after which a target gets calls again.",
	"unhealthy":   "The number of failed checks in a row after which a target is skipped.",
	"passive_failures": "The number of failed calls in a row after which a target is skipped for the interval. " +
		"Applies only if no path is set and there is more than one target. Enter 0 to never skip targets.",
	"failures": "Calls to a target are stopped after this many failed calls within the window. Enter 0 to turn off " +
		"the breaker.",
	"window_ms": "The time window in which failures are counted.",
	"open_ms":   "How long calls to a target are stopped before one call tests it.",
}

// numberField is the field for a number of an upstream's settings.
func numberField(n contract.UpstreamNumber) ui.Field {
	return ui.Field{
		ID:           n.Name,
		Name:         n.Name,
		Label:        page.FieldLabel(n.Name),
		Value:        ui.Value{Text: strconv.Itoa(*n.Value)},
		Numeric:      true,
		Conditional:  true,
		Autocomplete: "off",
		Hint:         fmt.Sprintf("%s Default: %s.", checkHints[n.Name], humanize.Comma(int64(n.Default))),
	}
}

func statusesText(all []contract.StatusRange) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = string(one)
	}
	return strings.Join(texts, ", ")
}

func checksModel(c contract.UpstreamChecks) *projects.UpstreamNumbers {
	c = c.Stated()
	m := &projects.UpstreamNumbers{
		ID: "checks", Title: "Checks", Verb: "Save checks",
		Intro: "If a path is set, only active checks determine which targets get calls. Otherwise, failed calls do. " +
			"To use the default, leave a field empty.",
		Fields: []ui.Field{
			{
				ID: "path", Name: "path", Label: page.FieldLabel("path"), Value: ui.Value{Text: *c.Path}, Mono: true,
				Autocomplete: "off", Placeholder: "/healthz",
				Hint: "Postern sends GET requests to this path on each target. Leave empty to turn off active checks.",
			},
			{
				ID: "statuses", Name: "statuses", Label: page.FieldLabel("statuses"), Mono: true, Conditional: true,
				Value: ui.Value{Text: statusesText(c.Statuses)}, Autocomplete: "off", Placeholder: "200-399",
				Hint: "The statuses of a successful check, as numbers or ranges separated by commas. Default: 200-399.",
			},
		},
	}
	for _, n := range c.Numbers() {
		m.Fields = append(m.Fields, numberField(n))
	}
	return m
}

// saveChecks saves the form. An empty field is the default.
func (h *Handler) saveChecks(v *page.Visit) (web.Answer, error) {
	in := contract.EnvironmentUpdate{EnvironmentPath: environmentPathIn(v), Condition: v.Condition()}
	set := &in.Body.Upstream.Checks
	v.Fill(set, checkMembers...)
	*set = set.Stated()
	saved, err := h.Projects.UpdateEnvironment(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("checks", environmentHere(v), saved.Name)
	}
	return h.refusedPlace(v, err, func(m *projects.Place, wrong *page.Errors) {
		markNumbers(v, m.Checks, "/upstream/checks/", wrong)
	})
}

func breakerModel(b contract.UpstreamBreaker) *projects.UpstreamNumbers {
	m := &projects.UpstreamNumbers{
		ID: "breaker", Title: "Circuit breaker", Verb: "Save breaker",
		Intro: "Stops calls to a target that keeps failing. To use the default, leave a field empty.",
	}
	for _, n := range b.Stated().Numbers() {
		m.Fields = append(m.Fields, numberField(n))
	}
	return m
}

// saveBreaker saves the form. An empty field is the default.
func (h *Handler) saveBreaker(v *page.Visit) (web.Answer, error) {
	in := contract.EnvironmentUpdate{EnvironmentPath: environmentPathIn(v), Condition: v.Condition()}
	set := &in.Body.Upstream.Breaker
	v.Fill(set, breakerMembers...)
	*set = set.Stated()
	saved, err := h.Projects.UpdateEnvironment(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("breaker", environmentHere(v), saved.Name)
	}
	return h.refusedPlace(v, err, func(m *projects.Place, wrong *page.Errors) {
		markNumbers(v, m.Breaker, "/upstream/breaker/", wrong)
	})
}

// markNumbers shows a form as it was typed.
func markNumbers(v *page.Visit, m *projects.UpstreamNumbers, pointer string, wrong *page.Errors) {
	if m == nil {
		return
	}
	m.Open = true
	for i := range m.Fields {
		f := &m.Fields[i]
		read := wrong.Value
		if f.Numeric {
			read = wrong.Number
		}
		f.Value = read(pointer+f.Name, v.Posted(f.Name))
	}
	m.Error = wrong.Rest()
}
