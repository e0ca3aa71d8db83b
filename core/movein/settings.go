package movein

import (
	"slices"
	"strings"

	"postern/core/contract"
)

// Settings returns the choices for a plan that the texts of plans name, in backquotes, by their members in
// contract.ImportPlanChange. "closed" is the plan's list of what stays closed. API responses contain these
// names. The command line replaces them with flags, and the page with its labels: see NameSettings.
func Settings() []string {
	return []string{"allow_weak", "closed", "hosts", "name", "open", "retry_on_timeout", "set", "trust"}
}

// NameSettings returns a text of a plan with the reader's names for the settings in it.
func NameSettings(text string, names map[string]string) string {
	for _, setting := range Settings() {
		if name := names[setting]; name != "" {
			text = strings.ReplaceAll(text, "`"+setting+"`", name)
		}
	}
	return text
}

// NameSettingsIn is NameSettings for the lines of a plan's ledger.
func NameSettingsIn(lines []contract.LedgerLine, names map[string]string) []contract.LedgerLine {
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i].Note = NameSettings(lines[i].Note, names)
		if remedy := lines[i].Remedy; remedy != nil {
			lines[i].Remedy = new(NameSettings(*remedy, names))
		}
	}
	return lines
}
