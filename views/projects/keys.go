package projects

import (
	"time"

	"postern/views/ui"
)

// Keys is the section on API keys, with the form that creates one: it posts
// owner, key_type, environment ("" is all), expires_at (YYYY-MM-DD, "" is the
// type's default), the texts, tenant, product, allowed_cidrs (a range on each line)
// and the limits to Action.
type Keys struct {
	Action   string
	TypesURL string // of the page of key types
	Rows     []KeyRow
	Curl     string // creates a key, "" for who may not
	SentIn   string // where callers send keys, as a sentence
	Create   KeyForm
	Filter   KeyFilter
	List     ui.List // without a search, which Filter has

	ImportURL string // of the page that imports keys; "" for viewers

	BulkAction string // changes the chosen rows, see KeyBulk; "" for viewers
	BulkError  string
}

// KeyForm is what the form holds.
type KeyForm struct {
	Open         bool // shown at once, such as when a value is wrong
	Focus        bool // the visitor has asked for it
	Owner        ui.Value
	Types        []ui.Option
	Environments []ui.Option
	Tenants      []ui.Option // asked for where there are several
	Product      string      // name of the project's, "" for none
	OfProduct    bool        // the key is to be valid for all of it
	Expires      ui.Value
	Texts        []ui.Field
	Metadata     ui.Value
	Bounds       KeyBounds
	TypeError    string
	EnvError     string
	TenantError  string
	ProductError string
	Error        string
}

// showsMore reports whether the folded part of the form has something to see.
func (f KeyForm) showsMore() bool {
	return f.Bounds.wrong() || f.Bounds.chosen() || f.Metadata.Error != "" || f.Metadata.Text != ""
}

// KeyBounds is what a form holds on how much a key may call and from where. It
// posts limits_of (type, own or none), limits_second to limits_year, and allowed_cidrs.
type KeyBounds struct {
	Of      []ui.Option
	Error   string
	Windows []ui.Limit
	Allowed ui.Value
}

// wrong reports whether a value of the form is refused.
func (b KeyBounds) wrong() bool {
	for _, w := range b.Windows {
		if w.Value.Error != "" {
			return true
		}
	}
	return b.Error != "" || b.Allowed.Error != ""
}

// chosen reports whether the form sets anything but the defaults.
func (b KeyBounds) chosen() bool {
	return b.Allowed.Text != "" || len(b.Of) > 0 && !b.Of[0].Chosen
}

// KeyFilter is the form that chooses what the table shows: it asks for Action with
// the fields keys_owner, keys_state, keys_type, keys_environment, keys_tenant and
// keys_text.
type KeyFilter struct {
	Action       string
	ClearURL     string      // "" while everything is shown
	Kept         []ui.Hidden // the order
	Owner        string
	Text         string
	States       []ui.Option
	Types        []ui.Option
	Environments []ui.Option
	Tenants      []ui.Option // asked for where there are several
}

// KeyRow is one key in the table.
type KeyRow struct {
	ID          string
	URL         string // of the key's page
	Owner       string
	Type        string
	Environment string
	State       ui.Badge
	Created     time.Time
	Expires     time.Time
	LastUsed    time.Time
	Display     string // prefix, dots, last four characters
	Note        string // such as that it is valid for a whole product
}

// KeyBulk asks before several keys are changed at once. It posts do (freeze, unfreeze or
// revoke), each key and confirm to Action.
type KeyBulk struct {
	Page    ui.Page
	Title   string // such as "Revoke 2 keys"
	Action  string
	Do      string
	Keys    []KeyRow
	Impact  []string
	Undo    string // how it is undone; "" if it cannot be
	Tick    string // what the box agrees to
	Button  string
	Danger  bool
	Error   string
	BackURL string
}

// Key is one key with what can be done to it.
type Key struct {
	Page    ui.Page
	Owner   string
	Display string
	State   ui.Badge
	Facts   []ui.Fact
	BackURL string
	Error   string

	HistoryURL     string   // of the audit log; "" for viewers
	Edit           *KeyEdit // nil for a key that is revoked
	Rotate         *Rotate  // nil when the state does not allow it, as with the others
	Impact         string   // whose calls freezing and revoking stop
	FreezeAction   string
	UnfreezeAction string
	Revoke         *ui.Confirmation
}

// changeable reports whether the page has any action on the key's state.
func (k Key) changeable() bool {
	return k.Rotate != nil || k.FreezeAction != "" || k.UnfreezeAction != "" || k.Revoke != nil
}

// KeyEdit posts what can be changed of a key to Action, with the revision.
type KeyEdit struct {
	Open     bool
	Action   string
	Revision string
	Texts    []ui.Field
	Metadata ui.Value
	Expires  ui.Value // expires_at; "" is never
	Bounds   KeyBounds
	Error    string
}

// Rotate posts grace_seconds with the confirmation.
type Rotate struct {
	Confirm ui.Confirmation
	ETag    string // of the key, see ui.NonceFor
	Grace   []ui.Option
	Error   string // of the grace
}

// Shown is a new secret, on the only page that ever shows it.
type Shown struct {
	Page    ui.Page
	Heading string // such as "Key created"
	Text    string // such as until when the old secret works
	Key     string // "" after the first time
	Facts   []ui.Fact
	Curl    string
	KeyURL  string
	BackURL string
}
