package projects

import "postern/views/ui"

// CORS posts revision, cors_origins, cors_headers and exposed_headers (one a line),
// cors_methods, max_age, app_origins and credentials to Action.
type CORS struct {
	Action      string
	Revision    string
	Origins     ui.Value
	FromApps    []string // origins of the project's app clients
	AppOrigins  bool
	Methods     []ui.Option
	WrongMethod string
	Headers     ui.Value
	Exposed     ui.Value
	MaxAge      ui.Value
	Credentials bool
	Error       string
}

// open reports whether the details are shown at once.
func (m CORS) open() bool {
	return m.WrongMethod != "" || m.Headers != (ui.Value{}) || m.Exposed != (ui.Value{}) || m.MaxAge != (ui.Value{})
}
