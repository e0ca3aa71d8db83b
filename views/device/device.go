// Package device holds the pages on which a person lets a command line sign in.
//
// It owns asking for the code, showing who asks, and saying what came of it. It
// does not own codes (the rules package tokens).
package device

import "postern/views/ui"

// Enter asks for the code. It posts user_code to /device.
type Enter struct {
	Page ui.Page
	Code ui.Value
}

// Confirm shows who asks. It posts user_code and decision (approve or deny) to
// /device.
type Confirm struct {
	Page  ui.Page
	Code  string
	Facts []ui.Fact
}

// Done says what was decided.
type Done struct {
	Page     ui.Page
	Machine  string
	Approved bool
}
