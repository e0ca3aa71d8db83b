package domains

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Create adds a domain to an environment. It has the proof of the team's other domains with its host. If there are
// none, it is pending until Verify or Approve.
func (s *Service) Create(
	ctx context.Context, p access.Principal, request contract.DomainCreation,
) (contract.Domain, error) {
	in := request.Body
	var out contract.Domain
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		owner, err := access.Project(tx, p, request.Project, access.DomainChange)
		if err != nil {
			return err
		}
		host, wrong := s.checkHost(in.Host)
		prefix, wrongPrefix := checkPrefix(in.PathPrefix)
		methods, wrongMethods := checkMethods(in.Methods)
		environment, wrongEnvironment, err := environmentOf(tx, owner, in.Version, cmp.Or(in.Environment, "prod"))
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(present(wrong, wrongPrefix, wrongMethods, wrongEnvironment)); err != nil {
			return err
		}
		if err := notHostHeader(tx, owner.ID, host); err != nil {
			return err
		}
		now := models.Now()
		row := models.Domain{
			ID:            models.NewID("dom"),
			ProjectID:     owner.ID,
			EnvironmentID: environment,
			Host:          host,
			PathPrefix:    prefix,
			StripPrefix:   in.StripPrefix == nil || *in.StripPrefix,
			Methods:       methods,
			Challenge:     newChallenge(),
			CreatedAt:     now,
			UpdatedAt:     now,
		}
		if err := join(tx, owner, &row); err != nil {
			return err
		}
		if err := tx.Insert(&row); err != nil {
			return fmt.Errorf("domains: insert %s: %w", host, err)
		}
		if out, err = s.complete(tx, owner, row); err != nil {
			return err
		}
		return record(tx, p, access.DomainChange, "add", owner, nil, &out, now)
	})
	if err != nil {
		return contract.Domain{}, fmt.Errorf("domains: add %s to %s: %w", in.Host, request.Project, err)
	}
	if out.State != contract.DomainPending {
		s.Changed(ctx)
	}
	return out, nil
}

// newChallenge returns 130 random bits in base32 (crypto/rand, Text).
func newChallenge() string { return strings.ToLower(rand.Text()) }

func present(fields ...*fault.Field) []fault.Field {
	var out []fault.Field
	for _, f := range fields {
		if f != nil {
			out = append(out, *f)
		}
	}
	return out
}

// join gives a new domain the proof of the team's domains with the same host. It refuses one more domain to a full
// project, a host that another team serves, and a domain that takes the calls of another one.
func join(tx *models.Tx, owner models.Project, row *models.Domain) error {
	n, err := tx.CountDomains(owner.ID)
	if err != nil {
		return fmt.Errorf("domains: count the domains of %s: %w", owner.ID, err)
	}
	if n >= MaxDomains {
		return fault.New(fault.Conflict, "too_many_domains", "A project can have at most %d custom domains.",
			MaxDomains)
	}
	if err := tx.LockProject(owner.ID); err != nil {
		return fmt.Errorf("domains: lock %s: %w", owner.ID, err)
	}
	all, err := tx.LockHost(row.Host)
	if err != nil {
		return fmt.Errorf("domains: find %s: %w", row.Host, err)
	}
	switch current, err := tx.ProjectByID(owner.ID); {
	case err != nil:
		return fmt.Errorf("domains: project %s: %w", owner.ID, err)
	case current.TeamID != owner.TeamID:
		return access.Stale() // just moved
	}
	now := models.Now()
	for _, other := range all {
		switch {
		case other.TeamID == owner.TeamID:
			row.Challenge, row.Proof, row.Problem = other.Challenge, other.Proof, other.Problem
			row.VerifiedAt, row.CheckedAt, row.MissingSince = other.VerifiedAt, other.CheckedAt, other.MissingSince
		case other.VerifiedAt != nil && !lapsed(other.Domain, now):
			return taken(row.Host)
		}
	}
	return refuseCollision(*row, owner, all)
}

// notHostHeader refuses a name that calls of the project have in their Host header: they could come back to the
// gateway. The same pair is refused where the header is set, if the name is verified by then.
func notHostHeader(tx *models.Tx, projectID, host string) error {
	all, err := tx.EnvironmentsOf(projectID)
	if err != nil {
		return fmt.Errorf("domains: environments of %s: %w", projectID, err)
	}
	for _, e := range all {
		if name, _ := e.Upstream.OwnHost(); name == host {
			return fault.New(fault.Conflict, "host_header", "Calls to the upstream of the environment %s have %s in "+
				"their Host header, so they could loop back to the gateway. Set the environment's host_header to "+
				"\"caller\" or to another host name first.", e.Name, host)
		}
	}
	return nil
}

func taken(host string) *fault.Error {
	return fault.New(fault.Conflict, "host_taken", "Another team serves %s. That team must delete its domains for "+
		"this host name first.",
		host)
}

// environmentOf finds the environment that a caller names.
func environmentOf(
	tx *models.Tx, owner models.Project, version, environment string,
) (id string, wrong *fault.Field, err error) {
	versions, err := tx.VersionsOf(owner.ID)
	if err != nil {
		return "", nil, fmt.Errorf("domains: versions of %s: %w", owner.ID, err)
	}
	names := map[string]string{}
	for _, v := range versions {
		names[v.ID] = v.Name
	}
	all, err := tx.EnvironmentsOf(owner.ID)
	if err != nil {
		return "", nil, fmt.Errorf("domains: environments of %s: %w", owner.ID, err)
	}
	var found, among []string
	for _, e := range all {
		of := version == "" || version == e.VersionID || version == names[e.VersionID]
		if of && (environment == e.ID || environment == e.Name) {
			found, among = append(found, e.ID), append(among, names[e.VersionID])
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil, nil
	case 0:
		if known := slices.ContainsFunc(versions, func(v models.Version) bool {
			return version == "" || version == v.ID || version == v.Name
		}); !known {
			return "", &fault.Field{
				Pointer: "/version", Code: "unknown_version",
				Detail: fmt.Sprintf("This project has no version %q. Its versions: %s.", version,
					strings.Join(slices.Sorted(maps.Values(names)), ", ")),
			}, nil
		}
		of := "This project"
		if version != "" {
			of = "Version " + cmp.Or(names[version], version)
		}
		return "", &fault.Field{
			Pointer: "/environment",
			Code:    "unknown_environment",
			Detail:  fmt.Sprintf("%s has no environment %q.", of, environment),
		}, nil
	}
	return "", &fault.Field{
		Pointer: "/version",
		Code:    "required",
		Detail: "Several versions have an environment named " + environment + ": " + strings.Join(among, ", ") +
			". Specify the version as well.",
	}, nil
}

// Update leads a domain to another environment of its project, or changes which calls it takes.
func (s *Service) Update(ctx context.Context, p access.Principal, in contract.DomainUpdate) (contract.Domain, error) {
	what := "update"
	if in.Body.PathPrefix == nil && in.Body.StripPrefix == nil && in.Body.Methods == nil {
		what = "move"
	}
	return s.change(ctx, p, in.DomainPath, what, func(tx *models.Tx, owner models.Project, row *models.Domain) error {
		if err := access.Unchanged(in.IfMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		wrong, err := moved(tx, owner, in.Body, row)
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(append(readdressed(in.Body, row), present(wrong)...)); err != nil {
			return err
		}
		all, err := tx.LockHost(row.Host)
		if err != nil {
			return fmt.Errorf("domains: find %s: %w", row.Host, err)
		}
		return refuseCollision(*row, owner, all)
	})
}

// moved leads a domain to the environment of a change, if the change names one.
func moved(
	tx *models.Tx, owner models.Project, change contract.DomainChange, row *models.Domain,
) (*fault.Field, error) {
	if change.Version == nil && change.Environment == nil {
		return nil, nil
	}
	now, err := stateOf(tx, *row)
	if err != nil {
		return nil, err
	}
	version, environment := "", now.Environment
	if change.Version != nil {
		version = *change.Version
	}
	if change.Environment != nil {
		environment = *change.Environment
	}
	id, wrong, err := environmentOf(tx, owner, version, environment)
	row.EnvironmentID = id
	return wrong, err
}

// readdressed changes which calls a domain takes.
func readdressed(change contract.DomainChange, row *models.Domain) []fault.Field {
	var wrongPrefix, wrongMethods *fault.Field
	if change.PathPrefix != nil {
		row.PathPrefix, wrongPrefix = checkPrefix(*change.PathPrefix)
	}
	if change.StripPrefix != nil {
		row.StripPrefix = *change.StripPrefix
	}
	if change.Methods != nil {
		row.Methods, wrongMethods = checkMethods(*change.Methods)
	}
	return present(wrongPrefix, wrongMethods)
}

// change changes a domain in one transaction, with its audit entry and the revision. A
// change to the state it has writes nothing.
func (s *Service) change(
	ctx context.Context,
	p access.Principal,
	in contract.DomainPath,
	what string,
	fn func(*models.Tx, models.Project, *models.Domain) error,
) (contract.Domain, error) {
	var out contract.Domain
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		owner, row, err := find(tx, p, in, access.DomainChange)
		if err != nil {
			return err
		}
		was := row
		if err := fn(tx, owner, &row); err != nil {
			return err
		}
		if row, err = write(tx, p, access.DomainChange, what, owner, was, row); err != nil {
			return err
		}
		out, err = s.complete(tx, owner, row)
		return err
	})
	if err != nil {
		return contract.Domain{}, fmt.Errorf("domains: %s %s: %w", what, in.Domain, err)
	}
	s.Changed(ctx)
	return out, nil
}

// write writes a changed row with its audit entry and revision, and returns it. The team's other domains with its host
// get a changed proof too. Their projects get a revision and no entry of their own: the host is one.
func write(
	tx *models.Tx, p access.Principal, action access.Action, what string, owner models.Project, was, row models.Domain,
) (models.Domain, error) {
	if was == row {
		return was, nil
	}
	before, err := stateOf(tx, was)
	if err != nil {
		return was, err
	}
	now := models.Now()
	row.UpdatedAt = later(now, was.UpdatedAt)
	switch updated, err := tx.UpdateDomain(row, was.UpdatedAt); {
	case err != nil:
		return was, fmt.Errorf("domains: update %s: %w", row.Host, err)
	case !updated:
		return was, access.Stale()
	}
	if err := share(tx, owner, was, row, now); err != nil {
		return was, err
	}
	after, err := stateOf(tx, row)
	if err != nil {
		return was, err
	}
	return row, record(tx, p, action, what, owner, &before, &after, now)
}

// share gives a changed proof to the team's other domains with the host.
func share(tx *models.Tx, owner models.Project, was, row models.Domain, now time.Time) error {
	was.EnvironmentID, was.PathPrefix, was.StripPrefix = row.EnvironmentID, row.PathPrefix, row.StripPrefix
	was.Methods, was.UpdatedAt = row.Methods, row.UpdatedAt
	if was == row {
		return nil
	}
	projects, err := tx.ShareProof(row, owner.TeamID, row.UpdatedAt)
	if err != nil {
		return fmt.Errorf("domains: update all domains of %s: %w", row.Host, err)
	}
	for _, id := range projects {
		if id == owner.ID {
			continue // record adds its revision
		}
		if err := tx.AddRevision(id, "", now); err != nil {
			return fmt.Errorf("domains: revise %s: %w", id, err)
		}
	}
	return nil
}

// later returns now, or the next microsecond after before, so that an ETag never comes
// twice.
func later(now, before time.Time) time.Time {
	if next := before.Add(time.Microsecond); now.Before(next) {
		return next
	}
	return now
}

// Delete deletes a domain. It is no longer served when Delete returns.
func (s *Service) Delete(ctx context.Context, p access.Principal, in contract.DomainPath) (contract.None, error) {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		owner, row, err := find(tx, p, in, access.DomainChange)
		if err != nil {
			return err
		}
		before, err := stateOf(tx, row)
		if err != nil {
			return err
		}
		if err := tx.DeleteDomain(row.ID); err != nil {
			return fmt.Errorf("domains: delete %s: %w", row.Host, err)
		}
		return record(tx, p, access.DomainChange, "remove", owner, &before, nil, models.Now())
	})
	if err != nil {
		return contract.None{}, fmt.Errorf("domains: remove %s: %w", in.Domain, err)
	}
	s.Changed(ctx)
	return contract.None{}, nil
}
