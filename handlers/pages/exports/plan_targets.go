package exports

import (
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/views/exports"
	"postern/views/ui"
)

// addTargets adds to the page of a plan which targets calls can't reach, and which of their certificates can be
// accepted.
func addTargets(m *exports.Plan, plan *contract.PlannedImport) {
	m.Offers = ui.Group{
		ID: "plan-offers", Name: "trust", Legend: "Trust",
		Hint: "The certificates of these targets aren't trusted, so calls to them get 502. Before you trust a " +
			"certificate, compare its fingerprint with the one you get from the target's operator.",
	}
	ok := 0
	for _, one := range plan.Targets {
		switch {
		case one.State == contract.TargetOK && one.Trusted:
			m.Targets = append(m.Targets, ui.Fact{Label: one.Address, Value: "Trusted: " + certificateText(one.CA)})
		case one.State == contract.TargetOK:
			ok++
		default:
			m.Targets = append(m.Targets, ui.Fact{Label: one.Address, Value: one.Detail})
		}
		if host := one.TrustHost(); host != "" {
			m.Offers.Options = offered(m.Offers.Options, host, certificateText(one.CA))
		}
	}
	if ok > 0 {
		one := "target"
		if len(m.Targets) > 0 {
			one = "other target"
		}
		m.Reached = "No problems found with " + english.Plural(ok, one, "") + "."
	}
	if more := int(plan.TargetCount) - len(plan.Targets); more > 0 {
		m.Reached += " " + english.Plural(more, "more target", "") + " can't be tested."
	}
}

// offered adds a certificate that is accepted once a host is trusted. A host can have several, on its ports.
func offered(options []ui.Option, host, text string) []ui.Option {
	at := slices.IndexFunc(options, func(o ui.Option) bool { return o.Value == host })
	switch {
	case at < 0:
		options = append(options, ui.Option{Value: host, Title: host, Text: text})
	case !strings.Contains(options[at].Text, text):
		options[at].Text += "; " + text
	}
	return options
}

// certificateText describes a certificate by what people compare.
func certificateText(ca *contract.OfferedCA) string {
	return ca.Subject + ", SHA-256 " + ca.SHA256 + ", expires " + ca.ExpiresAt.Format(time.DateOnly)
}
