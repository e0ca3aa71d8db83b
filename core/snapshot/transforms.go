package snapshot

// Transforms change the headers of a version's calls on their way to the upstream, and of the answers
// on their way to the caller.
type Transforms struct {
	Request  HeaderChanges
	Response HeaderChanges
}

// None reports whether nothing is changed.
func (t *Transforms) None() bool { return t.Request.None() && t.Response.None() }

// HeaderChanges are the operations of Kong's request-transformer and response-transformer, which are
// applied in this order. An entry is a header, or a header and a value with a colon between them;
// values are literal.
type HeaderChanges struct {
	Remove  []string // header
	Rename  []string // header:new name
	Replace []string // header:value, where the message has the header
	Add     []string // header:value, where it does not
	Append  []string // header:value, as another line
}

// None reports whether nothing is changed.
func (c *HeaderChanges) None() bool {
	return len(c.Remove)+len(c.Rename)+len(c.Replace)+len(c.Add)+len(c.Append) == 0
}
