package snapshot

// API is what app clients can ask for at a project: its audience (RFC 8707), and the
// scopes that its tokens can have. A token of one of our app clients is for the project if
// it names the app client or this audience.
type API struct {
	Audience string // an absolute URI; "": the project has none
	Scopes   []APIScope
}

// APIScope is a scope with the text that the consent page shows for it.
type APIScope struct {
	Name        string
	Description string
}
