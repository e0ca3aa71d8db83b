package exports

import (
	"fmt"
	"strings"

	"github.com/a-h/templ"
	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/views/ui"
)

// Preview is the page that says what an export would move, before there is one.
type Preview struct {
	Page     ui.Page
	Project  string // display name
	Formats  []ui.Tab
	AskURL   string // of the page that starts an export; "" for who may not
	Problem  string // why there is no preview; "" if there is one
	Partial  bool   // of the keys, some were counted
	Ledger   Ledger
	Sections []Section // without empty ones
}

// Section is a part of a ledger: its to-dos, the other lines with one status, or what is the same for every project.
type Section struct {
	ID    string // "todo", "everywhere" or a status
	Title string
	Text  string
	Open  bool
	Mixed bool // its lines have several statuses, so each line shows its own
	Lines []LedgerLine
}

// LedgerLine is the items of a ledger with one code.
type LedgerLine struct {
	contract.LedgerLine
	AllURL string // of a page with more names; "": there are not more
}

// number says how many items a line has.
func (l LedgerLine) number() string { return itemsText(l.Count) }

// badge is the status of a line with its color.
func (l LedgerLine) badge() share {
	for _, s := range (Ledger{}).shares() {
		if s.class == "share-"+l.Status {
			return s
		}
	}
	return share{}
}

// number says how many items a section has.
func (s Section) number() string {
	var n int64
	for _, l := range s.Lines {
		n += l.Count
	}
	return itemsText(n)
}

func itemsText(n int64) string {
	if n == 1 {
		return "1 item"
	}
	return humanize.Comma(n) + " items"
}

// prose is a text of the ledger, with its code in backticks as HTML.
func prose(text string) templ.Component {
	var out strings.Builder
	for i, part := range strings.Split(text, "`") {
		part = templ.EscapeString(part)
		if i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		out.WriteString(part)
	}
	return templ.Raw(out.String())
}

// others says how many items are not named.
func (l LedgerLine) others() string {
	if more := l.Count - int64(len(l.Names)); more > 0 {
		return fmt.Sprintf("and %s more", humanize.Comma(more))
	}
	return ""
}
