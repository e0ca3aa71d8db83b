package projects

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/views/ui"
)

// targetFacts show how an environment's calls are spread, and the checks and the breaker of its targets, as far as they
// aren't the defaults.
func targetFacts(e *contract.Environment) (facts []ui.Fact) {
	u := e.Upstream
	if u.Balance != nil && *u.Balance != contract.BalanceRoundRobin {
		facts = append(facts, ui.Fact{Label: "Load balancing", Value: string(*u.Balance), Mono: true})
	}
	if !u.Checks.AreDefaults() {
		facts = append(facts, ui.Fact{Label: "Checks", Value: checksText(u.Checks.Stated())})
	}
	if u.Breaker.Exists() {
		b := u.Breaker.Stated()
		facts = append(facts, ui.Fact{Label: "Breaker", Value: fmt.Sprintf("%s in %s ms, open for %s ms",
			page.CountText(int64(*b.Failures), "failure"), humanize.Comma(int64(*b.WindowMS)),
			humanize.Comma(int64(*b.OpenMS)))})
	}
	return facts
}

// forwardsTo is the target of an environment, or its targets with their weights.
func forwardsTo(e contract.Environment) string {
	targets := e.Upstream.TargetsOr(e.Target)
	texts := make([]string, len(targets))
	for i, one := range targets {
		texts[i] = one.String()
	}
	return strings.Join(texts, ", ")
}

func checksText(c contract.UpstreamChecks) string {
	every := humanize.Comma(int64(*c.IntervalMS)) + " ms"
	if !c.Active() {
		if *c.PassiveFailures == 0 {
			return "Off"
		}
		return fmt.Sprintf("Skipped for %s after %s in a row", every,
			page.CountText(int64(*c.PassiveFailures), "failed call"))
	}
	statuses := make([]string, len(c.Statuses))
	for i, r := range c.Statuses {
		statuses[i] = string(r)
	}
	return fmt.Sprintf("%s every %s, timeout %s ms, statuses %s, unhealthy after %s, healthy after %s", *c.Path,
		every, humanize.Comma(int64(*c.TimeoutMS)), strings.Join(statuses, ", "),
		page.CountText(int64(*c.Unhealthy), "failure"), page.CountText(int64(*c.Healthy), "success"))
}
