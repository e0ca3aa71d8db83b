package snapshot

// CORS says which pages of other origins a browser lets call the project (Fetch standard,
// "CORS protocol").
type CORS struct {
	Origins        []string // such as https://app.example.com, in the order given; "*" alone: any
	AppOrigins     bool     // those of the app clients' redirect URIs are allowed too
	FromApps       []string // these origins, sorted; without those in Origins
	Methods        []string
	AllowHeaders   []string // that a page may set; empty: those that it asks for; "*" alone: any
	ExposedHeaders []string // that a page may read besides the safelisted ones; "*" alone: any
	Credentials    bool     // pages may send cookies and read the response; never with a "*"
	MaxAge         *int     // seconds for which a browser caches a preflight's response; nil: not stated
}

// Allowed returns the origins that are allowed. Without any, the gateway leaves CORS to
// upstreams.
func (c *CORS) Allowed() []string {
	return append(c.Origins[:len(c.Origins):len(c.Origins)], c.FromApps...)
}
