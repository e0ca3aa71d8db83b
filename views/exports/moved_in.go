package exports

import (
	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/views/ui"
)

// MovedIn is the page of an import of another gateway's file that was applied.
type MovedIn struct {
	Page     ui.Page
	Import   *contract.MovedIn
	Projects []MovedProject
	Facts    []ui.Fact
	ToDo     []Section // the steps that are left
	UndoURL  string    // of the form that takes it back; "" for who may not
	Error    string
}

// MovedProject is a project of an import, with its pages.
type MovedProject struct {
	contract.MovedProject
	Page           string
	Domains        string    // the page of its custom domains
	ClosedVersions []ui.Link // versions that refuse every call, with the pages of their rules
}

// toDo says how many steps are left, "" for none.
func (m MovedIn) toDo() string {
	switch n := len(m.Import.ToDo); n {
	case 0:
		return ""
	case 1:
		return "1 step from the plan remains."
	default:
		return humanize.Comma(int64(n)) + " steps from the plan remain."
	}
}
