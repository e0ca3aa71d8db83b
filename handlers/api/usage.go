package api

import (
	"context"
	"time"

	"postern/handlers/web"
	"postern/service/usage"
)

type usageOutput struct {
	From    time.Time   `json:"from" doc:"Start of the first hour"`
	To      time.Time   `json:"to" doc:"End of the last hour"`
	GroupBy []string    `json:"group_by"`
	Items   []usageItem `json:"items" doc:"Sorted by time if grouped by it, else by calls; one item without group_by"`
	Total   UsageSums   `json:"total"`
}

// usageItem has one member for each entry of group_by, besides the sums.
type usageItem struct {
	Hour        *time.Time        `json:"hour,omitempty" doc:"Start of the hour"`
	Day         *string           `json:"day,omitempty" format:"date" doc:"In UTC"`
	Environment *usageEnvironment `json:"environment,omitempty"`
	Owner       *string           `json:"owner,omitempty" doc:"Empty for calls without an owner"`
	Key         *string           `json:"key,omitempty" doc:"Id of the key; empty for calls without a valid key"`
	Route       *string           `json:"route,omitempty" doc:"Path template of the OpenAPI document or of a rule, such as /orders/{id}; (other) if none matches, /* if the version has none"`
	StatusClass *string           `json:"status_class,omitempty" doc:"For example 2xx; empty for calls without a status"`
	Tenant      *usageTenant      `json:"tenant,omitempty" doc:"Of the key, else of the user"`
	UsageSums
	Latency *usageLatency `json:"latency,omitempty" doc:"Of calls that were forwarded, but for tunnels; only with group_by of hour, day, environment and route alone"`
}

type usageTenant struct {
	ID   string `json:"id" doc:"Empty for calls of no tenant"`
	Name string `json:"name" doc:"The id if the tenant was deleted"`
}

type usageLatency struct {
	FirstByte *usageQuantiles `json:"first_byte,omitempty" doc:"Until the response began; absent if no upstream answered"`
	Total     usageQuantiles  `json:"total" doc:"Until the response ended"`
}

type usageQuantiles struct {
	P50 float64 `json:"p50_ms" doc:"In milliseconds, off by at most an eighth"`
	P95 float64 `json:"p95_ms" doc:"In milliseconds"`
}

func showLatency(l *usage.Latency) *usageLatency {
	if l == nil {
		return nil
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	of := func(q usage.Quantiles) usageQuantiles { return usageQuantiles{ms(q.P50), ms(q.P95)} }
	out := &usageLatency{Total: of(l.Total)}
	if first := of(l.FirstByte); first.P95 > 0 {
		out.FirstByte = &first
	}
	return out
}

type usageEnvironment struct {
	ID      string `json:"id"`
	Name    string `json:"name" doc:"The id if the environment was deleted"`
	Version string `json:"version"`
}

// UsageSums is exported because huma ignores embedded types that are not.
type UsageSums struct {
	Calls    int64 `json:"calls"`
	BytesIn  int64 `json:"bytes_in" doc:"Total size of request bodies"`
	BytesOut int64 `json:"bytes_out" doc:"Total size of response bodies"`
}

const usageRoute = "/api/v1/projects/{project}/usage"

func (h *Handler) getUsage(ctx context.Context, in *struct {
	ProjectRef
	From    time.Time `query:"from" doc:"RFC 3339, rounded down to the hour; default: 24 hours before to"`
	To      time.Time `query:"to" doc:"RFC 3339, rounded up to the hour; default: now"`
	GroupBy []string  `query:"group_by,explode" enum:"hour,day,environment,owner,key,route,status_class,tenant" doc:"Repeatable; at most 366 days and 10000 groups"`
}) (*body[usageOutput], error) {
	found, err := h.Usage.Usage(ctx, web.Principal(ctx), in.Project, usage.Query{
		From:    in.From,
		To:      in.To,
		GroupBy: in.GroupBy,
	})
	if err != nil {
		return nil, err
	}
	return &body[usageOutput]{showUsage(found)}, nil
}

func showUsage(u usage.Usage) usageOutput {
	out := usageOutput{
		From:    u.From,
		To:      u.To,
		GroupBy: append([]string{}, u.GroupBy...),
		Items:   []usageItem{},
		Total:   UsageSums(u.Total),
	}
	for _, g := range u.Groups {
		item := usageItem{UsageSums: UsageSums(g.Sums), Latency: showLatency(g.Latency)}
		for _, by := range u.GroupBy {
			item.show(by, g)
		}
		out.Items = append(out.Items, item)
	}
	return out
}

func (i *usageItem) show(by string, g usage.Group) {
	switch by {
	case usage.ByHour:
		i.Hour = &g.Since
	case usage.ByDay:
		day := g.Since.Format(time.DateOnly)
		i.Day = &day
	case usage.ByEnvironment:
		i.Environment = &usageEnvironment{g.Environment.ID, g.Environment.Name, g.Environment.Version}
	case usage.ByOwner:
		i.Owner = &g.Owner
	case usage.ByKey:
		i.Key = &g.Key
	case usage.ByRoute:
		i.Route = &g.Route
	case usage.ByStatusClass:
		i.StatusClass = &g.StatusClass
	case usage.ByTenant:
		i.Tenant = &usageTenant{g.TenantID, g.Tenant}
	}
}
