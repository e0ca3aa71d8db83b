package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/service/projects"
)

// requestChange is what an operation changes of requests.
type requestChange struct {
	Headers []string `json:"headers" doc:"name:value; of remove the name, of rename name:new name" example:"[\"X-A:1\"]"`
	Query   []string `json:"query" doc:"The same for arguments of the query" example:"[\"page:1\"]"`
	Body    []string `json:"body" doc:"The same for JSON members and form fields" example:"[\"source:shop\"]"`
}

type requestChanges struct {
	Remove  requestChange `json:"remove" doc:"What is removed"`
	Rename  requestChange `json:"rename" doc:"What gets another name"`
	Replace requestChange `json:"replace" doc:"Values of what the request has"`
	Add     requestChange `json:"add" doc:"What the request does not have"`
	Append  requestChange `json:"append" doc:"Further values"`
}

// of returns the lists of the operations that list takes.
func (in *requestChanges) of(list func(*requestChange) []string) snapshot.Changes {
	return snapshot.Changes{
		Remove:  list(&in.Remove),
		Rename:  list(&in.Rename),
		Replace: list(&in.Replace),
		Add:     list(&in.Add),
		Append:  list(&in.Append),
	}
}

// responseNames is what an operation on names changes of responses.
type responseNames struct {
	Headers []string `json:"headers" doc:"name; of rename name:new name" example:"[\"X-A\"]"`
	Body    []string `json:"body" doc:"The same for JSON members" example:"[\"internal_notes\"]"`
}

// responseValues is what an operation on values changes of responses.
type responseValues struct {
	Headers   []string `json:"headers" doc:"name:value" example:"[\"X-A:1\"]"`
	Body      []string `json:"body" doc:"The same for JSON members" example:"[\"version:2\"]"`
	BodyTypes []string `json:"body_types" enum:"string,number,boolean" doc:"Of each value in body; empty: strings"`
}

type responseChanges struct {
	Remove  responseNames  `json:"remove" doc:"What is removed"`
	Rename  responseNames  `json:"rename" doc:"What gets another name"`
	Replace responseValues `json:"replace" doc:"Values of what the response has"`
	Add     responseValues `json:"add" doc:"What the response does not have"`
	Append  responseValues `json:"append" doc:"Further values"`
}

// transforms are replaced as a whole, so that each list is there, also an empty one.
type transforms struct {
	Request  requestChanges  `json:"request" doc:"On the way to the upstream; remove comes first, append last"`
	Response responseChanges `json:"response" doc:"On the way to the caller, also of refusals"`
}

func (in *transforms) read() snapshot.Transforms {
	request, response := &in.Request, &in.Response
	return snapshot.Transforms{
		Request:     request.of(func(c *requestChange) []string { return c.Headers }),
		Query:       request.of(func(c *requestChange) []string { return c.Query }),
		RequestBody: request.of(func(c *requestChange) []string { return c.Body }),
		Response: snapshot.Changes{
			Remove:  response.Remove.Headers,
			Rename:  response.Rename.Headers,
			Replace: response.Replace.Headers,
			Add:     response.Add.Headers,
			Append:  response.Append.Headers,
		},
		ResponseBody: snapshot.BodyChanges{
			Changes: snapshot.Changes{
				Remove:  response.Remove.Body,
				Rename:  response.Rename.Body,
				Replace: response.Replace.Body,
				Add:     response.Add.Body,
				Append:  response.Append.Body,
			},
			Types: snapshot.ChangeTypes{
				Replace: response.Replace.BodyTypes,
				Add:     response.Add.BodyTypes,
				Append:  response.Append.BodyTypes,
			},
		},
	}
}

func showTransforms(t *snapshot.Transforms) transforms {
	headers, query, body := &t.Request, &t.Query, &t.RequestBody
	answer, members, types := &t.Response, &t.ResponseBody.Changes, &t.ResponseBody.Types
	return transforms{
		Request: requestChanges{
			Remove:  requestChange{headers.Remove, query.Remove, body.Remove},
			Rename:  requestChange{headers.Rename, query.Rename, body.Rename},
			Replace: requestChange{headers.Replace, query.Replace, body.Replace},
			Add:     requestChange{headers.Add, query.Add, body.Add},
			Append:  requestChange{headers.Append, query.Append, body.Append},
		},
		Response: responseChanges{
			Remove:  responseNames{answer.Remove, members.Remove},
			Rename:  responseNames{answer.Rename, members.Rename},
			Replace: responseValues{answer.Replace, members.Replace, types.Replace},
			Add:     responseValues{answer.Add, members.Add, types.Add},
			Append:  responseValues{answer.Append, members.Append, types.Append},
		},
	}
}

type transformsOutput struct {
	Request  requestChanges  `json:"request" doc:"On the way to the upstream"`
	Response responseChanges `json:"response" doc:"On the way to the caller, also of refusals"`
	ETag     string          `json:"etag" doc:"Send as If-Match to replace them"`
}

// transformRoutes adds the transforms of a version at a path.
func (h *Handler) transformRoutes(api huma.API, at string) {
	route(h, api, "get-transforms", "GET", at, 200, "Get the changes to a version's requests and responses",
		h.getTransforms)
	route(h, api, "set-transforms", "PUT", at, 200, "Replace the changes to a version's requests and responses",
		h.setTransforms)
}

func taggedTransforms(found projects.Transforms, err error) (*tagged[transformsOutput], error) {
	if err != nil {
		return nil, err
	}
	shown := showTransforms(&found.Transforms)
	out := transformsOutput{shown.Request, shown.Response, web.FormatETag(found.ETag)}
	return &tagged[transformsOutput]{out.ETag, out}, nil
}

func (h *Handler) getTransforms(ctx context.Context, in *VersionRef) (*tagged[transformsOutput], error) {
	return taggedTransforms(h.Projects.Transforms(ctx, web.Principal(ctx), in.Project, in.Version))
}

func (h *Handler) setTransforms(ctx context.Context, in *struct {
	VersionRef
	IfMatch string `header:"If-Match"`
	Body    transforms
}) (*tagged[transformsOutput], error) {
	etag := web.ParseIfMatch(in.IfMatch)
	return taggedTransforms(h.Projects.SetTransforms(ctx, web.Principal(ctx), in.Project, in.Version, etag,
		in.Body.read()))
}
