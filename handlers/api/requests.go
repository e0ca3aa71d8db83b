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

// requestOutput is a call in the live log. It has neither query nor headers: both can
// hold secrets.
type requestOutput struct {
	ID          string    `json:"id" doc:"Can be sent as Last-Event-ID"`
	Time        time.Time `json:"time" doc:"Start of the request"`
	DurationMS  float64   `json:"duration_ms"`
	FirstByteMS *float64  `json:"first_byte_ms" doc:"Until the upstream's response began; null if it did not"`
	Method      string    `json:"method"`
	Path        string    `json:"path" doc:"Normalized, without the query, at most 256 bytes"`
	Route       string    `json:"route" doc:"Path template of the OpenAPI document or of a rule; (other) if none matches, /* if the version has none"`
	Status      int       `json:"status" doc:"499 if the caller closed the connection first"`
	Code        *string   `json:"code" doc:"Error code of the gateway; null if the upstream answered"`
	Step        string    `json:"step" enum:"route,cors,access,limits,document,validate,forward" doc:"Step that answered"`
	Version     string    `json:"version"`
	Environment string    `json:"environment"`
	Owner       *string   `json:"owner" doc:"Owner of the call; null: none"`
	Key         *string   `json:"key" doc:"Id of the key; null without a valid key"`
	RemoteIP    string    `json:"remote_ip"`
	Ownership   *string   `json:"ownership" doc:"What a rule remembered or forgot of the answer, or why it could not: remembered order:42, missed no_value; null: nothing"`
	BytesIn     int64     `json:"bytes_in" doc:"Size of the request body"`
	BytesOut    int64     `json:"bytes_out" doc:"Size of the response body"`
}

func showRequest(r usage.Request) requestOutput {
	return requestOutput{
		ID:          r.ID,
		Time:        r.Start.UTC(),
		DurationMS:  float64(r.Duration.Microseconds()) / 1000,
		FirstByteMS: milliseconds(r.FirstByte),
		Method:      r.Method,
		Path:        r.Path,
		Route:       r.Route,
		Status:      r.Status,
		Code:        orNull(r.Code),
		Step:        r.Step,
		Version:     r.Version,
		Environment: r.Environment,
		Owner:       orNull(r.Owner),
		Key:         orNull(r.CredentialID),
		RemoteIP:    r.RemoteIP,
		Ownership:   orNull(r.Ownership()),
		BytesIn:     r.BytesIn,
		BytesOut:    r.BytesOut,
	}
}

func milliseconds(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	ms := float64(d.Microseconds()) / 1000
	return &ms
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

type requestsOutput struct {
	Items      []requestOutput `json:"items"`
	NextCursor *string         `json:"next_cursor" doc:"Cursor of the next page; null on the last"`
	Dropped    int64           `json:"dropped" doc:"Calls missing from the log since it started, because of load"`
	NoGateway  bool            `json:"no_gateway" doc:"This server has no gateway, and its log stays empty"`
}

func (h *Handler) listRequests(ctx context.Context, in *struct {
	ProjectRef
	Page
	Status string `query:"status" doc:"A status such as 404, or a class such as 4xx"`
	Owner  string `query:"owner"`
	Path   string `query:"path" doc:"A part of the path"`
	Code   string `query:"code" doc:"Error code of the gateway"`
}) (*body[requestsOutput], error) {
	filter := usage.RequestFilter{Status: in.Status, Owner: in.Owner, Path: in.Path, Code: in.Code}
	found, err := h.Usage.Requests(ctx, web.Principal(ctx), in.Project, filter, in.page())
	if err != nil {
		return nil, err
	}
	var items []requestOutput
	for _, r := range found.Items {
		items = append(items, showRequest(r))
	}
	page := listOf(items, found.Next)
	return &body[requestsOutput]{requestsOutput{page.Items, page.NextCursor, found.Dropped, found.NoGateway}}, nil
}

// RequestFields is exported because huma ignores embedded types that are not.
type RequestFields requestOutput

type requestDetailOutput struct {
	RequestFields
	Steps           []requestStep   `json:"steps" doc:"What each step did, in order"`
	UpstreamHeaders []requestHeader `json:"upstream_headers" doc:"About the caller; empty if the upstream did not answer"`
}

type requestStep struct {
	Step    string `json:"step" enum:"route,cors,access,limits,document,validate,forward"`
	Outcome string `json:"outcome" enum:"passed,answered,not_reached"`
}

type requestHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (h *Handler) getRequest(ctx context.Context, in *struct {
	ProjectRef
	Request string `path:"request" doc:"Id in the list of requests"`
}) (*body[requestDetailOutput], error) {
	found, err := h.Usage.RequestByID(ctx, web.Principal(ctx), in.Project, in.Request)
	if err != nil {
		return nil, err
	}
	out := requestDetailOutput{
		RequestFields:   RequestFields(showRequest(found.Request)),
		Steps:           []requestStep{},
		UpstreamHeaders: []requestHeader{},
	}
	for _, step := range found.Steps {
		out.Steps = append(out.Steps, requestStep{step.Step, step.Outcome})
	}
	for _, line := range found.Upstream {
		out.UpstreamHeaders = append(out.UpstreamHeaders, requestHeader{line.Name, line.Value})
	}
	return &body[requestDetailOutput]{out}, nil
}

// requestsRoute returns the latest requests, or streams new ones to clients that accept
// text/event-stream.
const requestsRoute = "/api/v1/projects/{project}/requests"

// orEvents is the middleware that streams requests instead of calling the typed handler,
// which has one kind of answer.
func (h *Handler) orEvents(c *gin.Context) {
	if c.FullPath() != "/api/v1/projects/:project/requests" || !web.WantsEvents(c.Request) {
		return
	}
	c.Abort()
	data := func(r usage.Request) ([]byte, error) { return json.Marshal(showRequest(r)) }
	h.Web.StreamRequests(c, h.Usage, c.GetHeader("Last-Event-ID"), data)
}

// describeUsage adds to the OpenAPI description what types cannot express: when counts
// appear, and the answer of orEvents.
func describeUsage(document *huma.OpenAPI) {
	document.Paths[usageRoute].Get.Description = "Includes every call that ended at the answering replica; " +
		"calls at other replicas appear within a second. Those of a project with hundreds of keys in use at once can " +
		"take 90 seconds. A call counts in the hour in which it began."
	operation := document.Paths[requestsRoute].Get
	operation.Description = "With Accept: text/event-stream, the answer is a stream with an event for each request. " +
		"Its data is an item of the list. Its id can be sent as Last-Event-ID to resume within the log, about the " +
		"last 1000 requests of the answering replica; an event named missed has the number of requests that were " +
		"gone. The stream ends after ten minutes at most; connect again with the last id."
	operation.Responses["200"].Content["text/event-stream"] = &huma.MediaType{
		Schema: &huma.Schema{Type: huma.TypeString},
	}
}
