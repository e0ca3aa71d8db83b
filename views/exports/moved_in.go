package exports

import (
	"postern/core/contract"
	"postern/views/ui"
)

// MovedIn is the page of an import of another gateway's file that was applied.
type MovedIn struct {
	Page     ui.Page
	Import   *contract.MovedIn
	Projects []MovedProject
	Facts    []ui.Fact
	UndoURL  string // of the form that takes it back; "" for who may not
	Error    string
}

// MovedProject is a project of an import, with its page.
type MovedProject struct {
	contract.MovedProject
	Page string
}
