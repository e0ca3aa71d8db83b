package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

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

var columns = map[string]string{
	ByHour:        models.UsageByHour,
	ByDay:         models.UsageByDay,
	ByEnvironment: models.UsageByEnvironment,
	ByOwner:       models.UsageByOwner,
	ByKey:         models.UsageByKey,
	ByRoute:       models.UsageByRoute,
	ByStatusClass: models.UsageByStatusClass,
	ByTenant:      models.UsageByTenant,
}

// Bounds on one query.
const (
	MaxRange = 366 * 24 * time.Hour
	MaxItems = 10_000
)

// DefaultRange is the range of a Query without From.
const DefaultRange = 24 * time.Hour

// Query asks for sums. From and To are widened to whole hours, in UTC; a zero To
// is now, a zero From is DefaultRange before To.
type Query struct {
	From, To time.Time
	GroupBy  []string
	Top      int // the number of groups with the most calls to return; 0: all, or an error over MaxItems
}

// Sums are numbers of calls and of bytes in their bodies.
type Sums struct {
	Calls, BytesIn, BytesOut int64
}

// Group holds the sums of the calls with the same values of the fields in GroupBy. Its
// other fields are zero.
type Group struct {
	Since       time.Time // begin of the hour or day
	Environment Place
	Owner       string // "" for calls without an owner
	Key         string // id, "" for calls without a key
	Route       string
	StatusClass string // such as 2xx; "" for calls that ended without a status
	TenantID    string // of the key, else of the user; "" for other calls
	Tenant      string // its name; its id if it was deleted
	Sums
	Latency *Latency // nil: not measured by what is grouped by, or no call was forwarded
}

// Usage is the result of a Query. Groups are sorted by time if they have one, then by
// calls, most first. Without GroupBy there is one group.
type Usage struct {
	From, To time.Time // of whole hours
	GroupBy  []string
	Groups   []Group
	More     bool // there are more groups than Top
	Total    Sums // of the groups
}

// Usage sums up a project's calls. It includes all calls of this process; those of other
// replicas are up to a second late. Calls in usage_log are missing until FoldLog. Too many
// groups are refused as Invalid with the code too_many_groups.
func (s *Service) Usage(ctx context.Context, p access.Principal, project string, q Query) (Usage, error) {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, project, access.UsageRead)
	if err != nil {
		return Usage{}, fmt.Errorf("usage: of %s: %w", project, err)
	}
	q, err = q.normalized(time.Now())
	if err != nil {
		return Usage{}, err
	}
	// A reader that disconnects must not interrupt a write that others wait for.
	err = s.Recorder.Flush(context.WithoutCancel(ctx))
	if err == nil {
		err = s.Recorder.flushTraffic(context.WithoutCancel(ctx), parent.ID)
	}
	if err != nil {
		return Usage{}, err
	}
	by := make([]string, 0, len(q.GroupBy))
	for _, name := range q.GroupBy {
		by = append(by, columns[name])
	}
	limit := cmp.Or(q.Top, MaxItems)
	rows, err := tx.UsageOf(parent.ID, q.From.Unix()/3600, q.To.Unix()/3600, by, limit+1)
	if err != nil {
		return Usage{}, fmt.Errorf("usage: of %s: %w", project, err)
	}
	more := len(rows) > limit
	if more && q.Top > 0 {
		rows = rows[:q.Top]
	} else if more {
		return Usage{}, fault.InvalidField("/group_by", "too_many_groups",
			"The answer would have more than %d groups. Ask for a shorter time, or group by less.", MaxItems)
	}
	places, err := placesOf(tx, parent.ID)
	if err != nil {
		return Usage{}, fmt.Errorf("usage: of %s: %w", project, err)
	}
	out := q.answer(rows, places)
	out.More = more
	if err := errors.Join(nameTenants(tx, out.Groups), q.withLatency(tx, parent.ID, &out)); err != nil {
		return Usage{}, fmt.Errorf("usage: of %s: %w", project, err)
	}
	return out, nil
}

// tenantsAtOnce bounds the parameters of a statement.
const tenantsAtOnce = 1000

func nameTenants(tx *models.Tx, groups []Group) error {
	names := map[string]string{}
	for i := range groups {
		if id := groups[i].TenantID; id != "" {
			names[id] = id
		}
	}
	for ids := range slices.Chunk(slices.Collect(maps.Keys(names)), tenantsAtOnce) {
		tenants, err := tx.TenantsByID(ids)
		if err != nil {
			return err
		}
		for _, tenant := range tenants {
			names[tenant.ID] = tenant.Name
		}
	}
	for i := range groups {
		groups[i].Tenant = names[groups[i].TenantID]
	}
	return nil
}

func (q Query) normalized(now time.Time) (Query, error) {
	if q.To.IsZero() {
		q.To = now
	}
	q.To = q.To.UTC().Add(time.Hour - 1).Truncate(time.Hour)
	if q.From.IsZero() {
		q.From = q.To.Add(-DefaultRange)
	}
	q.From = q.From.UTC().Truncate(time.Hour)
	var wrong []fault.Field
	if !q.From.Before(q.To) {
		wrong = append(wrong, fault.Field{Pointer: "/from", Code: "invalid_range", Detail: "Give a time before to."})
	}
	if q.To.Sub(q.From) > MaxRange {
		wrong = append(wrong, fault.Field{
			Pointer: "/from",
			Code:    "range_too_long",
			Detail:  "Ask for at most 366 days.",
		})
	}
	seen := map[string]bool{}
	for _, name := range q.GroupBy {
		if columns[name] == "" || seen[name] {
			wrong = append(wrong, fault.Field{
				Pointer: "/group_by",
				Code:    "invalid_group_by",
				Detail: "Group by any of hour, day, environment, owner, key, route, status_class and tenant, each " +
					"once.",
			})
		}
		seen[name] = true
	}
	if seen[ByHour] && seen[ByDay] {
		wrong = append(wrong, fault.Field{
			Pointer: "/group_by",
			Code:    "invalid_group_by",
			Detail:  "Group by hour or by day, not by both.",
		})
	}
	return q, fault.InvalidFields(wrong)
}

func (q Query) answer(rows []models.UsageSum, places places) Usage {
	out := Usage{From: q.From, To: q.To, GroupBy: q.GroupBy, Groups: make([]Group, 0, len(rows))}
	for _, row := range rows {
		g := Group{
			Owner:    row.Owner,
			Key:      row.KeyID,
			Route:    row.Route,
			TenantID: row.TenantID,
			Sums:     Sums{row.Calls, row.BytesIn, row.BytesOut},
		}
		for _, name := range q.GroupBy {
			switch name {
			case ByHour:
				g.Since = time.Unix(row.Hour*3600, 0).UTC()
			case ByDay:
				g.Since = time.Unix(row.Day*24*3600, 0).UTC()
			case ByEnvironment:
				g.Environment = places.of(row.EnvironmentID)
			case ByStatusClass:
				g.StatusClass = classText(row.StatusClass)
			}
		}
		out.Groups = append(out.Groups, g)
		out.Total.Calls += row.Calls
		out.Total.BytesIn += row.BytesIn
		out.Total.BytesOut += row.BytesOut
	}
	slices.SortFunc(out.Groups, compare)
	return out
}

// compare sorts groups by time and calls. The other fields make the order total.
func compare(a, b Group) int {
	return cmp.Or(
		a.Since.Compare(b.Since),
		cmp.Compare(b.Calls, a.Calls),
		cmp.Compare(a.Environment.Version, b.Environment.Version),
		cmp.Compare(a.Environment.Name, b.Environment.Name),
		cmp.Compare(a.Owner, b.Owner),
		cmp.Compare(a.Key, b.Key),
		cmp.Compare(a.Route, b.Route),
		cmp.Compare(a.StatusClass, b.StatusClass),
		cmp.Compare(a.TenantID, b.TenantID),
	)
}

func classText(class int64) string {
	if class < 1 || class > 5 {
		return ""
	}
	return string(rune('0'+class)) + "xx"
}
