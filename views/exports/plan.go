package exports

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/views/ui"
)

// Plan is the page of an import of another gateway's files that waits to be applied. Its form posts the choices to
// Action, with a placeholder and a placeholder_value for each placeholder.
type Plan struct {
	Page     ui.Page
	Plan     *contract.PlannedImport
	Action   string // path of the plan
	Ledger   Ledger
	Sections []Section
	Expires  time.Time

	Open    ui.Group // closed routes and consumers, and those that are opened
	Stuck   []contract.ClosedEntity
	Name    ui.Value
	Hosts   ui.Value
	Trust   ui.Value
	Offers  ui.Group // targets whose certificates can be accepted
	Unset   []Unset
	Targets []ui.Fact // that calls can't reach, or that are trusted
	Reached string    // how many other targets there are, "" for none
	ByHand  []ui.Fact
	Notes   []string
	Error   string // of the choices
	Refused string // why it wasn't applied
}

// The labels of the settings.
const (
	settingsTitle = "Import settings"
	OpenLabel     = "Allow"
	nameLabel     = "Name"
	hostsLabel    = "Host names"
	trustLabel    = "Trusted targets"
	weakLabel     = "Import weak keys"
	retryLabel    = "Retry after a timeout"
)

// SettingLabels are the names on the page for the settings that the texts of a plan name (movein.Settings).
func SettingLabels() map[string]string {
	return map[string]string{
		"allow_weak": "“" + weakLabel + "”", "closed": "“" + settingsTitle + "”", "hosts": "“" + hostsLabel + "”",
		"name": "“" + nameLabel + "”", "open": "“" + OpenLabel + "”", "retry_on_timeout": "“" + retryLabel + "”",
		"set": "the fields under “" + settingsTitle + "”", "trust": "“" + trustLabel + "”",
	}
}

// Unset is a placeholder without a value.
type Unset struct {
	contract.ImportPlaceholder
	Error string
}

// field is the field for the value of a placeholder.
func (u Unset) field(n int) ui.Field {
	return ui.Field{
		ID: fmt.Sprintf("plan-set-%d", n), Name: "placeholder_value", Label: u.Name, Type: "password",
		Autocomplete: "off",
		Hint:         "Placeholder on " + u.Place() + ".", Value: ui.Value{Error: u.Error},
	}
}

// heading says in a line what would be imported.
func (m Plan) heading() string {
	return english.Plural(len(m.Plan.Projects), "project", "") + " and " +
		english.Plural(int(m.Plan.Keys.Imported), "key", "")
}

// people says how many owners, keys and groups would be created.
func (m Plan) people() string {
	keys := english.Plural(int(m.Plan.Keys.Imported), "key", "")
	if frozen, expired := m.Plan.Keys.Frozen, m.Plan.Keys.Expired; frozen+expired > 0 {
		keys += " (" + humanize.Comma(frozen) + " frozen, " + humanize.Comma(expired) + " expired)"
	}
	return english.Plural(int(m.Plan.OwnerCount), "owner", "") + ", " + keys + " and " +
		english.Plural(len(m.Plan.Groups), "group", "")
}

// targets are where a version's calls go.
func targets(v contract.PlannedVersion) string {
	out := []string{}
	if v.Environment.Target != "" {
		out = append(out, v.Environment.Target)
	}
	for _, one := range v.Environment.Upstream.Targets {
		out = append(out, one.URL)
	}
	return strings.Join(out, ", ")
}

// domainText is a custom domain with its methods.
func domainText(d contract.PlannedDomain) string {
	text := d.Host + d.PathPrefix
	if len(d.Methods) > 0 {
		text += " (" + strings.Join(d.Methods, ", ") + ")"
	}
	return text
}

// shownDomains is how many custom domains of a version the page lists.
const shownDomains = 20

// moreDomains says how many aren't listed, "" for none.
func moreDomains(v contract.PlannedVersion) string {
	if more := len(v.Domains) - shownDomains; more > 0 {
		return "and " + english.Plural(more, "more custom domain", "")
	}
	return ""
}
