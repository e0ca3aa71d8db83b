package export

import (
	"fmt"
	"strings"
	"time"

	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// targetsText says which targets of a plan calls can't reach and what to do about it, and whose certificates are
// trusted. It is "" for a plan without targets.
func targetsText(p *contract.PlannedImport) string {
	if p.TargetCount == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("\nTargets\n")
	ok := int64(0)
	for _, one := range p.Targets {
		switch text := one.Address + ": " + one.Detail; {
		case one.State == contract.TargetOK && !one.Trusted:
			ok++
		case one.State == contract.TargetOK:
			out.WriteString(indented(terminal.Printable(one.Address + ": trusted. " + fingerprint(one.CA))))
		case one.TrustHost() != "":
			out.WriteString(indented(terminal.Printable(text + " To accept its certificate, compare the fingerprint " +
				"with the one that the target's operator gives you, and use --trust " + one.TrustHost() + ". " +
				fingerprint(one.CA))))
		default:
			out.WriteString(indented(terminal.Printable(text)))
		}
	}
	if ok > 0 {
		out.WriteString(indented("No problem found: " + terminal.Count{N: ok, One: "target"}.String() + "."))
	}
	if more := p.TargetCount - int64(len(p.Targets)); more > 0 {
		out.WriteString(indented("Not tested: " + terminal.Count{N: more, One: "more target"}.String() + "."))
	}
	return out.String()
}

// fingerprint describes a certificate by what people compare.
func fingerprint(ca *contract.OfferedCA) string {
	return fmt.Sprintf("SHA-256 %s (%s, expires %s).", ca.SHA256, ca.Subject, ca.ExpiresAt.Format(time.DateOnly))
}
