package contract

import (
	"net/http"
	"time"
)

// RequestPath are the path parameters of a call in the log of requests.
type RequestPath struct {
	ProjectPath
	Request string `path:"request" doc:"Id in the list of requests"`
}

// Request is a call in the log of requests. It has neither query nor headers: both can hold secrets.
type Request struct {
	ID          string        `json:"id" doc:"Can be sent as Last-Event-ID"`
	Time        time.Time     `json:"time" doc:"Start of the request"`
	DurationMS  Milliseconds  `json:"duration_ms"`
	FirstByteMS *Milliseconds `json:"first_byte_ms" doc:"Until the upstream's response began; null if it did not"`
	Method      string        `json:"method"`
	Path        string        `json:"path" doc:"Normalized, without the query, at most 256 bytes"`
	Route       string        `json:"route" doc:"Path template of the OpenAPI document or of a rule; (other) if none matches, /* if the version has none"`
	Status      int           `json:"status" doc:"499 if the caller closed the connection first"`
	Code        *string       `json:"code" doc:"Error code of the gateway; null if the upstream answered"`
	Step        string        `json:"step" enum:"route,cors,access,limits,document,validate,forward" doc:"Step that answered"`
	Version     string        `json:"version"`
	Environment string        `json:"environment"`
	Owner       *string       `json:"owner" doc:"Owner of the call; null: none"`
	Key         *string       `json:"key" doc:"Id of the key; null without a valid key"`
	RemoteIP    string        `json:"remote_ip"`
	Ownership   *string       `json:"ownership" doc:"What a rule remembered or forgot of the answer, or why it could not: remembered order:42, missed no_value; null: nothing"`
	BytesIn     int64         `json:"bytes_in" doc:"Size of the request body"`
	BytesOut    int64         `json:"bytes_out" doc:"Size of the response body"`

	// For the dashboard alone.
	EnvironmentID string `json:"-"`
	ShadowCode    string `json:"-"` // what rules in shadow would have answered; "": nothing
	Invalid       string `json:"-"` // what did not match the OpenAPI document, although the call was forwarded; "": nothing
}

// RequestFilter selects calls. Empty members select all.
type RequestFilter struct {
	Status string `query:"status" doc:"Only calls with this status, such as 404, or class, such as 4xx"`
	Owner  string `query:"owner" doc:"Only calls of this owner"`
	Path   string `query:"path" doc:"Only calls whose path contains this"`
	Code   string `query:"code" doc:"Only calls that the gateway answered with this error code"`
}

// RequestList is a request for the latest calls of a project.
type RequestList struct {
	ProjectPath
	Page
	RequestFilter
}

// Requests is a page of the log of requests.
type Requests struct {
	List[Request]
	Dropped   int64 `json:"dropped" doc:"Calls missing from the log since it started, because of load"`
	NoGateway bool  `json:"no_gateway" doc:"This server has no gateway, and its log stays empty"`
}

// RequestDetail is a call with what the gateway did with it.
type RequestDetail struct {
	Request
	Steps           []RequestStep   `json:"steps" doc:"What each step did, in order"`
	UpstreamHeaders []RequestHeader `json:"upstream_headers" doc:"About the caller; empty if the upstream did not answer"`
}

// RequestStep is a step of the gateway, and what became of the call there.
type RequestStep struct {
	Step    string `json:"step" enum:"route,cors,access,limits,document,validate,forward"`
	Outcome string `json:"outcome" enum:"passed,answered,not_reached"`
}

// The outcomes of a RequestStep.
const (
	StepPassed     = "passed"
	StepAnswered   = "answered"
	StepNotReached = "not_reached"
)

// RequestHeader is a header that the gateway sets for the upstream.
type RequestHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// The operations on the log of requests.
var (
	ListRequests = Op[RequestList, Requests]{Operation{
		ID: "list-requests", Method: http.MethodGet, Path: project + "/requests", Permission: ReadUsage,
		Summary: "List or stream requests", Command: "requests list PROJECT",
		Example: "requests list shop --status 4xx --path /orders",
		Doc: "With Accept: text/event-stream, the answer is a stream with an event for each request. Its data is an " +
			"item of the list. Its id can be sent as Last-Event-ID to resume within the log, about the last 1000 " +
			"requests of the answering replica; an event named missed has the number of requests that were gone. " +
			"The stream ends after ten minutes at most; connect again with the last id.",
	}}
	GetRequest = Op[RequestPath, RequestDetail]{Operation{
		ID: "get-request", Method: http.MethodGet, Path: project + "/requests/{request}", Permission: ReadUsage,
		Summary: "Get a request",
		Command: "requests show PROJECT REQUEST",
		Doc: "Has what each step of the gateway did with the call, and what the upstream learned of the caller. It " +
			"is not found once newer calls have replaced it, or if another server has it.",
	}}
)

var requestOperations = []Described{ListRequests, GetRequest}
