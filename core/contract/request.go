package contract

import (
	"net/http"
	"time"
)

// RequestPath are the path parameters of a call in the log of requests.
type RequestPath struct {
	ProjectPath
	Request string `path:"request" doc:"ID from the list of requests"`
}

// Request is a call in the log of requests. It has neither query nor headers: both can hold secrets.
type Request struct {
	ID          string        `json:"id" doc:"ID of the request. You can send it as Last-Event-ID"`
	Time        time.Time     `json:"time" doc:"Start of the request"`
	DurationMS  Milliseconds  `json:"duration_ms"`
	FirstByteMS *Milliseconds `json:"first_byte_ms" doc:"Time until the upstream's response began; null if it never did"`
	Method      string        `json:"method"`
	Path        string        `json:"path" doc:"Normalized path without the query, up to 256 bytes"`
	Route       string        `json:"route" doc:"Path template from the OpenAPI document or a rule. (other) if none matches, /* if the version has neither"`
	Status      int           `json:"status" doc:"Status code. 499 if the caller closed the connection first"`
	Code        *string       `json:"code" doc:"Error code of the gateway; null if the upstream responded"`
	Step        string        `json:"step" enum:"route,cors,access,limits,document,validate,forward" doc:"Step that answered the call"`
	Tries       int           `json:"tries" doc:"How many times the call was sent to the upstream; 0 if it wasn't"`
	Target      *string       `json:"target" doc:"Host of the target that the call was last sent to; null if the environment has only one target"`
	Version     string        `json:"version"`
	Environment string        `json:"environment"`
	Owner       *string       `json:"owner" doc:"Owner of the call; null if there is none"`
	Key         *string       `json:"key" doc:"ID of the key; null without a valid key"`
	RemoteIP    string        `json:"remote_ip"`
	Host        *string       `json:"host" doc:"Custom domain that was called; null for the gateway's own address"`
	Ownership   *string       `json:"ownership" doc:"Object that a rule remembered or forgot, or the reason it couldn't, such as remembered order:42 or missed no_value; null if there was nothing to do"`
	BytesIn     int64         `json:"bytes_in" doc:"Size of the request body"`
	BytesOut    int64         `json:"bytes_out" doc:"Size of the response body"`

	// Only for the dashboard.
	EnvironmentID string `json:"-"`
	ShadowCode    string `json:"-"` // code with which rules in shadow mode would have refused the call; "": none
	Invalid       string `json:"-"` // the mismatch with the OpenAPI document, although the call was forwarded; "": none
}

// RequestFilter selects calls. Empty members select all.
type RequestFilter struct {
	Status string `query:"status" doc:"Only calls with this status (such as 404) or class (such as 4xx)"`
	Owner  string `query:"owner" doc:"Only calls from this owner"`
	Path   string `query:"path" doc:"Only calls whose path contains this text"`
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
	Dropped   int64 `json:"dropped" doc:"Number of calls, since the log started, that weren't logged because too many arrived at the same time"`
	NoGateway bool  `json:"no_gateway" doc:"True if this server has no gateway, so its log is always empty"`
}

// RequestDetail is a call with what the gateway did with it.
type RequestDetail struct {
	Request
	Steps           []RequestStep   `json:"steps" doc:"Result of each step, in order"`
	UpstreamHeaders []RequestHeader `json:"upstream_headers" doc:"Headers about the caller. Empty if the upstream didn't respond"`
}

// RequestStep is a step of the gateway, and its result there.
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
	ListRequests = &Op[RequestList, Requests]{Operation{
		ID: "list-requests", Method: http.MethodGet, Path: project + "/requests", Permission: ReadUsage,
		Summary: "List or stream requests", Command: "requests list PROJECT",
		Example: "requests list shop --status 4xx --path /orders",
		Doc: "Lists approximately the project's last 1,000 requests to the responding replica. With Accept: " +
			"text/event-stream, the response is a stream with one event per request. To resume, send the last " +
			"event's id as Last-Event-ID. An event named missed contains the number of requests that are no longer " +
			"in the log. The stream ends after ten minutes at most. Reconnect to continue.",
	}}
	GetRequest = &Op[RequestPath, RequestDetail]{Operation{
		ID: "get-request", Method: http.MethodGet, Path: project + "/requests/{request}", Permission: ReadUsage,
		Summary: "Get a request",
		Command: "requests show PROJECT REQUEST",
		Doc: "Returns the result of each step in the gateway, and the headers that identified the caller to the " +
			"upstream. Returns 404 if newer requests have replaced this one in the log, or if it is in another " +
			"server's log.",
	}}
)

var requestOperations = []Described{ListRequests, GetRequest}
