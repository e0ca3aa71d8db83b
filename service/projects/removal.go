package projects

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
)

// Removal says what a removal would stop: who called in the last hour, which API keys would
// open nothing any more and would be revoked, and which host names would end.
type Removal struct {
	Since   time.Time // begin of the time that the calls are from: between one and two hours ago
	Calls   int64
	Owners  int64               // who made them; calls without an owner count as one owner
	Callers []models.OwnerCalls // those with the most calls, most first
	Keys    int64               // that would be revoked
	Hosts   []string            // verified host names of customers that would end
}

// removedCallers bounds Removal.Callers.
const removedCallers = 20

// Idle reports whether the removal stops nothing.
func (r Removal) Idle() bool { return r.Calls == 0 && r.Keys == 0 && len(r.Hosts) == 0 }

// Usage writes the calls that were counted in memory, so that they can be read.
type Usage interface {
	Flush(ctx context.Context) error
}

// RemovalInput names a version or, with Environment, one of its environments, and says how
// to remove it.
type RemovalInput struct {
	Version     string // name or id
	Environment string // name or id; "": the whole version
	Confirmed   bool   // remove it although it is called, or although keys are revoked
	IfMatch     string // ETag; not empty: the removal is refused as stale unless it is still that
}

// Removal returns what the removal would stop.
func (s *Service) Removal(ctx context.Context, p access.Principal, ref string, in RemovalInput) (Removal, error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, ref, access.UsageRead)
	if err != nil {
		return Removal{}, fmt.Errorf("projects: callers of %s: %w", ref, err)
	}
	version, removed, err := in.find(tx, project)
	if err != nil {
		return Removal{}, fmt.Errorf("projects: callers of version %s of %s: %w", in.Version, ref, err)
	}
	if err := s.flushUsage(ctx); err != nil {
		return Removal{}, fmt.Errorf("projects: callers of version %s of %s: %w", version.Name, ref, err)
	}
	return removalOf(tx, project, removed)
}

// flushUsage writes the counted calls of this process. A caller who disconnects must not
// interrupt a write that others wait for.
func (s *Service) flushUsage(ctx context.Context) error {
	if s.Usage == nil {
		return nil
	}
	return s.Usage.Flush(context.WithoutCancel(ctx))
}

// find returns the version and the environments to remove.
func (in RemovalInput) find(
	tx *models.Tx, project models.Project,
) (models.Version, []models.Environment, error) {
	if in.Environment != "" {
		environment, version, err := environmentOf(tx, project, in.Version, in.Environment)
		return version, []models.Environment{environment}, err
	}
	version, err := versionOf(tx, project, in.Version)
	if err != nil {
		return version, nil, err
	}
	environments, err := environmentsOf(tx, version)
	return version, environments, err
}

func removalOf(tx *models.Tx, project models.Project, removed []models.Environment) (Removal, error) {
	out := Removal{Since: callersSince(models.Now())}
	ids, names := idsAndNames(removed)
	var err error
	out.Callers, out.Owners, out.Calls, err = tx.CallersOf(project.ID, ids, out.Since.Unix()/3600, removedCallers)
	if err != nil {
		return out, fmt.Errorf("projects: who calls %s: %w", project.ID, err)
	}
	out.Keys, err = tx.CountStrandedKeys(project, names, ids)
	if err != nil {
		return out, fmt.Errorf("projects: which keys of %s are revoked: %w", project.ID, err)
	}
	domains, err := tx.VerifiedDomains(project.ID)
	if err != nil {
		return out, fmt.Errorf("projects: which host names of %s end: %w", project.ID, err)
	}
	for _, domain := range domains {
		if slices.Contains(ids, domain.EnvironmentID) {
			out.Hosts = append(out.Hosts, domain.Host)
		}
	}
	return out, nil
}

func idsAndNames(environments []models.Environment) (ids, names []string) {
	for _, e := range environments {
		ids, names = append(ids, e.ID), append(names, e.Name)
	}
	return ids, names
}

// Remove removes a version with its environments, or one environment. Keys that open
// nothing any more are revoked with it. A removal that stops something is refused as
// Conflict with the code still_called until it is confirmed; the last version of a project
// and the last environment of a version cannot be removed.
func (s *Service) Remove(ctx context.Context, p access.Principal, ref string, in RemovalInput) error {
	// Permission is checked before the counters are written.
	if _, err := access.Project(s.DB.Read(ctx), p, ref, access.ProjectUpdate); err != nil {
		return fmt.Errorf("projects: remove version %s of %s: %w", in.Version, ref, err)
	}
	if err := s.flushUsage(ctx); err != nil {
		return fmt.Errorf("projects: remove version %s of %s: %w", in.Version, ref, err)
	}
	says := &note{change: "remove"}
	return s.restructure(ctx, p, ref, says, func(tx *models.Tx, project models.Project, _ time.Time) error {
		version, removed, err := in.find(tx, project)
		if err != nil {
			return err
		}
		if err := access.Unchanged(in.IfMatch, in.etag(version, removed)); err != nil {
			return err
		}
		if err := in.checkOthers(tx, project, version); err != nil {
			return err
		}
		if err := in.checkConfirmed(tx, p, project, removed); err != nil {
			return err
		}
		says.object = "version " + version.Name
		if in.Environment != "" {
			says.object = "environment " + removed[0].Name + " of version " + version.Name
			err = tx.DeleteEnvironment(removed[0].ID)
		} else {
			err = tx.DeleteVersion(version.ID)
		}
		if err != nil {
			return err
		}
		_, names := idsAndNames(removed)
		return keys.RevokeStranded(ctx, s.Events, tx, p, project, names)
	})
}

func (in RemovalInput) etag(version models.Version, removed []models.Environment) string {
	if in.Environment != "" {
		return access.ETag(removed[0].UpdatedAt)
	}
	return access.ETag(version.UpdatedAt)
}

// checkOthers refuses to remove the last version of a project and the last environment of
// a version.
func (in RemovalInput) checkOthers(tx *models.Tx, project models.Project, version models.Version) error {
	if in.Environment != "" {
		have, err := environmentsOf(tx, version)
		if err == nil && len(have) == 1 {
			err = fault.New(fault.Conflict, "last_environment", "This is the only environment of version %s. Add "+
				"another one first, or remove the version.", version.Name)
		}
		return err
	}
	have, err := tx.VersionsOf(project.ID)
	if err == nil && len(have) == 1 {
		err = fault.New(fault.Conflict, "last_version", "This is the only version of the project. Add another one "+
			"first, or delete the project.")
	}
	return err
}

// checkConfirmed refuses a removal that stops something and is not confirmed.
func (in RemovalInput) checkConfirmed(
	tx *models.Tx, p access.Principal, project models.Project, removed []models.Environment,
) error {
	if in.Confirmed {
		return nil
	}
	stops, err := removalOf(tx, project, removed)
	if err != nil || stops.Idle() {
		return err
	}
	if !p.May(project.TeamID, access.UsageRead) {
		stops.Callers = nil
	}
	return fault.New(fault.Conflict, "still_called", "%s Confirm the removal to carry it out anyway.", stops.Text())
}

// shownCallers bounds the owners that Text names.
const shownCallers = 5

// Text says in one or two sentences what the removal stops.
func (r Removal) Text() string {
	var out []string
	if r.Calls > 0 {
		text := fmt.Sprintf("%s came since %s", countOf(r.Calls, "call", "calls"), r.Since.Format("15:04 MST"))
		var owners []string
		for _, caller := range r.Callers[:min(len(r.Callers), shownCallers)] {
			owners = append(owners, fmt.Sprintf("%s (%d)", callerName(caller.Owner), caller.Calls))
		}
		if len(owners) > 0 {
			text += ", from " + strings.Join(owners, ", ")
		}
		if more := r.Owners - int64(len(owners)); len(owners) > 0 && more > 0 {
			text += " and " + countOf(more, "other", "others")
		}
		out = append(out, text+".")
	}
	if r.Keys > 0 {
		out = append(out, countOf(r.Keys, "API key opens", "API keys open")+" nothing else and would be revoked.")
	}
	if len(r.Hosts) > 0 {
		out = append(out, "Host names that would end: "+strings.Join(r.Hosts, ", ")+".")
	}
	return strings.Join(out, " ")
}

func callerName(owner string) string {
	if owner == "" {
		return "calls without an owner"
	}
	return owner
}
