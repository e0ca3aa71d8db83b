package projects

import (
	"time"

	"postern/views/ui"
)

// CallSigning shows whether the calls of a project are signed, with which keys, and changes
// it.
type CallSigning struct {
	Page         ui.Page
	DirectoryURL string // "" while calls are not signed
	Keys         []SigningKeyRow
	Manage       *CallSigningManage // nil for viewers
	BackURL      string             // of the project
}

// SigningKeyRow is a key in the list.
type SigningKeyRow struct {
	ID    string
	State ui.Badge
	From  time.Time // when it signs
	Until time.Time // when it is withdrawn; the zero time if that is not known
}

// CallSigningManage has the forms that the state allows. EnableAction is "" while calls are
// signed, and the others are used only then.
type CallSigningManage struct {
	Error        string
	EnableAction string
	Rotate       ui.Confirmation
	Rotations    []ui.Option // when another key signs
	Disable      ui.Confirmation
}
