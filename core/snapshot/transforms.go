package snapshot

import "postern/core/contract"

// Transforms is a contract.Transforms, arranged by the part of the message that is changed.
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

// TransformsOf compiles transforms.
func TransformsOf(in contract.Transforms) Transforms {
	request, response := &in.Request, &in.Response
	of := func(list func(contract.RequestChange) []string) Changes {
		return Changes{
			Remove: list(request.Remove), Rename: list(request.Rename),
			Replace: list(request.Replace), Add: list(request.Add), Append: list(request.Append),
		}.withoutEmpty()
	}
	return Transforms{
		Request:     of(func(c contract.RequestChange) []string { return c.Headers }),
		Query:       of(func(c contract.RequestChange) []string { return c.Query }),
		RequestBody: of(func(c contract.RequestChange) []string { return c.Body }),
		Response: Changes{
			Remove: response.Remove.Headers, Rename: response.Rename.Headers,
			Replace: response.Replace.Headers, Add: response.Add.Headers, Append: response.Append.Headers,
		}.withoutEmpty(),
		ResponseBody: BodyChanges{
			Changes: Changes{
				Remove: response.Remove.Body, Rename: response.Rename.Body,
				Replace: response.Replace.Body, Add: response.Add.Body, Append: response.Append.Body,
			}.withoutEmpty(),
			Types: ChangeTypes{
				Replace: some(response.Replace.BodyTypes), Add: some(response.Add.BodyTypes),
				Append: some(response.Append.BodyTypes),
			},
		},
	}
}

// Stated returns the transforms by operation.
func (t *Transforms) Stated() (out contract.Transforms) {
	headers, query, body := &t.Request, &t.Query, &t.RequestBody
	out.Request.Remove = contract.RequestChange{Headers: headers.Remove, Query: query.Remove, Body: body.Remove}
	out.Request.Rename = contract.RequestChange{Headers: headers.Rename, Query: query.Rename, Body: body.Rename}
	out.Request.Replace = contract.RequestChange{Headers: headers.Replace, Query: query.Replace, Body: body.Replace}
	out.Request.Add = contract.RequestChange{Headers: headers.Add, Query: query.Add, Body: body.Add}
	out.Request.Append = contract.RequestChange{Headers: headers.Append, Query: query.Append, Body: body.Append}
	answer, members, types := &t.Response, &t.ResponseBody.Changes, &t.ResponseBody.Types
	out.Response.Remove = contract.ResponseNames{Headers: answer.Remove, Body: members.Remove}
	out.Response.Rename = contract.ResponseNames{Headers: answer.Rename, Body: members.Rename}
	values := func(headers, body, types []string) contract.ResponseValues {
		return contract.ResponseValues{Headers: headers, Body: body, BodyTypes: types}
	}
	out.Response.Replace = values(answer.Replace, members.Replace, types.Replace)
	out.Response.Add = values(answer.Add, members.Add, types.Add)
	out.Response.Append = values(answer.Append, members.Append, types.Append)
	return out
}

// withoutEmpty returns the changes with nil for empty lists.
func (c Changes) withoutEmpty() Changes {
	return Changes{some(c.Remove), some(c.Rename), some(c.Replace), some(c.Add), some(c.Append)}
}

// some returns nil for an empty list.
func some(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// Changes has the operations of Kong's request-transformer and response-transformer, which are applied in this order.
// An entry is the name of a header, a query argument or a member of a body, or a name and a value with a colon between
// them; values are literal.
type Changes struct {
	Remove  []string // name
	Rename  []string // name:new name
	Replace []string // name:value, if there is one with the name
	Add     []string // name:value, if there is none
	Append  []string // name:value, in addition to existing ones
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

// ChangeTypes has the JSON types of an operation's values, each at the index of its entry. It is empty if all values
// are strings.
type ChangeTypes struct{ Replace, Add, Append []string }

// The types of values.
const (
	JSONString  = "string"
	JSONNumber  = "number"
	JSONBoolean = "boolean"
)

// TypeAt returns the type of the entry at an index of an operation.
func TypeAt(types []string, at int) string {
	if at < len(types) {
		return types[at]
	}
	return JSONString
}
