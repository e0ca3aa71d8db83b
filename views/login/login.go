// Package login holds the pages on which users of a customer's application sign in: the hosted
// login of an app client, in the client's colors.
//
// It owns the choice of a provider, the consent form, and the error pages of a login. It
// leaves the dashboard's own sign-in to views/signin and the flow between the pages to
// service/login. The pages work without scripts.
package login

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
)

// Shell is what every page needs.
type Shell struct {
	Title     string // of the document
	App       string // what the client calls itself; "" before it is known
	Welcome   string
	LogoURL   string
	Brand     string // path of a style sheet with the client's color, "" for none
	Theme     string // "light", "dark", or "" for the system's
	Words     *Words // of the page's language, nil for English
	TestLogin bool   // started from the dashboard

	Unclaimed bool   // the application belongs to no team yet
	Site      string // of an unclaimed one: host that people are sent on to, "" where it is not known
}

// caution is for an application that anyone in the world can have created.
func (s Shell) caution() string {
	if s.Site == "" {
		return s.Words.T("unclaimed")
	}
	return s.Words.T("unclaimed_site", "site", s.Site)
}

// Choose is the page on which the user chooses a provider.
type Choose struct {
	Shell     Shell
	Error     string // why the last attempt failed
	Back      Back   // to the application, none while nothing has failed
	Providers []Provider

	AsksAddress bool   // the domain of an email address leads to a provider
	AddressURL  string // where the address is posted; "" in a preview
	Address     string // as typed
}

// Provider is the button of one provider.
type Provider struct {
	Type  string
	Label string
	URL   string // "" in a preview, where nothing can be pressed
}

// Consent asks a user who signs in for the first time.
type Consent struct {
	Shell    Shell
	Action   string // where both answers are posted
	Attempt  string
	Ticket   string // opaque, posted with the answer
	Name     string
	Email    string
	Provider string
	Site     string // host that receives the response
	Shares   []Share
	Again    bool // they have been here before
}

// Share is something that the application learns, or may do.
type Share struct {
	Scope      string
	Text       string // the project's own description, or "" for the text of the page's language
	New        bool
	Permission bool
}

// learns and may are the two lists of the page.
func (c Consent) learns() []Share {
	return slices.DeleteFunc(slices.Clone(c.Shares), func(s Share) bool { return s.Permission })
}

func (c Consent) may() []Share {
	return slices.DeleteFunc(slices.Clone(c.Shares), func(s Share) bool { return !s.Permission })
}

// managesGroups is the permission that is at no project's API (login.ManagesGroups).
const managesGroups = "groups:manage"

// share returns what the application learns, or may do: a project's own description as it
// is, all else in the page's language.
func (s Shell) share(one Share) string {
	switch {
	case one.Text != "":
		return one.Text
	case one.Permission && one.Scope != managesGroups:
		return s.Words.T("share_permission", "permission", one.Scope)
	}
	return s.Words.T("share_" + one.Scope)
}

// why says why the page is there.
func (c Consent) why() string {
	switch {
	case !c.Again:
		return c.Shell.Words.T("consent_first")
	case c.grown():
		return c.Shell.Words.T("consent_more")
	}
	return c.Shell.Words.T("consent_again")
}

func (c Consent) grown() bool {
	return slices.ContainsFunc(c.Shares, func(s Share) bool { return s.New })
}

// Back leads to the application: by a link to URL, or by a button that posts Form to it. The zero Back is none.
type Back struct {
	URL  string
	Form url.Values // nil for a link
}

// field is a parameter of the form.
type field struct{ name, value string }

func (b Back) fields() (list []field) {
	for _, name := range slices.Sorted(maps.Keys(b.Form)) {
		for _, value := range b.Form[name] {
			list = append(list, field{name, value})
		}
	}
	return list
}

// FormPost sends the browser back to the application by POST. A script presses its button.
type FormPost struct {
	Shell Shell
	Back  Back
}

// Problem is a login that failed.
type Problem struct {
	Shell     Shell
	Status    int // HTTP
	Text      string
	Back      Back // to the application, none where it is not known
	RequestID string
}

func (p Problem) status() string { return strconv.Itoa(p.Status) }

func (p Problem) backText() string {
	if p.Shell.TestLogin {
		return p.Shell.Words.T("back_to_dashboard")
	}
	if p.Shell.Site != "" {
		return p.Shell.Words.T("back_to_site", "site", p.Shell.Site)
	}
	return p.Shell.Words.T("back_to_application")
}

// SignOut asks whether to sign out, or says why a request to sign out is not followed.
type SignOut struct {
	Shell    Shell
	Refused  string // why the request is not followed, "" if it is
	Who      string // name or address of the user who is signed in, "" where it is not known
	Action   string // where the answer is posted, "" where there is nothing to ask
	Fields   []Field
	Provider string // where they signed in and can sign out as well, "" for nowhere
}

// Field is a hidden field of a form.
type Field struct{ Name, Value string }

func (m SignOut) heading() string {
	if m.Action == "" {
		return m.Shell.Words.T("sign_out_refused")
	}
	return m.Shell.Words.T("sign_out_heading")
}

// SignedOut ends a login.
type SignedOut struct {
	Shell        Shell
	Back         string // where an unclaimed application would have people go on to, "" for nowhere
	Unregistered bool   // the application named an address to return to that is not registered
	Provider     string // where they signed in and can sign out as well, "" for nowhere
	ProviderURL  string
}

func (s Shell) heading() string {
	if s.App == "" || s.Unclaimed {
		return s.Words.T("sign_in")
	}
	return s.Words.T("sign_in_to", "app", s.App)
}

// who is how a person is greeted: a provider may tell neither name nor address.
func (c Consent) who() string {
	switch {
	case c.Name != "" && c.Email != "":
		return c.Name + " (" + c.Email + ")"
	case c.Name != "":
		return c.Name
	case c.Email != "":
		return c.Email
	}
	return c.Shell.Words.T("consent_user_of", "provider", c.Provider)
}
