package usage

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
)

// TargetHealth is what a gateway knows of a target about whose health something decides.
type TargetHealth struct {
	ProjectID, EnvironmentID string

	Target   string // its host, with its port unless that is the scheme's
	Position int    // among the targets of the environment, from 1
	State    string // contract.HealthHealthy, HealthUnhealthy or HealthOpen
	Since    time.Time
	Reason   string // why it isn't healthy; "" if it is
}

// aliveEvery is how often a gateway with such targets shows that it is alive. After models.GatewaySilence without that
// its reports don't count any more.
const aliveEvery = models.GatewaySilence / 3

// targetReporter writes what this process's gateway knows of targets.
type targetReporter struct {
	mu      sync.Mutex // Close may come while Run reports
	ended   bool       // Close has withdrawn the reports
	id      string     // of the gateway; "" before the first report
	aliveAt time.Time
	written []models.TargetReport
	failing bool
}

// reportTargets writes the targets that aren't healthy, if they have changed since the last time, and that the gateway
// is alive. A process without such targets writes nothing.
func (r *Recorder) reportTargets(ctx context.Context) {
	if r.Targets == nil {
		return
	}
	r.reporter.mu.Lock()
	defer r.reporter.mu.Unlock()
	if err := r.writeTargets(ctx); err != nil && !r.reporter.failing {
		r.log.Error("could not write target health; retrying", "error", err)
		r.reporter.failing = true
	} else if err == nil {
		r.reporter.failing = false
	}
}

// ReportTargets is what Run does each second about the health of targets.
func (r *Recorder) ReportTargets(ctx context.Context) error {
	r.reporter.mu.Lock()
	defer r.reporter.mu.Unlock()
	return r.writeTargets(ctx)
}

func (r *Recorder) writeTargets(ctx context.Context) error {
	all, now := r.Targets(), models.Now()
	if r.reporter.ended || len(all) == 0 && r.reporter.id == "" {
		return nil
	}
	id := cmp.Or(r.reporter.id, models.NewID("gwy"))
	reports := reportsOf(id, all)
	changed := !slices.Equal(reports, r.reporter.written)
	if !changed && now.Sub(r.reporter.aliveAt) < aliveEvery && !now.Before(r.reporter.aliveAt) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	err := r.db.Write(ctx, func(tx *models.Tx) error {
		known, err := tx.GatewayAlive(id)
		if err != nil || known && !changed {
			return err
		}
		return tx.ReplaceTargetReports(id, reports)
	})
	if err != nil {
		return fmt.Errorf("usage: write the health of targets: %w", err)
	}
	r.reporter.id, r.reporter.aliveAt, r.reporter.written = id, now, reports
	return nil
}

func reportsOf(gateway string, all []TargetHealth) (rows []models.TargetReport) {
	for _, h := range all {
		if h.State != contract.HealthHealthy {
			rows = append(rows, models.TargetReport{
				GatewayID:     gateway,
				EnvironmentID: h.EnvironmentID,
				Target:        h.Target,
				ProjectID:     h.ProjectID,
				State:         h.State,
				Reason:        h.Reason,
				Since:         h.Since.UTC().Truncate(time.Microsecond),
			})
		}
	}
	slices.SortFunc(rows, func(a, b models.TargetReport) int {
		return cmp.Or(cmp.Compare(a.EnvironmentID, b.EnvironmentID), cmp.Compare(a.Target, b.Target))
	})
	return rows
}

// forgetGateway deletes the reports of this process, which stops.
func (r *Recorder) forgetGateway(ctx context.Context) {
	r.reporter.mu.Lock()
	defer r.reporter.mu.Unlock()
	r.reporter.ended = true
	if r.reporter.id == "" {
		return
	}
	err := r.db.Write(ctx, func(tx *models.Tx) error { return tx.ForgetGateway(r.reporter.id) })
	if err != nil {
		r.log.Warn("could not withdraw reports about targets; they will expire by themselves", "error", err)
	}
}

// hostOfTarget returns the host of a target as gateways report it: with the port unless that is the scheme's.
func hostOfTarget(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	if port := u.Port(); port == "80" && u.Scheme == "http" || port == "443" && u.Scheme == "https" {
		return strings.TrimSuffix(u.Host, ":"+port)
	}
	return u.Host
}

// targetOf identifies a target of an environment.
type targetOf struct{ environment, host string }

// Upstreams lists the targets of a project's environments, with their health as all gateways see it.
func (s *Service) Upstreams(
	ctx context.Context, p access.Principal, in contract.ProjectPath,
) (contract.List[contract.UpstreamTargetHealth], error) {
	var none contract.List[contract.UpstreamTargetHealth]
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return none, fmt.Errorf("usage: upstreams of %s: %w", in.Project, err)
	}
	list, err := upstreamsOf(tx, parent.ID)
	if err != nil {
		return none, fmt.Errorf("usage: upstreams of %s: %w", in.Project, err)
	}
	return contract.List[contract.UpstreamTargetHealth]{Items: list}, nil
}

// EnvironmentUpstreams is Upstreams for one environment of a project.
func (s *Service) EnvironmentUpstreams(
	ctx context.Context, p access.Principal, project string, e contract.Environment,
) ([]contract.UpstreamTargetHealth, error) {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, project, access.ProjectRead)
	if err != nil {
		return nil, fmt.Errorf("usage: upstreams of %s: %w", project, err)
	}
	var known knownTargets
	if e.Upstream.WatchesTargets() {
		if known, err = knownOf(tx, parent.ID); err != nil {
			return nil, fmt.Errorf("usage: upstreams of %s: %w", project, err)
		}
	}
	return known.of(e.ID, e.Target, e.Upstream), nil
}

func upstreamsOf(tx *models.Tx, project string) ([]contract.UpstreamTargetHealth, error) {
	versions, err := tx.VersionsOf(project)
	if err != nil {
		return nil, err
	}
	environments, err := tx.EnvironmentsOf(project)
	if err != nil {
		return nil, err
	}
	known, err := knownOf(tx, project)
	if err != nil {
		return nil, err
	}
	var out []contract.UpstreamTargetHealth
	for _, v := range versions {
		for i := range environments {
			if e := &environments[i]; e.VersionID == v.ID {
				for _, one := range known.of(e.ID, e.Target, e.Upstream) {
					one.Version, one.Environment = v.Name, e.Name
					out = append(out, one)
				}
			}
		}
	}
	return out, nil
}

// knownTargets is what all gateways know of the targets of a project.
type knownTargets struct {
	gateways int64
	reports  map[targetOf][]models.TargetReport // the oldest first
	told     map[targetOf]models.TargetHealth
}

func knownOf(tx *models.Tx, project string) (k knownTargets, err error) {
	if k.gateways, err = tx.LiveGateways(); err != nil {
		return k, err
	}
	reports, err := tx.TargetReports(project)
	if err != nil {
		return k, err
	}
	k.reports = models.GroupBy(reports, func(r models.TargetReport) targetOf {
		return targetOf{r.EnvironmentID, r.Target}
	})
	told, err := tx.TargetHealthOf(project)
	k.told = make(map[targetOf]models.TargetHealth, len(told))
	for _, row := range told {
		k.told[targetOf{row.EnvironmentID, row.Target}] = row
	}
	return k, err
}

// of returns the targets of an environment with their health.
func (k knownTargets) of(environment, target string, u contract.Upstream) (out []contract.UpstreamTargetHealth) {
	watched := u.WatchesTargets()
	for _, one := range u.TargetsOr(target) {
		h := contract.UpstreamTargetHealth{
			URL: one.URL, Weight: one.WeightOrDefault(), Health: contract.HealthNotChecked,
		}
		if watched {
			k.health(targetOf{environment, hostOfTarget(one.URL)}, &h)
		}
		out = append(out, h)
	}
	return out
}

func (k knownTargets) health(of targetOf, into *contract.UpstreamTargetHealth) {
	reports := k.reports[of]
	into.Gateways, into.UnhealthyGateways = k.gateways, int64(len(reports))
	switch told := k.told[of]; {
	case k.gateways == 0:
		into.Health = contract.HealthUnknown
	case len(reports) > 0:
		into.Health = contract.HealthOpen
		for _, r := range reports {
			if r.State != contract.HealthOpen {
				into.Health = r.State
			}
		}
		into.Since, into.Reason = contract.UTC(&reports[0].Since), contract.OrNull(reports[0].Reason)
	default:
		into.Health = contract.HealthHealthy
		switch {
		case told.QuietSince != nil:
			into.Since = contract.UTC(told.QuietSince)
		case told.State == contract.HealthHealthy:
			into.Since = contract.UTC(&told.Since)
		}
	}
}
