package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/projects"
)

// changed is what an operation of a transform changes.
type changed struct {
	Headers   []string `json:"headers,omitempty" doc:"name:value; of remove the name, of rename name:new name" example:"[\"X-A:1\"]"`
	Query     []string `json:"query,omitempty" doc:"The same for arguments of a request's query" example:"[\"page:1\"]"`
	Body      []string `json:"body,omitempty" doc:"The same for JSON members and form fields" example:"[\"source:shop\"]"`
	BodyTypes []string `json:"body_types,omitempty" enum:"string,number,boolean" doc:"Of responses: of each value in body; none: strings"`
}

type changesInput struct {
	Remove  changed `json:"remove,omitempty" doc:"What is removed"`
	Rename  changed `json:"rename,omitempty" doc:"What gets another name"`
	Replace changed `json:"replace,omitempty" doc:"Values of what the message has"`
	Add     changed `json:"add,omitempty" doc:"What the message does not have"`
	Append  changed `json:"append,omitempty" doc:"Further values"`
}

// changes returns the lists of the operations that of takes.
func (in *changesInput) changes(of func(*changed) []string) snapshot.Changes {
	return snapshot.Changes{
		Remove:  of(&in.Remove),
		Rename:  of(&in.Rename),
		Replace: of(&in.Replace),
		Add:     of(&in.Add),
		Append:  of(&in.Append),
	}
}

func headersOf(c *changed) []string { return c.Headers }

func queryOf(c *changed) []string { return c.Query }

func bodyOf(c *changed) []string { return c.Body }

// types returns the types of the values of the operations.
func (in *changesInput) types() snapshot.ChangeTypes {
	return snapshot.ChangeTypes{Replace: in.Replace.BodyTypes, Add: in.Add.BodyTypes, Append: in.Append.BodyTypes}
}

type changedOutput struct {
	Headers   []string `json:"headers"`
	Query     []string `json:"query,omitempty" doc:"Of requests"`
	Body      []string `json:"body,omitempty"`
	BodyTypes []string `json:"body_types,omitempty" doc:"Of responses, unless all are strings"`
}

type changesOutput struct {
	Remove  changedOutput `json:"remove"`
	Rename  changedOutput `json:"rename"`
	Replace changedOutput `json:"replace"`
	Add     changedOutput `json:"add"`
	Append  changedOutput `json:"append"`
}

func changesOutputOf(headers, query *snapshot.Changes, body *snapshot.BodyChanges) changesOutput {
	all := func(headers, query, body, types []string) changedOutput {
		return changedOutput{append([]string{}, headers...), query, body, types}
	}
	return changesOutput{
		Remove:  all(headers.Remove, query.Remove, body.Remove, nil),
		Rename:  all(headers.Rename, query.Rename, body.Rename, nil),
		Replace: all(headers.Replace, query.Replace, body.Replace, body.Types.Replace),
		Add:     all(headers.Add, query.Add, body.Add, body.Types.Add),
		Append:  all(headers.Append, query.Append, body.Append, body.Types.Append),
	}
}

type transformsOutput struct {
	Request  changesOutput `json:"request" doc:"On the way to the upstream"`
	Response changesOutput `json:"response" doc:"On the way to the caller, also of refusals"`
	ETag     string        `json:"etag" doc:"Send as If-Match to replace them"`
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
	out := transformsOutput{
		Request:  changesOutputOf(&found.Request, &found.Query, &snapshot.BodyChanges{Changes: found.RequestBody}),
		Response: changesOutputOf(&found.Response, &snapshot.Changes{}, &found.ResponseBody),
		ETag:     web.FormatETag(found.ETag),
	}
	return &tagged[transformsOutput]{out.ETag, out}, nil
}

func (h *Handler) getTransforms(ctx context.Context, in *VersionRef) (*tagged[transformsOutput], error) {
	return taggedTransforms(h.Projects.Transforms(ctx, web.Principal(ctx), in.Project, in.Version))
}

func (h *Handler) setTransforms(ctx context.Context, in *struct {
	VersionRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Request  changesInput `json:"request" doc:"On the way to the upstream; remove comes first, append last"`
		Response changesInput `json:"response" doc:"On the way to the caller, also of refusals"`
	}
}) (*tagged[transformsOutput], error) {
	if query := in.Body.Response.changes(queryOf); !query.None() {
		return nil, fault.InvalidField("/response", "invalid_argument", "Responses have no query: leave query out.")
	}
	if types := in.Body.Request.types(); len(types.Replace)+len(types.Add)+len(types.Append) > 0 {
		return nil, fault.InvalidField("/request", "invalid_argument",
			"Values in requests are strings, as Kong writes them: leave body_types out.")
	}
	change := snapshot.Transforms{
		Request:     in.Body.Request.changes(headersOf),
		Query:       in.Body.Request.changes(queryOf),
		RequestBody: in.Body.Request.changes(bodyOf),
		Response:    in.Body.Response.changes(headersOf),
		ResponseBody: snapshot.BodyChanges{
			Changes: in.Body.Response.changes(bodyOf),
			Types:   in.Body.Response.types(),
		},
	}
	etag := web.ParseIfMatch(in.IfMatch)
	return taggedTransforms(h.Projects.SetTransforms(ctx, web.Principal(ctx), in.Project, in.Version, etag, change))
}
