package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

var columns = map[string]string{
	contract.ByHour:        models.UsageByHour,
	contract.ByDay:         models.UsageByDay,
	contract.ByEnvironment: models.UsageByEnvironment,
	contract.ByOwner:       models.UsageByOwner,
	contract.ByKey:         models.UsageByKey,
	contract.ByRoute:       models.UsageByRoute,
	contract.ByStatusClass: models.UsageByStatusClass,
	contract.ByTenant:      models.UsageByTenant,
}

// Bounds on one query.
const (
	MaxRange = 366 * 24 * time.Hour
	MaxItems = 10_000
)

// DefaultRange is the range of a query without From.
const DefaultRange = 24 * time.Hour

// group holds the sums of the calls with the same values of what is grouped by. Its other fields are zero.
type group struct {
	since       time.Time // begin of the hour or day
	environment contract.UsageEnvironment
	owner       string // "" for callers without an owner
	key         string // id, "" for calls without a key
	route       string
	statusClass string               // such as 2xx; "" for calls that ended without a status
	tenant      contract.UsageTenant // of the key, else of the user; zero for other calls
	sums        contract.UsageSums
	latency     *contract.UsageLatency // nil: not measured by what is grouped by, or no call was forwarded
}

// Usage sums up a project's calls. It includes all calls of this process; those of other
// replicas are up to a second late. Calls in usage_log are missing until FoldLog. Too many
// groups are refused as Invalid with the code too_many_groups.
func (s *Service) Usage(ctx context.Context, p access.Principal, in contract.UsageQuery) (contract.Usage, error) {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, in.Project, access.UsageRead)
	if err != nil {
		return contract.Usage{}, fmt.Errorf("usage: read the usage of %s: %w", in.Project, err)
	}
	q, err := normalized(in, time.Now())
	if err != nil {
		return contract.Usage{}, err
	}
	// A reader that disconnects must not interrupt a write that others wait for.
	err = s.Recorder.Flush(context.WithoutCancel(ctx))
	if err == nil {
		err = s.Recorder.flushTraffic(context.WithoutCancel(ctx), parent.ID)
	}
	if err != nil {
		return contract.Usage{}, err
	}
	by := make([]string, 0, len(q.GroupBy))
	for _, name := range q.GroupBy {
		by = append(by, columns[name])
	}
	limit := cmp.Or(q.Top, MaxItems)
	rows, err := tx.UsageOf(parent.ID, q.From.Unix()/3600, q.To.Unix()/3600, by, limit+1)
	if err != nil {
		return contract.Usage{}, fmt.Errorf("usage: read the usage of %s: %w", in.Project, err)
	}
	more := len(rows) > limit
	if more && q.Top > 0 {
		rows = rows[:q.Top]
	} else if more {
		return contract.Usage{}, fault.InvalidField("/group_by", "too_many_groups",
			"The response would have more than %s groups. Use a shorter period or fewer dimensions.",
			humanize.Comma(MaxItems))
	}
	places, err := placesOf(tx, parent.ID)
	if err != nil {
		return contract.Usage{}, fmt.Errorf("usage: read the usage of %s: %w", in.Project, err)
	}
	groups := q.groups(rows, places)
	if err := errors.Join(nameTenants(tx, groups), q.addLatency(tx, parent.ID, groups)); err != nil {
		return contract.Usage{}, fmt.Errorf("usage: read the usage of %s: %w", in.Project, err)
	}
	out := q.answer(groups)
	out.More = more
	return out, nil
}

// tenantsAtOnce bounds the parameters of a statement.
const tenantsAtOnce = 1000

func nameTenants(tx *models.Tx, groups []group) error {
	names := map[string]string{}
	for i := range groups {
		if id := groups[i].tenant.ID; id != "" {
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
		groups[i].tenant.Name = names[groups[i].tenant.ID]
	}
	return nil
}

// query is a request whose times and groups are valid.
type query contract.UsageQuery

// normalized returns a request with From and To widened to whole hours, in UTC. A zero To is now, a zero From is
// DefaultRange before To.
func normalized(in contract.UsageQuery, now time.Time) (query, error) {
	q := query(in)
	if q.To.IsZero() {
		q.To = now
	}
	q.To = q.To.UTC().Add(time.Hour - 1).Truncate(time.Hour)
	if q.From.IsZero() {
		q.From = q.To.Add(-DefaultRange)
	}
	q.From = q.From.UTC().Truncate(time.Hour)
	var wrong []fault.Field
	switch {
	case q.From.Before(q.To):
	case in.To.IsZero():
		wrong = append(wrong, fault.Field{Pointer: "/from", Code: "invalid_range", Detail: "This time is in the " +
			"future. Use an earlier one."})
	default:
		wrong = append(wrong, fault.Field{Pointer: "/from", Code: "invalid_range", Detail: "The period must begin " +
			"before it ends. Use an earlier time."})
	}
	if q.To.Sub(q.From) > MaxRange {
		wrong = append(wrong, fault.Field{
			Pointer: "/from",
			Code:    "range_too_long",
			Detail:  "Use a period of at most 366 days.",
		})
	}
	seen := map[string]bool{}
	for _, name := range q.GroupBy {
		if columns[name] == "" || seen[name] {
			wrong = append(wrong, fault.Field{
				Pointer: "/group_by",
				Code:    "invalid_group_by",
				Detail: "Group by hour, day, environment, owner, key, route, status_class or tenant. Use each at " +
					"most once.",
			})
		}
		seen[name] = true
	}
	if seen[contract.ByHour] && seen[contract.ByDay] {
		wrong = append(wrong, fault.Field{
			Pointer: "/group_by",
			Code:    "invalid_group_by",
			Detail:  "Group by hour or by day, not both.",
		})
	}
	return q, fault.InvalidFields(wrong)
}

// groups returns the groups of rows, sorted by time if they have one, then by calls, most first.
func (q query) groups(rows []models.UsageSum, places places) []group {
	out := make([]group, 0, len(rows))
	for _, row := range rows {
		g := group{
			owner:  row.Owner,
			key:    row.KeyID,
			route:  row.Route,
			tenant: contract.UsageTenant{ID: row.TenantID},
			sums:   contract.UsageSums{Calls: row.Calls, BytesIn: row.BytesIn, BytesOut: row.BytesOut},
		}
		for _, name := range q.GroupBy {
			switch name {
			case contract.ByHour:
				g.since = time.Unix(row.Hour*3600, 0).UTC()
			case contract.ByDay:
				g.since = time.Unix(row.Day*24*3600, 0).UTC()
			case contract.ByEnvironment:
				g.environment = places.of(row.EnvironmentID)
			case contract.ByStatusClass:
				g.statusClass = classText(row.StatusClass)
			}
		}
		out = append(out, g)
	}
	slices.SortFunc(out, compare)
	return out
}

// answer has what is grouped by of each group.
func (q query) answer(groups []group) contract.Usage {
	out := contract.Usage{
		From: q.From, To: q.To, GroupBy: append([]string{}, q.GroupBy...),
		Items: make([]contract.UsageGroup, len(groups)),
	}
	for i := range groups {
		g, item := &groups[i], &out.Items[i]
		item.UsageSums, item.Latency = g.sums, g.latency
		for _, by := range q.GroupBy {
			switch by {
			case contract.ByHour:
				item.Hour = &g.since
			case contract.ByDay:
				item.Day = new(g.since.Format(time.DateOnly))
			case contract.ByEnvironment:
				item.Environment = &g.environment
			case contract.ByOwner:
				item.Owner = &g.owner
			case contract.ByKey:
				item.Key = &g.key
			case contract.ByRoute:
				item.Route = &g.route
			case contract.ByStatusClass:
				item.StatusClass = &g.statusClass
			case contract.ByTenant:
				item.Tenant = &g.tenant
			}
		}
		out.Total.Calls += g.sums.Calls
		out.Total.BytesIn += g.sums.BytesIn
		out.Total.BytesOut += g.sums.BytesOut
	}
	return out
}

// compare sorts groups by time and calls. The other fields make the order total.
func compare(a, b group) int {
	return cmp.Or(
		a.since.Compare(b.since),
		cmp.Compare(b.sums.Calls, a.sums.Calls),
		cmp.Compare(a.environment.Version, b.environment.Version),
		cmp.Compare(a.environment.Name, b.environment.Name),
		cmp.Compare(a.owner, b.owner),
		cmp.Compare(a.key, b.key),
		cmp.Compare(a.route, b.route),
		cmp.Compare(a.statusClass, b.statusClass),
		cmp.Compare(a.tenant.ID, b.tenant.ID),
	)
}

func classText(class int64) string {
	if class < 1 || class > 5 {
		return ""
	}
	return string(rune('0'+class)) + "xx"
}
