package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/service/projects"
)

// changed is what an operation of a transform changes.
type changed struct {
	Headers []string    `json:"headers,omitempty" doc:"header:value; of remove the header, of rename header:new name" example:"[\"X-A:1\"]"`
	Query   unavailable `json:"query,omitempty"`
	Body    unavailable `json:"body,omitempty"`
}

type changesInput struct {
	Remove  changed `json:"remove,omitempty" doc:"Headers that are removed"`
	Rename  changed `json:"rename,omitempty" doc:"Headers that get another name"`
	Replace changed `json:"replace,omitempty" doc:"Values of headers that the message has"`
	Add     changed `json:"add,omitempty" doc:"Headers that the message does not have"`
	Append  changed `json:"append,omitempty" doc:"Further lines of headers"`
}

func (in *changesInput) changes() snapshot.HeaderChanges {
	return snapshot.HeaderChanges{
		Remove:  in.Remove.Headers,
		Rename:  in.Rename.Headers,
		Replace: in.Replace.Headers,
		Add:     in.Add.Headers,
		Append:  in.Append.Headers,
	}
}

// unavailable returns the members that are not available yet, by their pointers below at.
func (in *changesInput) unavailable(at string, into map[string]unavailable) {
	for name, one := range map[string]changed{
		"remove": in.Remove, "rename": in.Rename, "replace": in.Replace, "add": in.Add, "append": in.Append,
	} {
		into[at+name+"/query"], into[at+name+"/body"] = one.Query, one.Body
	}
}

type changedOutput struct {
	Headers []string `json:"headers"`
}

type changesOutput struct {
	Remove  changedOutput `json:"remove"`
	Rename  changedOutput `json:"rename"`
	Replace changedOutput `json:"replace"`
	Add     changedOutput `json:"add"`
	Append  changedOutput `json:"append"`
}

func changesOutputOf(c *snapshot.HeaderChanges) changesOutput {
	headers := func(list []string) changedOutput { return changedOutput{append([]string{}, list...)} }
	return changesOutput{
		Remove:  headers(c.Remove),
		Rename:  headers(c.Rename),
		Replace: headers(c.Replace),
		Add:     headers(c.Add),
		Append:  headers(c.Append),
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
		Request:  changesOutputOf(&found.Request),
		Response: changesOutputOf(&found.Response),
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
	change := snapshot.Transforms{Request: in.Body.Request.changes(), Response: in.Body.Response.changes()}
	etag := web.ParseIfMatch(in.IfMatch)
	return taggedTransforms(h.Projects.SetTransforms(ctx, web.Principal(ctx), in.Project, in.Version, etag, change))
}
