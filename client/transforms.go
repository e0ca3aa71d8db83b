package client

import (
	"context"
	"net/http"
)

// Transforms change a version's requests and responses.
type Transforms struct {
	Request  Changes `json:"request"`
	Response Changes `json:"response"`
	ETag     string  `json:"etag,omitempty"` // for If-Match
}

// Changes are operations, in the order in which they are applied.
type Changes struct {
	Remove  Changed `json:"remove"`
	Rename  Changed `json:"rename"`
	Replace Changed `json:"replace"`
	Add     Changed `json:"add"`
	Append  Changed `json:"append"`
}

// Changed are entries name:value; of Remove names alone, of Rename name:new name.
type Changed struct {
	Headers   []string `json:"headers"`
	Query     []string `json:"query,omitempty"` // of requests
	Body      []string `json:"body,omitempty"`
	BodyTypes []string `json:"body_types,omitempty"` // of responses: of each value in Body; none: all are strings
}

// Operation returns what an operation changes by its name, nil for a name that is none.
func (c *Changes) Operation(name string) *Changed {
	return map[string]*Changed{
		"remove": &c.Remove, "rename": &c.Rename, "replace": &c.Replace, "add": &c.Add, "append": &c.Append,
	}[name]
}

// Transforms returns the changes to a version's requests and responses.
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
