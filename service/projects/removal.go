package projects

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
)

// removedCallers bounds Callers.Items.
const removedCallers = 20

// Usage flushes the calls that were counted in memory, so that they can be read.
type Usage interface {
	Flush(ctx context.Context) error
}

// removed is a version or, with environment, one of its environments, that is to be removed.
type removed struct {
	contract.VersionPath
	environment string // name or id; "": the whole version
}

// VersionCallers returns what DeleteVersion would stop.
func (s *Service) VersionCallers(
	ctx context.Context, p access.Principal, in contract.VersionPath,
) (contract.Callers, error) {
	return s.callers(ctx, p, removed{in, ""})
}

// EnvironmentCallers returns what DeleteEnvironment would stop.
func (s *Service) EnvironmentCallers(
	ctx context.Context, p access.Principal, in contract.EnvironmentPath,
) (contract.Callers, error) {
	return s.callers(ctx, p, removed{in.VersionPath, in.Environment})
}

// callers returns what a removal would stop: callers in the last hour, API keys that would no longer be valid for
// anything and would be revoked, and which verified host names of customers would end.
func (s *Service) callers(ctx context.Context, p access.Principal, in removed) (contract.Callers, error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, in.Project, access.UsageRead)
	if err != nil {
		return contract.Callers{}, fmt.Errorf("projects: callers of %s: %w", in.Project, err)
	}
	version, gone, err := in.find(tx, project)
	if err != nil {
		return contract.Callers{}, fmt.Errorf("projects: callers of version %s of %s: %w", in.Version, in.Project, err)
	}
	if err := s.flushUsage(ctx); err != nil {
		return contract.Callers{}, fmt.Errorf(
			"projects: callers of version %s of %s: %w",
			version.Name,
			in.Project,
			err,
		)
	}
	return callersOf(tx, project, gone)
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
func (in removed) find(tx *models.Tx, project models.Project) (models.Version, []models.Environment, error) {
	if in.environment != "" {
		environment, version, err := environmentOf(tx, project, in.Version, in.environment)
		return version, []models.Environment{environment}, err
	}
	version, err := versionOf(tx, project, in.Version)
	if err != nil {
		return version, nil, err
	}
	environments, err := environmentsOf(tx, version)
	return version, environments, err
}

func callersOf(tx *models.Tx, project models.Project, gone []models.Environment) (contract.Callers, error) {
	out := contract.Callers{Since: callersSince(models.Now())}
	ids, names := idsAndNames(gone)
	var err error
	out.Items, out.Owners, out.Calls, err = tx.CallersOf(project.ID, ids, out.Since.Unix()/3600, removedCallers)
	if err != nil {
		return out, fmt.Errorf("projects: find the callers of %s: %w", project.ID, err)
	}
	out.Keys, err = tx.CountStrandedKeys(project, names, ids)
	if err != nil {
		return out, fmt.Errorf("projects: find the keys of %s to revoke: %w", project.ID, err)
	}
	domains, err := tx.VerifiedDomains(project.ID)
	if err != nil {
		return out, fmt.Errorf("projects: find the host names of %s to remove: %w", project.ID, err)
	}
	for _, domain := range domains {
		if slices.Contains(ids, domain.EnvironmentID) {
			out.Hosts = append(out.Hosts, domain.Address().Address())
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

// DeleteVersion deletes a version with its environments. Keys that are no longer valid for any environment are revoked
// with it. It returns Conflict with the code still_called if the deletion would stop calls and isn't confirmed, and
// last_version for the last version.
func (s *Service) DeleteVersion(
	ctx context.Context, p access.Principal, in contract.VersionRemoval,
) (contract.None, error) {
	return contract.None{}, s.remove(ctx, p, removed{in.VersionPath, ""}, in.Removal)
}

// DeleteEnvironment deletes an environment of a version by the rules of DeleteVersion. For the last environment of a
// version, the code is last_environment.
func (s *Service) DeleteEnvironment(
	ctx context.Context, p access.Principal, in contract.EnvironmentRemoval,
) (contract.None, error) {
	return contract.None{}, s.remove(ctx, p, removed{in.VersionPath, in.Environment}, in.Removal)
}

func (s *Service) remove(ctx context.Context, p access.Principal, in removed, how contract.Removal) error {
	// Permission is checked before the counters are written.
	if _, err := access.Project(s.DB.Read(ctx), p, in.Project, access.ProjectUpdate); err != nil {
		return fmt.Errorf("projects: remove version %s of %s: %w", in.Version, in.Project, err)
	}
	if err := s.flushUsage(ctx); err != nil {
		return fmt.Errorf("projects: remove version %s of %s: %w", in.Version, in.Project, err)
	}
	says := &note{change: "remove"}
	return s.restructure(ctx, p, in.Project, says, func(tx *models.Tx, project models.Project, _ time.Time) error {
		version, gone, err := in.find(tx, project)
		if err != nil {
			return err
		}
		if err := access.Unchanged(how.IfMatch, in.etag(version, gone)); err != nil {
			return err
		}
		if err := in.checkOthers(tx, project, version); err != nil {
			return err
		}
		if !how.Confirm {
			if err := checkIdle(tx, p, project, gone); err != nil {
				return err
			}
		}
		says.object = "version " + version.Name
		if in.environment != "" {
			says.object = "environment " + gone[0].Name + " of version " + version.Name
			err = tx.DeleteEnvironment(gone[0].ID)
		} else {
			err = tx.DeleteVersion(version.ID)
		}
		if err != nil {
			return err
		}
		_, names := idsAndNames(gone)
		return keys.RevokeStranded(ctx, s.Events, tx, p, project, names)
	})
}

func (in removed) etag(version models.Version, gone []models.Environment) string {
	if in.environment != "" {
		return access.ETag(gone[0].UpdatedAt)
	}
	return access.ETag(version.UpdatedAt)
}

// checkOthers refuses to remove the last version of a project and the last environment of
// a version.
func (in removed) checkOthers(tx *models.Tx, project models.Project, version models.Version) error {
	if in.environment != "" {
		have, err := environmentsOf(tx, version)
		if err == nil && len(have) == 1 {
			err = fault.New(fault.Conflict, "last_environment", "This is the only environment in version %s. Add "+
				"another environment first, or delete the version.", version.Name)
		}
		return err
	}
	have, err := tx.VersionsOf(project.ID)
	if err == nil && len(have) == 1 {
		err = fault.New(fault.Conflict, "last_version", "This is the only version of the project. Add another "+
			"version first, or delete the project.")
	}
	return err
}

// checkIdle refuses a removal that stops something.
func checkIdle(tx *models.Tx, p access.Principal, project models.Project, gone []models.Environment) error {
	stops, err := callersOf(tx, project, gone)
	if err != nil || stops.Idle() {
		return err
	}
	if !p.May(project.TeamID, access.UsageRead) {
		stops.Items = nil
	}
	return fault.New(fault.Conflict, "still_called", "%s To continue anyway, send the request with ?confirm=true.",
		textOf(stops))
}

// shownCallers bounds the owners that textOf names.
const shownCallers = 5

// textOf returns one or two sentences about what a removal stops.
func textOf(r contract.Callers) string {
	var out []string
	if r.Calls > 0 {
		text := fmt.Sprintf("%s received since %s", countOf(r.Calls, "call has been", "calls have been"),
			r.Since.Format("15:04 MST"))
		var owners []string
		for _, caller := range r.Items[:min(len(r.Items), shownCallers)] {
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
		out = append(out, countOf(r.Keys, "API key", "API keys")+" can't be used for anything else and would be "+
			"revoked.")
	}
	if len(r.Hosts) > 0 {
		out = append(out, "Custom domains that would be deleted: "+strings.Join(r.Hosts, ", ")+".")
	}
	return strings.Join(out, " ")
}

func callerName(owner string) string {
	if owner == "" {
		return "callers without an owner"
	}
	return owner
}
