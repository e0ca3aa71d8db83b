package snapshot

// Transforms change the headers and the query of a version's calls on their way to the upstream, and
// the headers of the answers on their way to the caller.
type Transforms struct {
	Request  Changes // of headers
	Query    Changes
	Response Changes
}

// None reports whether nothing is changed.
func (t *Transforms) None() bool { return t.Request.None() && t.Query.None() && t.Response.None() }

// Changes are the operations of Kong's request-transformer and response-transformer, which are
// applied in this order. An entry is the name of a header or of a query's argument, or a name and a value
// with a colon between them; values are literal.
type Changes struct {
	Remove  []string // name
	Rename  []string // name:new name
	Replace []string // name:value, where there is one of the name
	Add     []string // name:value, where there is none
	Append  []string // name:value, as another one
}

// None reports whether nothing is changed.
func (c *Changes) None() bool {
	return len(c.Remove)+len(c.Rename)+len(c.Replace)+len(c.Add)+len(c.Append) == 0
}
