package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"postern/handlers/web"
	"postern/service/usage"
)

// requestOutput is a call in the live log. It has neither query nor headers, as
// both can hold secrets.
type requestOutput struct {
	ID          string    `json:"id" doc:"Good as Last-Event-ID"`
	Time        time.Time `json:"time" doc:"When it began"`
	DurationMS  float64   `json:"duration_ms"`
	Method      string    `json:"method"`
	Path        string    `json:"path" doc:"Normalized, without the query; cut after 256 bytes"`
	Status      int       `json:"status" doc:"499 when the caller left before the answer"`
	Code        *string   `json:"code" doc:"Of the gateway's own answer; null when the upstream answered"`
	Step        string    `json:"step" enum:"route,access,limit,forward" doc:"Which step answered"`
	Version     string    `json:"version"`
	Environment string    `json:"environment"`
	Owner       *string   `json:"owner" doc:"Owner that the call counts for; null without one"`
	Key         *string   `json:"key" doc:"Id; null without a valid key"`
	RemoteIP    string    `json:"remote_ip"`
	BytesIn     int64     `json:"bytes_in" doc:"Of the request's body"`
	BytesOut    int64     `json:"bytes_out" doc:"Of the answer's body"`
}

func showRequest(r usage.Request) requestOutput {
	return requestOutput{
		ID:          r.ID,
		Time:        r.Start.UTC(),
		DurationMS:  float64(r.Duration.Microseconds()) / 1000,
		Method:      r.Method,
		Path:        r.Path,
		Status:      r.Status,
		Code:        orNull(r.Code),
		Step:        r.Step,
		Version:     r.Version,
		Environment: r.Environment,
		Owner:       orNull(r.Owner),
		Key:         orNull(r.CredentialID),
		RemoteIP:    r.RemoteIP,
		BytesIn:     r.BytesIn,
		BytesOut:    r.BytesOut,
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

type requestsOutput struct {
	Items      []requestOutput `json:"items"`
	NextCursor *string         `json:"next_cursor" doc:"Cursor of the next page, null on the last"`
	Dropped    int64           `json:"dropped" doc:"How many calls the log was too busy to take since it began"`
}

func (h *Handler) listRequests(ctx context.Context, in *struct {
	ProjectRef
	Page
}) (*body[requestsOutput], error) {
	found, err := h.Usage.Requests(ctx, web.Principal(ctx), in.Project, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	var items []requestOutput
	for _, r := range found.Items {
		items = append(items, showRequest(r))
	}
	page := listOf(items, found.Next)
	return &body[requestsOutput]{requestsOutput{page.Items, page.NextCursor, found.Dropped}}, nil
}

// requestsRoute is answered as a list of the latest requests, or, to who accepts
// text/event-stream, with requests as they come.
const requestsRoute = "/api/v1/projects/{project}/requests"

// orEvents takes over from the typed handler, which has one shape of answer,
// where events are asked for.
func (h *Handler) orEvents(c *gin.Context) {
	if c.FullPath() != "/api/v1/projects/:project/requests" || !web.WantsEvents(c.Request) {
		return
	}
	c.Abort()
	data := func(r usage.Request) ([]byte, error) { return json.Marshal(showRequest(r)) }
	h.Web.StreamRequests(c, h.Usage, c.GetHeader("Last-Event-ID"), data)
}

// describeUsage adds to the document what types do not say: how late counts are,
// and what orEvents answers.
func describeUsage(document *huma.OpenAPI) {
	document.Paths[usageRoute].Get.Description = "Includes every call that has ended at the process that answers; " +
		"those of other processes come up to a second later. " +
		"A call is counted in the hour in which it began."
	operation := document.Paths[requestsRoute].Get
	operation.Description = "With Accept: text/event-stream, requests as they come: an event for each, whose data " +
		"is an item of the list and whose id " +
		"resumes as Last-Event-ID within the log (about the last 1000 requests of the process that answers); an " +
		"event missed with their count " +
		"where some had gone. The stream ends after ten minutes at the latest; ask again with the last id."
	operation.Responses["200"].Content["text/event-stream"] = &huma.MediaType{
		Schema: &huma.Schema{Type: huma.TypeString},
	}
}
