package contract

import (
	"math"
	"net/http"
	"time"
)

// Milliseconds is a duration, to the microsecond.
type Milliseconds float64

// MillisecondsOf returns a duration in milliseconds.
func MillisecondsOf(d time.Duration) Milliseconds { return Milliseconds(d.Microseconds()) / 1000 }

// Duration returns m as a duration.
func (m Milliseconds) Duration() time.Duration {
	return time.Duration(math.Round(float64(m)*1000)) * time.Microsecond
}

// What usage can be grouped by.
const (
	ByHour        = "hour"
	ByDay         = "day"
	ByEnvironment = "environment"
	ByOwner       = "owner"
	ByKey         = "key"
	ByRoute       = "route"
	ByStatusClass = "status_class"
	ByTenant      = "tenant"
)

// UsageQuery is a request for sums of the calls of a project.
type UsageQuery struct {
	ProjectPath
	GroupBy []string  `query:"group_by,explode" flag:",list" enum:"hour,day,environment,owner,key,route,status_class,tenant" doc:"What to sum up by; up to 366 days and 10,000 groups"`
	From    time.Time `query:"from" flag:"from,past" doc:"Start (RFC 3339), rounded down to the hour; default: 24 hours before the end"`
	To      time.Time `query:"to" flag:"to,past" doc:"End (RFC 3339), rounded up to the hour; default: now"`

	Top int // the number of groups with the most calls to return, for the dashboard alone; 0: all
}

// Usage has sums of the calls of a project.
type Usage struct {
	From    time.Time    `json:"from" doc:"Start of the first hour"`
	To      time.Time    `json:"to" doc:"End of the last hour"`
	GroupBy []string     `json:"group_by"`
	Items   []UsageGroup `json:"items" doc:"Sorted by time if grouped by it, else by calls; one item without group_by"`
	Total   UsageSums    `json:"total"`

	More bool `json:"-"` // there are more groups than UsageQuery.Top
}

// UsageGroup has the sums of the calls with the same values. It has a member for each entry of group_by, in addition to
// the sums.
type UsageGroup struct {
	Hour        *time.Time        `json:"hour,omitempty" doc:"Start of the hour"`
	Day         *string           `json:"day,omitempty" format:"date" doc:"In UTC"`
	Environment *UsageEnvironment `json:"environment,omitempty"`
	Owner       *string           `json:"owner,omitempty" doc:"Empty for calls without an owner"`
	Key         *string           `json:"key,omitempty" doc:"Id of the key; empty for calls without a valid key"`
	Route       *string           `json:"route,omitempty" doc:"Path template of the OpenAPI document or of a rule, such as /orders/{id}; (other) if none matches, /* if the version has none"`
	StatusClass *string           `json:"status_class,omitempty" doc:"For example 2xx; empty for calls without a status"`
	Tenant      *UsageTenant      `json:"tenant,omitempty" doc:"Of the key, else of the user"`
	UsageSums
	Latency *UsageLatency `json:"latency,omitempty" doc:"Of calls that were forwarded, except tunnels; only with group_by of hour, day, environment and route alone"`
}

// UsageSums are numbers of calls and of bytes in their bodies.
type UsageSums struct {
	Calls    int64 `json:"calls"`
	BytesIn  int64 `json:"bytes_in" doc:"Total size of request bodies"`
	BytesOut int64 `json:"bytes_out" doc:"Total size of response bodies"`
}

// UsageEnvironment names an environment.
type UsageEnvironment struct {
	ID      string `json:"id"`
	Name    string `json:"name" doc:"The id if the environment was deleted"`
	Version string `json:"version"`
}

// UsageTenant names a tenant.
type UsageTenant struct {
	ID   string `json:"id" doc:"Empty for calls without a tenant"`
	Name string `json:"name" doc:"The id if the tenant was deleted"`
}

// UsageLatency says how long forwarded calls took.
type UsageLatency struct {
	FirstByte *UsageQuantiles `json:"first_byte,omitempty" doc:"Until the response began; absent if no upstream answered"`
	Total     UsageQuantiles  `json:"total" doc:"Until the response ended"`
}

// UsageQuantiles are durations that half and 95 of 100 calls did not exceed.
type UsageQuantiles struct {
	P50 Milliseconds `json:"p50_ms" doc:"In milliseconds, off by at most an eighth"`
	P95 Milliseconds `json:"p95_ms" doc:"In milliseconds"`
}

// GetUsage is the operation on usage. Sums have no ids, so that none of them is got by itself.
var GetUsage = Op[UsageQuery, Usage]{Operation{
	ID: "get-usage", Method: http.MethodGet, Path: project + "/usage", Permission: ReadUsage,
	Summary: "Sum up the calls of a project",
	Command: "usage show PROJECT", Example: "usage show shop --group-by owner,status_class",
	Doc: "Includes every call that ended at the answering replica; calls at other replicas appear within a second. " +
		"Those of a project with hundreds of keys in use at once can take 90 seconds. A call counts in the hour in " +
		"which it began.",
}}

var usageOperations = []Described{GetUsage}
