package keys

import (
	"fmt"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// The choices of the form for a key's limits.
const (
	limitsOfType = "type"
	limitsOfOwn  = "own"
	limitsOfNone = "none"
)

// The texts of these choices. A key's own limits replace only those of its type, or the project's limits for each key.
const (
	customText    = "Replaces the key type's limits and the project's limits for each key." + stillApply
	unlimitedText = "No limits for this key." + stillApply
	stillApply    = " The project's limits for owners, addresses and the entire project still apply."
)

// keyBounds holds the fields for a key's limits and addresses, as typed.
type keyBounds struct {
	of      string
	windows map[string]string
	allowed string
}

func postedBounds(v *page.Visit) keyBounds {
	b := keyBounds{of: v.Posted("limits_of"), windows: v.PostedLimits("limits_"), allowed: v.Posted("allowed_cidrs")}
	if b.of == "" && len(b.windows) > 0 {
		b.of = limitsOfOwn
	}
	return b
}

// boundsOf returns the fields as the key has them.
func boundsOf(k contract.Key) keyBounds {
	b := keyBounds{of: limitsOfType, windows: map[string]string{}, allowed: strings.Join(k.AllowedCIDRs, "\n")}
	if k.Limits == nil {
		return b
	}
	if b.of = limitsOfOwn; len(*k.Limits) == 0 {
		b.of = limitsOfNone
	}
	b.windows = page.TypedLimits(*k.Limits)
	return b
}

// limits returns nil for the limits of the key's type. It ignores the numbers of choices
// that are not selected, because the form hides them.
func (b keyBounds) limits() contract.Limits {
	switch b.of {
	case limitsOfNone:
		return contract.Limits{}
	case limitsOfOwn:
		return *page.ReadLimits(b.windows)
	}
	return nil
}

// form is the part of the form for limits and addresses. inherited describes the limits of
// a key without its own.
func (b keyBounds) form(inherited string, wrong *page.Errors) projects.KeyBounds {
	m := projects.KeyBounds{Of: []ui.Option{
		{Value: limitsOfType, Title: "From the key type", Text: inherited},
		{Value: limitsOfOwn, Title: "Custom", Text: customText},
		{Value: limitsOfNone, Title: "None", Text: unlimitedText},
	}}
	page.Choose(m.Of, limitsOfType)
	if b.of == limitsOfOwn || b.of == limitsOfNone {
		page.Choose(m.Of, b.of)
	}
	sent := wrong
	if b.of != limitsOfOwn {
		sent = &page.Errors{} // the numbers are ignored
	}
	m.Windows = windowFields(b.windows, sent)
	m.Error = wrong.Take("/limits")
	m.Allowed = ui.Value{Text: b.allowed, Error: wrong.TakeLines("/allowed_cidrs", page.Lines(b.allowed))}
	return m
}

// windowFields are an input for each window, with the mistakes below /limits.
func windowFields(typed map[string]string, wrong *page.Errors) []ui.Limit {
	var out []ui.Limit
	for _, name := range page.WindowTitles() {
		out = append(out, ui.Limit{
			Window: name,
			Label:  "Per " + name,
			Value:  wrong.Limit("/limits/"+name, typed[name]),
		})
	}
	return out
}

// effectiveText describes the limits that apply to a key and where they come from.
func effectiveText(k contract.Key) string {
	text := page.LimitsText(page.TypedLimits(k.EffectiveLimits))
	switch {
	case k.LimitsFrom == contract.LimitsOfKey && text == "":
		return "none for this key, regardless of the key type"
	case k.LimitsFrom == contract.LimitsOfKey:
		return text + " (set on this key)"
	case k.LimitsFrom == contract.LimitsOfType:
		return text + " (from the key type)"
	case k.LimitsFrom == contract.LimitsOfProject:
		return text + " (from the project)"
	}
	return "none"
}

// inheritedText describes the limits of a key of the type without its own.
func inheritedText(p rules.Project, keyType string) string {
	for _, t := range p.KeyTypes {
		if t.Name == keyType && len(t.Limits) > 0 {
			return fmt.Sprintf("Currently %s.", page.LimitsText(page.TypedLimits(t.Limits)))
		}
	}
	if text := page.LimitsText(page.TypedLimits(p.Limits.Key)); text != "" {
		return fmt.Sprintf("The key type doesn't set limits. The project's limits for each key apply: %s.", text)
	}
	return "The key type doesn't currently set limits."
}

// inheritedByChoice is inheritedText before a type is chosen: the options of the types
// name their limits.
func inheritedByChoice(p rules.Project) string {
	if text := page.LimitsText(page.TypedLimits(p.Limits.Key)); text != "" {
		return fmt.Sprintf("If the key type doesn't set limits, the project's limits for each key apply: %s.", text)
	}
	return "If the key type doesn't set limits, the key has no limits."
}
