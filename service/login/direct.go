package login

// direct returns the provider that a login goes to without a page, "" if the page is shown:
// the only one that the client offers. The page of an unclaimed workspace always comes first,
// because it says that its operator is not known. prompt=select_account asks for the page.
//
// After an error the page is shown in any case (Resume), so a provider that sends the browser
// straight back cannot keep it going round.
func direct(look Look, options []ProviderOption, prompt string) string {
	if len(options) != 1 || look.Unclaimed || granted(prompt, "select_account") {
		return ""
	}
	return options[0].ID
}
