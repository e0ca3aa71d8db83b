package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Usage sums up the calls of a project.
type Usage struct {
	From    time.Time    `json:"from"`
	To      time.Time    `json:"to"`
	GroupBy []string     `json:"group_by"`
	Items   []UsageGroup `json:"items"`
	Total   UsageSums    `json:"total"`
}

// UsageGroup has the sums of one group, and a field for each criterion of the grouping.
type UsageGroup struct {
	Hour        *time.Time        `json:"hour,omitempty"`
	Day         *string           `json:"day,omitempty"` // YYYY-MM-DD, UTC
	Environment *UsageEnvironment `json:"environment,omitempty"`
	Owner       *string           `json:"owner,omitempty"`
	Key         *string           `json:"key,omitempty"`
	Route       *string           `json:"route,omitempty"`
	StatusClass *string           `json:"status_class,omitempty"`
	Tenant      *UsageTenant      `json:"tenant,omitempty"`
	UsageSums

	Latency *UsageLatency `json:"latency,omitempty"`
}

// UsageTenant names a tenant. Both are empty for calls of none.
type UsageTenant struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// UsageLatency says how long forwarded calls took.
type UsageLatency struct {
	FirstByte *UsageQuantiles `json:"first_byte,omitempty"` // nil: no upstream answered
	Total     UsageQuantiles  `json:"total"`
}

// UsageQuantiles are milliseconds that half and 95 of 100 calls did not exceed.
type UsageQuantiles struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
}

// UsageEnvironment names an environment.
type UsageEnvironment struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// UsageSums are the counters. Bytes are those of bodies.
type UsageSums struct {
	Calls    int64 `json:"calls"`
	BytesIn  int64 `json:"bytes_in"`
	BytesOut int64 `json:"bytes_out"`
}

// UsageQuery selects what is summed up. Zero times leave the range to the server.
type UsageQuery struct {
	From, To time.Time
	GroupBy  []string // any of hour or day, environment, owner, key, route, status_class, tenant
}

// Usage sums up the calls of a project.
func (c *Client) Usage(ctx context.Context, project string, q UsageQuery) (Usage, error) {
	query := url.Values{"group_by": q.GroupBy}
	for name, at := range map[string]time.Time{"from": q.From, "to": q.To} {
		if !at.IsZero() {
			query.Set(name, at.UTC().Format(time.RFC3339))
		}
	}
	return exchange[Usage](
		ctx, c, http.MethodGet, nil, "?"+query.Encode(), []string{"api", "v1", "projects", project, "usage"},
	)
}

// Request is a call in the live log.
type Request struct {
	ID          string    `json:"id"`
	Time        time.Time `json:"time"`
	DurationMS  float64   `json:"duration_ms"`
	FirstByteMS *float64  `json:"first_byte_ms"`
	Method      string    `json:"method"`
	Path        string    `json:"path"`
	Route       string    `json:"route"` // path template
	Status      int       `json:"status"`
	Code        *string   `json:"code"` // of the gateway's own response
	Step        string    `json:"step"` // the step that answered
	Version     string    `json:"version"`
	Environment string    `json:"environment"`
	Owner       *string   `json:"owner"`
	Ownership   *string   `json:"ownership"` // what a rule remembered or forgot of the answer
	Key         *string   `json:"key"`       // id
	RemoteIP    string    `json:"remote_ip"`
	BytesIn     int64     `json:"bytes_in"`
	BytesOut    int64     `json:"bytes_out"`
}

// Requests is a part of the live log, newest first.
type Requests struct {
	Items      []Request `json:"items"`
	NextCursor *string   `json:"next_cursor"`
	Dropped    int64     `json:"dropped"`    // calls that the log dropped under load
	NoGateway  bool      `json:"no_gateway"` // the server serves no calls, and its log stays empty
}

// RequestFilter selects calls. Its zero value selects all.
type RequestFilter struct {
	Status string // such as 404 or 4xx
	Owner  string
	Path   string // a part of it
	Code   string
}

func (f RequestFilter) query() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{
		"status": f.Status, "owner": f.Owner, "path": f.Path, "code": f.Code,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// RecentRequests returns the latest calls of a project that filter selects, at most limit, from the cursor
// on.
func (c *Client) RecentRequests(
	ctx context.Context, project string, filter RequestFilter, cursor string, limit int,
) (Requests, error) {
	query := filter.query()
	query.Set("limit", strconv.Itoa(limit))
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	return exchange[Requests](
		ctx, c, http.MethodGet, nil, "?"+query.Encode(),
		[]string{"api", "v1", "projects", project, "requests"},
	)
}

// Followed is an event of FollowRequests: a request, or the number of missed ones.
type Followed struct {
	Request *Request
	Missed  int64
}

// FollowRequests iterates over the calls of a project that filter selects, as they happen. It starts after
// the call with the given id, now if the id is "", or at the oldest call in the log if the id
// is not in the log. It opens a new stream when the server ends one, and ends
// after the first error or with the context.
func (c *Client) FollowRequests(
	ctx context.Context, project string, filter RequestFilter, after string,
) iter.Seq2[Followed, error] {
	return func(yield func(Followed, error) bool) {
		for ctx.Err() == nil {
			goOn, err := c.followOnce(ctx, project, filter, &after, yield)
			if err != nil && ctx.Err() == nil {
				yield(Followed{}, err)
				return
			}
			if !goOn {
				return
			}
			select { // a server may end every stream at once
			case <-ctx.Done():
			case <-time.After(askAgain):
			}
		}
	}
}

// askAgain is the pause before the next stream is opened.
const askAgain = time.Second

// followOnce reads one stream to its end and stores the last id in after.
func (c *Client) followOnce(
	ctx context.Context, project string, filter RequestFilter, after *string, yield func(Followed, error) bool,
) (goOn bool, err error) {
	response, err := c.stream(ctx, *after, filter.query(), "api", "v1", "projects", project, "requests")
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	for e := range eventsOf(response.Body) {
		f, err := readEvent(e.name, e.data)
		if err != nil {
			return false, err
		}
		if e.id != "" {
			*after = e.id
		}
		if !yield(f, nil) {
			return false, nil
		}
	}
	return true, nil // the connection was cut or the stream has ended: open another
}

func readEvent(event, data string) (Followed, error) {
	var f Followed
	var err error
	if event == "missed" {
		f.Missed, err = strconv.ParseInt(data, 10, 64)
	} else {
		err = json.Unmarshal([]byte(data), &f.Request)
	}
	if err != nil {
		return f, fmt.Errorf("client: read an event: %w", err)
	}
	return f, nil
}
