package ui

// CORS posts revision, cors_origins, cors_headers and exposed_headers (one a line),
// cors_methods, max_age, app_origins and credentials to Action.
type CORS struct {
	Action        string
	Hint          string // what the settings are about
	Apps          string // whose app clients AppOrigins is about
	Overrides     []Link // tenants with settings of their own
	MoreOverrides int    // how many have besides these
	Revision      string
	Origins       Value
	FromApps      []string // origins of the app clients
	AppOrigins    bool
	Methods       []Option
	WrongMethod   string
	Headers       Value
	Exposed       Value
	MaxAge        Value
	Credentials   bool
	Error         string
}

// open reports whether the details are shown at once.
func (m CORS) open() bool {
	return m.WrongMethod != "" || m.Headers != (Value{}) || m.Exposed != (Value{}) || m.MaxAge != (Value{})
}
