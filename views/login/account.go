package login

import "strings"

// Account is the page on which a user sees and changes their own account.
type Account struct {
	Shell         Shell
	Error         string
	Name          string
	Email         string
	Providers     []Linked
	Sessions      []Session
	Consents      []Consented
	MayChangeSelf bool // signed in recently enough to link a provider or to delete the account

	EndAllAction, SignInAction, LinkAction, DeleteAction string
}

// Linked is a provider that the user can sign in with.
type Linked struct{ Label, Since, UnlinkAction string } // no action: it cannot be unlinked now

// Session is a sign-in of the user.
type Session struct {
	Application string
	Browser     string // such as Firefox on macOS
	Provider    string
	Since       string
	Current     bool
	EndAction   string
}

// Consented is an application that the user shares data with.
type Consented struct {
	Application string
	Since       string
	Shares      []Share
	Action      string
}

// title is how the user is called: a provider may state neither name nor address.
func (a Account) title() string {
	switch {
	case a.Name != "" && a.Email != "":
		return a.Name + " (" + a.Email + ")"
	case a.Name != "":
		return a.Name
	}
	return a.Email
}

func (s Shell) sessionText(one Session) string {
	if one.Provider == "" {
		return s.Words.T("account_session", "time", one.Since)
	}
	return s.Words.T("account_session_with", "time", one.Since, "provider", one.Provider)
}

func (s Shell) browserText(name string) string {
	browser, system, both := strings.Cut(name, " on ")
	if !both {
		return name
	}
	return s.Words.T("account_browser", "browser", browser, "system", system)
}
