package login

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
type Linked struct{ Label, Since string }

// Session is a sign-in of the user.
type Session struct {
	Application string
	Browser     string
	Provider    string
	Since       string
	Current     bool
	EndAction   string
}

// Consented is an application that the user shares data with.
type Consented struct {
	Application string
	Since       string
	Shares      []string
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
