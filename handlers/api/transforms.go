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
	Headers []string    `json:"headers,omitempty" doc:"name:value; of remove the name, of rename name:new name" example:"[\"X-A:1\"]"`
	Query   []string    `json:"query,omitempty" doc:"The same for arguments of a request's query" example:"[\"page:1\"]"`
	Body    unavailable `json:"body,omitempty"`
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

// unavailable returns the members that are not available yet, by their pointers below at.
func (in *changesInput) unavailable(at string, into map[string]unavailable) {
	for name, one := range map[string]changed{
		"remove": in.Remove, "rename": in.Rename, "replace": in.Replace, "add": in.Add, "append": in.Append,
	} {
		into[at+name+"/body"] = one.Body
	}
}

type changedOutput struct {
	Headers []string `json:"headers"`
	Query   []string `json:"query,omitempty" doc:"Of requests"`
}

type changesOutput struct {
	Remove  changedOutput `json:"remove"`
	Rename  changedOutput `json:"rename"`
	Replace changedOutput `json:"replace"`
	Add     changedOutput `json:"add"`
	Append  changedOutput `json:"append"`
}

func changesOutputOf(headers, query *snapshot.Changes) changesOutput {
	both := func(headers, query []string) changedOutput {
		return changedOutput{append([]string{}, headers...), query}
	}
	return changesOutput{
		Remove:  both(headers.Remove, query.Remove),
		Rename:  both(headers.Rename, query.Rename),
		Replace: both(headers.Replace, query.Replace),
		Add:     both(headers.Add, query.Add),
		Append:  both(headers.Append, query.Append),
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
		Request:  changesOutputOf(&found.Request, &found.Query),
		Response: changesOutputOf(&found.Response, &snapshot.Changes{}),
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
		Request  changesInput `json:"request,omitempty" doc:"On the way to the upstream; remove comes first, append last"`
		Response changesInput `json:"response,omitempty" doc:"On the way to the caller, also of refusals"`
	}
}) (*tagged[transformsOutput], error) {
	later := map[string]unavailable{}
	in.Body.Request.unavailable("/request/", later)
	in.Body.Response.unavailable("/response/", later)
	if err := refuseUnavailable(later); err != nil {
		return nil, err
	}
	if query := in.Body.Response.changes(queryOf); !query.None() {
		return nil, fault.InvalidField("/response", "invalid_argument", "Responses have no query: leave query out.")
	}
	change := snapshot.Transforms{
		Request:  in.Body.Request.changes(headersOf),
		Query:    in.Body.Request.changes(queryOf),
		Response: in.Body.Response.changes(headersOf),
	}
	etag := web.ParseIfMatch(in.IfMatch)
	return taggedTransforms(h.Projects.SetTransforms(ctx, web.Principal(ctx), in.Project, in.Version, etag, change))
}
