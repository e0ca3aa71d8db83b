package providers

import (
	"strconv"
	"strings"

	"golang.org/x/oauth2"
)

// Prompt is what the provider asks the user for, although the browser is signed in there (OpenID Connect Core 1.0,
// 3.1.2.1).
type Prompt struct {
	Login         bool // prompt=login: authenticate again
	SelectAccount bool // prompt=select_account
}

// values returns the value of the parameter prompt.
func (p Prompt) values() string {
	var values []string
	if p.Login {
		values = append(values, "login")
	}
	if p.SelectAccount {
		values = append(values, "select_account")
	}
	return strings.Join(values, " ")
}

// account is values for kinds that support no other value than select_account.
func (p Prompt) account() string {
	if p.Login || p.SelectAccount {
		return "select_account"
	}
	return ""
}

// parameters returns the parameters of the name and value pairs whose value is not "".
func parameters(pairs ...string) (out []oauth2.AuthCodeOption) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, oauth2.SetAuthURLParam(pairs[i], pairs[i+1]))
		}
	}
	return out
}

// openIDParameters are those of an issuer that follows OpenID Connect Core 1.0, 3.1.2.1.
// With prompt=login goes max_age=0, which asks for the same: auth_time is required in ID
// tokens for requests with max_age only.
func openIDParameters(r Request) []oauth2.AuthCodeOption {
	age := ""
	switch {
	case r.Prompt.Login:
		age = "0"
	case r.MaxAge != nil:
		age = strconv.FormatInt(*r.MaxAge, 10)
	}
	return parameters(
		"prompt", r.Prompt.values(), "max_age", age, "acr_values", r.ACRValues,
		"login_hint", r.LoginHint, "ui_locales", r.UILocales,
	)
}
