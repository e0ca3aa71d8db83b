package domains

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Create adds a domain to an environment. It is pending until Verify or Approve.
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
		environment, wrongEnvironment, err := environmentOf(tx, owner, in.Version, cmp.Or(in.Environment, "prod"))
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(present(wrong, wrongEnvironment)); err != nil {
			return err
		}
		if err := free(tx, owner.ID, host); err != nil {
			return err
		}
		now := models.Now()
		row := models.Domain{
			ID:            models.NewID("dom"),
			ProjectID:     owner.ID,
			EnvironmentID: environment,
			Host:          host,
			Challenge:     newChallenge(),
			CreatedAt:     now,
			UpdatedAt:     now,
		}
		err = tx.Insert(&row)
		if errors.Is(err, models.ErrDuplicate) {
			return fault.New(fault.Conflict, "already_added", "This project already has %s.", host).Because(err)
		}
		if err != nil {
			return fmt.Errorf("domains: insert %s: %w", host, err)
		}
		if out, err = s.withCertificate(tx, row); err != nil {
			return err
		}
		return record(tx, p, access.DomainChange, "add", owner, nil, &out, now)
	})
	if err != nil {
		return contract.Domain{}, fmt.Errorf("domains: add %s to %s: %w", in.Host, request.Project, err)
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

// free refuses one more name to a full project, and a name that another project serves.
func free(tx *models.Tx, projectID, host string) error {
	n, err := tx.CountDomains(projectID)
	if err != nil {
		return fmt.Errorf("domains: count those of %s: %w", projectID, err)
	}
	if n >= MaxDomains {
		return fault.New(fault.Conflict, "too_many_domains", "A project can have at most %d custom domains.",
			MaxDomains)
	}
	other, err := tx.VerifiedDomain(host)
	switch {
	case errors.Is(err, models.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("domains: find %s: %w", host, err)
	case other.ProjectID != projectID && !lapsed(other, models.Now()):
		return taken(host)
	}
	return nil
}

func taken(host string) *fault.Error {
	return fault.New(fault.Conflict, "host_taken", "Another project serves %s. Remove it there first.", host)
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
		return "", &fault.Field{
			Pointer: "/environment",
			Code:    "unknown_environment",
			Detail:  "This project has no such environment. Use one of its environments, with its version.",
		}, nil
	}
	return "", &fault.Field{
		Pointer: "/version",
		Code:    "required",
		Detail: "Several versions have an environment named " + environment + ": " + strings.Join(among, ", ") +
			". Specify the version too.",
	}, nil
}

// Update leads a domain to another environment of its project.
func (s *Service) Update(ctx context.Context, p access.Principal, in contract.DomainUpdate) (contract.Domain, error) {
	move := func(tx *models.Tx, owner models.Project, row *models.Domain) error {
		if err := access.Unchanged(in.IfMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		now, err := stateOf(tx, *row)
		if err != nil {
			return err
		}
		version, environment := "", now.Environment
		if in.Body.Version != nil {
			version = *in.Body.Version
		}
		if in.Body.Environment != nil {
			environment = *in.Body.Environment
		}
		id, wrong, err := environmentOf(tx, owner, version, environment)
		if err == nil {
			err = fault.InvalidFields(present(wrong))
		}
		row.EnvironmentID = id
		return err
	}
	return s.change(ctx, p, in.DomainPath, "move", move)
}

// change changes a host name in one transaction, with its audit entry and the revision. A
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
		if out, err = write(tx, p, access.DomainChange, what, owner, was, row); err != nil {
			return err
		}
		out.Certificate, err = s.certificateOf(tx, row)
		return err
	})
	if err != nil {
		return contract.Domain{}, fmt.Errorf("domains: %s %s: %w", what, in.Domain, err)
	}
	s.Changed(ctx)
	return out, nil
}

// write writes a changed row with its audit entry and revision.
func write(
	tx *models.Tx, p access.Principal, action access.Action, what string, owner models.Project, was, row models.Domain,
) (contract.Domain, error) {
	before, err := stateOf(tx, was)
	if err != nil || was == row {
		return before, err
	}
	now := models.Now()
	row.UpdatedAt = later(now, was.UpdatedAt)
	switch updated, err := tx.UpdateDomain(row, was.UpdatedAt); {
	case errors.Is(err, models.ErrDuplicate):
		return before, taken(row.Host).Because(err)
	case err != nil:
		return before, fmt.Errorf("domains: update %s: %w", row.Host, err)
	case !updated:
		return before, access.Stale()
	}
	after, err := stateOf(tx, row)
	if err != nil {
		return before, err
	}
	return after, record(tx, p, action, what, owner, &before, &after, now)
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
