package login

import "postern/models"

// direct returns the provider that a login goes to without a page, "" if the page is shown:
// the only one that the client offers, or the one that the domain of login_hint leads to. The
// page of an unclaimed workspace always comes first, because it says that its operator is not
// known. prompt=select_account asks for the page.
//
// After an error the page is shown in any case (Resume), so a provider that sends the browser
// straight back cannot keep it going round.
func direct(look Look, options []ProviderOption, attempt models.LoginAttempt) string {
	switch {
	case look.Unclaimed || granted(attempt.Prompt, "select_account"):
		return ""
	case len(options) == 1:
		return options[0].ID
	}
	return leadsTo(options, attempt.LoginHint)
}
