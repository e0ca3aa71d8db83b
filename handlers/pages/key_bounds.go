package pages

import (
	"fmt"
	"strings"

	"postern/core/contract"
	"postern/core/snapshot"
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

// keyBounds holds the fields for a key's limits and addresses, as typed.
type keyBounds struct {
	of      string
	windows map[string]string
	allowed string
}

func postedBounds(v *visit) keyBounds {
	b := keyBounds{of: v.posted("limits_of"), windows: v.postedLimits("limits_"), allowed: v.posted("allowed_cidrs")}
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
	b.windows = typedLimits(*k.Limits)
	return b
}

// limits returns nil for the limits of the key's type. It ignores the numbers of choices
// that are not selected, because the form hides them.
func (b keyBounds) limits() contract.Limits {
	switch b.of {
	case limitsOfNone:
		return contract.Limits{}
	case limitsOfOwn:
		return *readLimits(b.windows)
	}
	return nil
}

// form is the part of the form for limits and addresses. inherited describes the limits of
// a key without its own.
func (b keyBounds) form(inherited string, wrong *formErrors) projects.KeyBounds {
	m := projects.KeyBounds{Of: []ui.Option{
		{Value: limitsOfType, Title: "From its type", Text: inherited},
		{Value: limitsOfOwn, Title: "Its own", Text: "Replace the limits of the type and the project."},
		{Value: limitsOfNone, Title: "None", Text: "No limits, regardless of its type."},
	}}
	choose(m.Of, limitsOfType)
	if b.of == limitsOfOwn || b.of == limitsOfNone {
		choose(m.Of, b.of)
	}
	m.Windows = windowFields(b.windows, wrong)
	m.Error = wrong.take("/limits")
	m.Allowed = ui.Value{Text: b.allowed, Error: wrong.takeLines("/allowed_cidrs", lines(b.allowed))}
	return m
}

// windowFields are an input for each window, with the mistakes below /limits.
func windowFields(typed map[string]string, wrong *formErrors) []ui.Limit {
	var out []ui.Limit
	for _, name := range windowTitles() {
		out = append(out, ui.Limit{
			Window: name,
			Label:  strings.ToUpper(aWindow(name)[:1]) + aWindow(name)[1:],
			Value:  wrong.value("/limits/"+name, typed[name]),
		})
	}
	return out
}

func aWindow(name string) string {
	if name == snapshot.Hour.String() {
		return "an " + name
	}
	return "a " + name
}

// effectiveText describes the limits that apply to a key and where they come from.
func effectiveText(k contract.Key) string {
	text := limitsText(typedLimits(k.EffectiveLimits))
	switch {
	case k.LimitsFrom == contract.LimitsOfKey && text == "":
		return "none, regardless of its type"
	case k.LimitsFrom == contract.LimitsOfKey:
		return text + " (its own)"
	case k.LimitsFrom == contract.LimitsOfType:
		return text + " (of its type)"
	case k.LimitsFrom == contract.LimitsOfProject:
		return text + " (of the project, for each key)"
	}
	return "none"
}

// inheritedText describes the limits of a key of the type without its own.
func inheritedText(p rules.Project, keyType string) string {
	for _, t := range p.KeyTypes {
		if t.Name == keyType && len(t.Limits) > 0 {
			return fmt.Sprintf("Currently %s.", limitsText(typedLimits(t.Limits)))
		}
	}
	if text := limitsText(typedLimits(p.Limits.Key)); text != "" {
		return fmt.Sprintf("The type has none. The project's limits for each key apply: %s.", text)
	}
	return "The type currently has none."
}

// inheritedByChoice is inheritedText before a type is chosen: the options of the types
// name their limits.
func inheritedByChoice(p rules.Project) string {
	if text := limitsText(typedLimits(p.Limits.Key)); text != "" {
		return fmt.Sprintf("If the type has none, the project's limits for each key apply: %s.", text)
	}
	return "If the type has none, there is no limit."
}
