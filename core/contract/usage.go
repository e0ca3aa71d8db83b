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

// The dimensions to group usage by.
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
	GroupBy []string  `query:"group_by,explode" flag:",list" enum:"hour,day,environment,owner,key,route,status_class,tenant" doc:"Dimensions to group by. A report can cover at most 366 days and 10,000 groups"`
	From    time.Time `query:"from" flag:"from,past" doc:"Start of the period (RFC 3339), rounded down to the hour. Defaults to 24 hours before the end"`
	To      time.Time `query:"to" flag:"to,past" doc:"End of the period (RFC 3339), rounded up to the hour. Defaults to now"`

	Top int // the number of groups with the most calls to return, only for the dashboard; 0: all
}

// Usage has sums of the calls of a project.
type Usage struct {
	From    time.Time    `json:"from" doc:"Start of the first hour"`
	To      time.Time    `json:"to" doc:"End of the last hour"`
	GroupBy []string     `json:"group_by"`
	Items   []UsageGroup `json:"items" doc:"Totals, sorted by time if grouped by hour or day, otherwise by calls. Without group_by, there is a single item"`
	Total   UsageSums    `json:"total"`

	More bool `json:"-"` // there are more groups than UsageQuery.Top
}

// UsageGroup has the sums of the calls with the same values. It has a member for each entry of group_by, in addition to
// the sums.
type UsageGroup struct {
	Hour        *time.Time        `json:"hour,omitempty" doc:"Start of the hour"`
	Day         *string           `json:"day,omitempty" format:"date" doc:"Day in UTC"`
	Environment *UsageEnvironment `json:"environment,omitempty"`
	Owner       *string           `json:"owner,omitempty" doc:"Owner of the calls. Empty for calls without an owner"`
	Key         *string           `json:"key,omitempty" doc:"ID of the key. Empty for calls without a valid key"`
	Route       *string           `json:"route,omitempty" doc:"Path template from the OpenAPI document or a rule, such as /orders/{id}. (other) if none matches, /* if the version has neither"`
	StatusClass *string           `json:"status_class,omitempty" doc:"Class of the status code, such as 2xx. Empty for calls without a status"`
	Tenant      *UsageTenant      `json:"tenant,omitempty" doc:"Tenant of the key or, without a key, of the user"`
	UsageSums
	Latency *UsageLatency `json:"latency,omitempty" doc:"Latency of forwarded calls, except tunnels. Present only if you don't group by owner, key, status_class or tenant"`
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
	Name    string `json:"name" doc:"Name, or the ID if the environment was deleted"`
	Version string `json:"version"`
}

// UsageTenant names a tenant.
type UsageTenant struct {
	ID   string `json:"id" doc:"ID of the tenant. Empty for calls without a tenant"`
	Name string `json:"name" doc:"Name, or the ID if the tenant was deleted"`
}

// UsageLatency says how long forwarded calls took.
type UsageLatency struct {
	FirstByte *UsageQuantiles `json:"first_byte,omitempty" doc:"Time until the response began. Absent if no upstream responded"`
	Total     UsageQuantiles  `json:"total" doc:"Time until the response ended"`
}

// UsageQuantiles has the median and the 95th percentile.
type UsageQuantiles struct {
	P50 Milliseconds `json:"p50_ms" doc:"Median in milliseconds, off by at most an eighth"`
	P95 Milliseconds `json:"p95_ms" doc:"95th percentile in milliseconds, off by at most an eighth"`
}

// GetUsage is the operation on usage. It has no counterpart for a single sum, because sums have no IDs.
var GetUsage = &Op[UsageQuery, Usage]{Operation{
	ID: "get-usage", Method: http.MethodGet, Path: project + "/usage", Permission: ReadUsage,
	Summary: "Get a project's usage",
	Command: "usage show PROJECT", Example: "usage show shop --group-by owner,status_class",
	Doc: "Returns totals of the project's calls. Calls to other replicas appear within a second, or within 90 " +
		"seconds if hundreds of keys are in use at the same time. Each call is counted in the hour in which it began.",
}}

var usageOperations = []Described{GetUsage}
