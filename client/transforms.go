package client

import (
	"context"
	"net/http"
)

// Transforms change the headers of a version's requests and responses.
type Transforms struct {
	Request  HeaderChanges `json:"request"`
	Response HeaderChanges `json:"response"`
	ETag     string        `json:"etag,omitempty"` // for If-Match
}

// HeaderChanges are operations on headers, in the order in which they are applied.
type HeaderChanges struct {
	Remove  ChangedHeaders `json:"remove"`
	Rename  ChangedHeaders `json:"rename"`
	Replace ChangedHeaders `json:"replace"`
	Add     ChangedHeaders `json:"add"`
	Append  ChangedHeaders `json:"append"`
}

// ChangedHeaders are entries header:value; of Remove headers alone, of Rename header:new name.
type ChangedHeaders struct {
	Headers []string `json:"headers"`
}

// Operation returns the headers of an operation by its name, nil for a name that is none.
func (c *HeaderChanges) Operation(name string) *ChangedHeaders {
	return map[string]*ChangedHeaders{
		"remove": &c.Remove, "rename": &c.Rename, "replace": &c.Replace, "add": &c.Add, "append": &c.Append,
	}[name]
}

// Transforms returns the changes to the headers of a version's requests and responses.
func (c *Client) Transforms(ctx context.Context, project, version string) (Transforms, error) {
	return call[Transforms](ctx, c, http.MethodGet, nil,
		"api", "v1", "projects", project, "versions", version, "transforms")
}

// SetTransforms replaces them. With an ETag it is refused as stale unless that is still theirs.
func (c *Client) SetTransforms(ctx context.Context, project, version string, in Transforms) (Transforms, error) {
	c, in.ETag = c.IfMatch(in.ETag), ""
	return call[Transforms](ctx, c, http.MethodPut, in,
		"api", "v1", "projects", project, "versions", version, "transforms")
}
