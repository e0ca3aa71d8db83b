package snapshot

// Transforms change a version's calls on their way to the upstream, and the answers on their way to
// the caller.
type Transforms struct {
	Request      Changes // of headers
	Query        Changes
	RequestBody  Changes // of JSON objects and forms
	Response     Changes // of headers
	ResponseBody BodyChanges
}

// None reports whether nothing is changed.
func (t *Transforms) None() bool {
	return t.Request.None() && t.Query.None() && t.RequestBody.None() && t.Response.None() && t.ResponseBody.None()
}

// Changes are the operations of Kong's request-transformer and response-transformer, which are
// applied in this order. An entry is the name of a header, of a query's argument or of a body's member, or
// a name and a value with a colon between them; values are literal.
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

// BodyChanges are changes of the members of JSON objects.
type BodyChanges struct {
	Changes

	Types ChangeTypes
}

// ChangeTypes are the JSON types of the values of an operation, each in the place of its entry. An operation
// whose values are all strings has none.
type ChangeTypes struct{ Replace, Add, Append []string }

// The types of values.
const (
	JSONString  = "string"
	JSONNumber  = "number"
	JSONBoolean = "boolean"
)

// TypeAt returns the type of the entry at a place of an operation.
func TypeAt(types []string, at int) string {
	if at < len(types) {
		return types[at]
	}
	return JSONString
}
