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
	Query     []string `json:"query,omitzero"` // of requests
	Body      []string `json:"body"`
	BodyTypes []string `json:"body_types,omitzero"` // of responses: of each value in Body; none: all are strings
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
	for _, list := range []*[]string{ // each must be there where it can have something, also if it is empty
		&in.Request.Remove.Query, &in.Request.Rename.Query, &in.Request.Replace.Query, &in.Request.Add.Query,
		&in.Request.Append.Query,
		&in.Response.Replace.BodyTypes, &in.Response.Add.BodyTypes, &in.Response.Append.BodyTypes,
	} {
		if *list == nil {
			*list = []string{}
		}
	}
	return call[Transforms](ctx, c, http.MethodPut, in,
		"api", "v1", "projects", project, "versions", version, "transforms")
}
