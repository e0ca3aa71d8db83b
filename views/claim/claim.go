// Package claim holds the page a claim link leads to.
//
// It owns telling the visitor what claiming is and that it cannot be done yet;
// it does not own claim codes (accounts).
package claim

import "postern/views/ui"

// Claim is the page behind /claim/{code}. It looks nothing up and shows no code:
// whether a code is real is for the claim itself to tell.
type Claim struct {
	Page ui.Page
}
