package domains

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// lapseAfter is how long the TXT record of a verified name is missing before another
// team can verify the name for itself: the domain has changed hands.
const lapseAfter = 7 * 24 * time.Hour

func lapsed(row models.Domain, now time.Time) bool {
	return row.Proof == contract.ProofDNS && row.MissingSince != nil && now.Sub(*row.MissingSince) >= lapseAfter
}

// finding is the outcome of a lookup: found, missing, or neither, because the lookup failed.
type finding struct {
	found, missing bool
	problem        string // "" if found
}

// look looks the TXT record of a name up.
func (s *Service) look(ctx context.Context, row models.Domain) finding {
	want := recordOf(row)
	values, err := s.Resolver.LookupTXT(ctx, want.Name)
	switch {
	case errors.Is(err, ErrNoRecord):
		return finding{missing: true, problem: "There is no TXT record " + want.Name + "."}
	case err != nil:
		s.Log.InfoContext(ctx, "could not look up a TXT record", "record", want.Name, "error", err)
		return finding{problem: "The name server didn't answer the query for " + want.Name + "."}
	case !slices.ContainsFunc(values, func(v string) bool { return strings.TrimSpace(v) == want.Value }):
		return finding{missing: true, problem: "The TXT record " + want.Name + " has a different value."}
	}
	return finding{found: true}
}

// apply sets the columns that follow from a finding.
func (f finding) apply(row *models.Domain, now time.Time) {
	row.CheckedAt, row.Problem = &now, f.problem
	switch {
	case f.found:
		row.MissingSince = nil
		if row.VerifiedAt == nil {
			row.VerifiedAt, row.Proof = &now, contract.ProofDNS
		}
	case f.missing && row.Proof == contract.ProofDNS && row.MissingSince == nil:
		row.MissingSince = &now
	}
}

// Verify looks the TXT record of a name up, and serves the name from then on if it is there. If it is missing, the
// error says so, and a name that was verified stays served. Verifying a verified name checks its record again.
func (s *Service) Verify(ctx context.Context, p access.Principal, in contract.DomainPath) (contract.Domain, error) {
	tx := s.DB.Read(ctx)
	owner, err := access.Project(tx, p, in.Project, access.DomainChange)
	var seen models.Domain
	if err == nil {
		seen, err = oneOf(tx, owner, in.Domain)
	}
	if err != nil {
		return contract.Domain{}, fmt.Errorf("domains: verify %s: %w", in.Domain, err)
	}
	looked := s.look(ctx, seen)
	var out contract.Domain
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		owner, row, err := find(tx, p, contract.DomainOf(in.Project, seen.ID), access.DomainChange)
		if err != nil {
			return err
		}
		if row, err = locked(tx, owner, row); err != nil {
			return err
		}
		if row.Challenge != seen.Challenge {
			return access.Stale()
		}
		was, now := row, models.Now()
		looked.apply(&row, now)
		if was.VerifiedAt == nil && row.VerifiedAt != nil {
			if err := s.release(ctx, tx, row.Host, owner, now); err != nil {
				return err
			}
		}
		if row, err = write(tx, p, access.DomainChange, "verify", owner, was, row); err != nil {
			return err
		}
		out, err = s.complete(tx, owner, row)
		return err
	})
	if err != nil {
		return contract.Domain{}, fmt.Errorf("domains: verify %s: %w", in.Domain, err)
	}
	s.Changed(ctx)
	switch {
	case looked.found || out.Proof != nil && *out.Proof == contract.ProofOperator:
		return out, nil
	case looked.missing:
		return out, fault.New(fault.Conflict, "record_missing", "%s Add the TXT record %s with the value %s at your "+
			"DNS provider. A new record can take a few minutes to become visible.",
			looked.problem, out.Record.Name, out.Record.Value)
	}
	return out, fault.New(fault.Unavailable, "lookup_failed", "%s Try again in a minute.", looked.problem)
}

// release takes a verified name from another team, where its record has been missing for
// long. It refuses if the other team still holds the name, or if calls of the project have it in their Host header.
func (s *Service) release(
	ctx context.Context, tx *models.Tx, host string, owner models.Project, now time.Time,
) error {
	if err := notHostHeader(tx, owner.ID, host); err != nil {
		return err
	}
	all, err := tx.LockHost(host)
	if err != nil {
		return fmt.Errorf("domains: find %s: %w", host, err)
	}
	at := slices.IndexFunc(all, func(d models.TeamDomain) bool {
		return d.TeamID != owner.TeamID && d.VerifiedAt != nil
	})
	if at < 0 {
		return nil
	}
	other := all[at].Domain
	if !lapsed(other, now) {
		return taken(host)
	}
	holder, err := tx.ProjectByID(other.ProjectID)
	if err != nil {
		return fmt.Errorf("domains: project of %s: %w", host, err)
	}
	was := other
	unverify(&other)
	other.Problem = "Another team has verified this domain."
	_, err = write(tx, access.System(), access.DomainReport, "lapse", holder, was, other)
	return errors.Join(err, s.emit(ctx, tx, EventRecordMissing, holder, other))
}

// locked locks the host of a domain, and returns the domain as it is then. It refuses a project that has just been
// moved to another team.
func locked(tx *models.Tx, owner models.Project, row models.Domain) (models.Domain, error) {
	all, err := tx.LockHost(row.Host)
	if err != nil {
		return row, fmt.Errorf("domains: lock %s: %w", row.Host, err)
	}
	for _, one := range all {
		switch {
		case one.ID != row.ID:
		case one.TeamID != owner.TeamID:
			return row, access.Stale()
		default:
			return one.Domain, nil
		}
	}
	return row, access.NotFound()
}

func unverify(row *models.Domain) {
	row.Proof, row.VerifiedAt, row.MissingSince = "", nil, nil
}

// Approve verifies a name without a TXT record. Only operators can.
func (s *Service) Approve(
	ctx context.Context, p access.Principal, in contract.DomainPath,
) (contract.DomainApproval, error) {
	return s.decide(ctx, p, in, "approve", func(tx *models.Tx, owner models.Project, row *models.Domain) error {
		now := models.Now()
		if row.VerifiedAt == nil {
			if err := s.release(ctx, tx, row.Host, owner, now); err != nil {
				return err
			}
			row.VerifiedAt = &now
		}
		row.Proof, row.MissingSince, row.Problem = contract.ProofOperator, nil, ""
		return nil
	})
}

// Disapprove ends the verification of a name, however it was shown. Only operators can. Its
// team can verify it again by a new TXT record.
func (s *Service) Disapprove(
	ctx context.Context, p access.Principal, in contract.DomainPath,
) (contract.DomainApproval, error) {
	return s.decide(ctx, p, in, "disapprove", func(_ *models.Tx, _ models.Project, row *models.Domain) error {
		if row.VerifiedAt != nil {
			unverify(row)
			row.Challenge = newChallenge()
		}
		return nil
	})
}

func (s *Service) decide(
	ctx context.Context,
	p access.Principal,
	in contract.DomainPath,
	what string,
	fn func(*models.Tx, models.Project, *models.Domain) error,
) (contract.DomainApproval, error) {
	var out contract.DomainApproval
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		owner, err := access.OperatorsProject(tx, p, in.Project, access.DomainApprove)
		if err != nil {
			return err
		}
		row, err := oneOf(tx, owner, in.Domain)
		if err != nil {
			return err
		}
		if row, err = locked(tx, owner, row); err != nil {
			return err
		}
		was := row
		if err := fn(tx, owner, &row); err != nil {
			return err
		}
		if row, err = write(tx, p, access.DomainApprove, what, owner, was, row); err != nil {
			return err
		}
		d, err := stateOf(tx, row)
		out = contract.DomainApproval{ID: d.ID, Host: d.Host, Project: owner.Name, State: d.State, Proof: d.Proof}
		return err
	})
	if err != nil {
		return contract.DomainApproval{}, fmt.Errorf("domains: %s %s: %w", what, in.Domain, err)
	}
	s.Changed(ctx)
	return out, nil
}
