// Package domains manages custom host names: the names, such as api.example.com, by which a
// customer's callers reach an environment without /<version>/<environment> in the path.
//
// It owns the names, the proof that a team controls one (a TXT record in the DNS, or an
// operator's approval), and the repeated check of that record. Only verified names are
// served. It leaves matching the Host line to package gateway and certificates to packages
// platform/certs and app.
//
// Standards: RFC 1035 (DNS names, TXT records), RFC 5891 (internationalized names).
package domains

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"postern/models"
	"postern/service/access"
)

// Resolver looks up TXT records. An error other than ErrNoRecord means that the lookup
// itself failed.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// Events writes an event for a team's webhooks, in the transaction of the change.
type Events interface {
	Emit(ctx context.Context, tx *models.Tx, team, event string, data map[string]string) error
}

// The events of a verified name whose TXT record has disappeared, and is back.
const (
	EventRecordMissing = "domain.record_missing"
	EventRecordBack    = "domain.record_back"
)

// Service implements the management of custom host names.
type Service struct {
	DB       *models.DB
	Resolver Resolver
	Own      []string // host names of this installation
	OwnBelow []string // domains of which every subdomain is the installation's
	Events   Events   // nil: no events
	Log      *slog.Logger

	ACME    bool                                           // certificates of names are obtained by ACME
	InFiles func(host string) (ends time.Time, found bool) // of a certificate in a file; nil: there are no files

	// Changed is called after each commit that changes what is served. It returns when
	// this process serves the change.
	Changed func(context.Context)
}

// MaxDomains bounds the host names of a project.
const MaxDomains = 100

// The values of Domain.Proof.
const (
	ProofDNS      = "dns"
	ProofOperator = "operator"
)

// State is the state of a host name, as it is shown.
type State string

// The states.
const (
	Pending  State = models.DomainPending  // not verified, and not served
	Verified State = models.DomainVerified // served
	Missing  State = models.DomainMissing  // served, but its TXT record has disappeared
)

// Domain is a custom host name as the project's team sees it.
type Domain struct {
	ID            string
	Project       string `audit:"-"` // name
	ProjectID     string `audit:"-"`
	Team          string `audit:"-"` // id
	Host          string // lower-case ASCII
	Version       string // name
	Environment   string // name
	EnvironmentID string
	State         State
	Record        Record      `audit:"-"`
	Proof         string      // ProofDNS, ProofOperator; "" while pending
	VerifiedAt    *time.Time  `audit:"-"`
	CheckedAt     *time.Time  `audit:"-"` // when the record was last looked up
	MissingSince  *time.Time  `audit:"-"` // set in state Missing
	Problem       string      // why the last lookup found no proof
	Certificate   Certificate `audit:"-"` // see Service.certificateOf; of a state in the past, there is none
	ETag          string      `audit:"-"`
	CreatedAt     time.Time   `audit:"-"`
}

// Record is the TXT record that shows the ownership of a name.
type Record struct{ Name, Value string }

// recordLabel is the label of the TXT record, below the host name. A leading underscore
// keeps it apart from host names (RFC 8552).
const recordLabel = "_postern-challenge."

// valuePrefix says in the record itself what it is for.
const valuePrefix = "postern-verification="

func recordOf(row models.Domain) Record {
	return Record{Name: recordLabel + row.Host, Value: valuePrefix + row.Challenge}
}

// List returns a project's host names in alphabetical order; those in one state unless it is empty.
func (s *Service) List(
	ctx context.Context, p access.Principal, project string, state State, page models.Page,
) (models.List[Domain], error) {
	tx := s.DB.Read(ctx)
	owner, err := access.Project(tx, p, project, access.ProjectRead)
	if err != nil {
		return models.List[Domain]{}, fmt.Errorf("domains: list: %w", err)
	}
	rows, err := tx.DomainsOf(owner.ID, string(state), page)
	if err != nil {
		return models.List[Domain]{}, fmt.Errorf("domains: list: %w", err)
	}
	places, err := placesOf(tx, owner.ID)
	if err != nil {
		return models.List[Domain]{}, fmt.Errorf("domains: list: %w", err)
	}
	list := models.List[Domain]{Next: rows.Next, Total: rows.Total}
	for _, row := range rows.Items {
		one := viewAt(owner, row, places[row.EnvironmentID])
		if one.Certificate, err = s.certificateOf(tx, row); err != nil {
			return models.List[Domain]{}, fmt.Errorf("domains: list: %w", err)
		}
		list.Items = append(list.Items, one)
	}
	return list, nil
}

// Get finds a host name of a project by the name or its id.
func (s *Service) Get(ctx context.Context, p access.Principal, project, ref string) (Domain, error) {
	tx := s.DB.Read(ctx)
	owner, row, err := find(tx, p, project, ref, access.ProjectRead)
	if err != nil {
		return Domain{}, fmt.Errorf("domains: get %s: %w", ref, err)
	}
	return s.shown(tx, owner, row)
}

// shown returns a host name with the state of its certificate.
func (s *Service) shown(tx *models.Tx, owner models.Project, row models.Domain) (Domain, error) {
	out, err := view(tx, owner, row)
	if err != nil {
		return out, err
	}
	out.Certificate, err = s.certificateOf(tx, row)
	return out, err
}

// find loads a project's host name, and checks that the principal may do action there.
func find(
	tx *models.Tx, p access.Principal, project, ref string, action access.Action,
) (models.Project, models.Domain, error) {
	owner, err := access.Project(tx, p, project, action)
	if err != nil {
		return owner, models.Domain{}, err
	}
	row, err := domainOf(tx, owner, ref)
	return owner, row, err
}

func domainOf(tx *models.Tx, owner models.Project, ref string) (models.Domain, error) {
	if host, wrong := normalize(ref); wrong == nil {
		ref = host
	}
	row, err := tx.DomainOf(owner.ID, ref)
	if errors.Is(err, models.ErrNotFound) {
		return row, access.NotFound()
	}
	if err != nil {
		return row, fmt.Errorf("domains: find %s: %w", ref, err)
	}
	return row, nil
}

func view(tx *models.Tx, owner models.Project, row models.Domain) (Domain, error) {
	environment, version, err := tx.EnvironmentByID(row.EnvironmentID)
	if err != nil {
		return Domain{}, fmt.Errorf("domains: environment of %s: %w", row.ID, err)
	}
	return viewAt(owner, row, place{environment.Name, version.Name}), nil
}

// place is where a host name leads.
type place struct{ environment, version string }

// placesOf returns the environments of a project by id.
func placesOf(tx *models.Tx, project string) (map[string]place, error) {
	versions, err := tx.VersionsOf(project)
	if err != nil {
		return nil, err
	}
	environments, err := tx.EnvironmentsOf(project)
	if err != nil {
		return nil, err
	}
	names, out := map[string]string{}, map[string]place{}
	for _, version := range versions {
		names[version.ID] = version.Name
	}
	for _, environment := range environments {
		out[environment.ID] = place{environment.Name, names[environment.VersionID]}
	}
	return out, nil
}

func viewAt(owner models.Project, row models.Domain, at place) Domain {
	return Domain{
		ID:            row.ID,
		Project:       owner.Name,
		ProjectID:     owner.ID,
		Team:          owner.TeamID,
		Host:          row.Host,
		Version:       at.version,
		Environment:   at.environment,
		EnvironmentID: row.EnvironmentID,
		State:         stateOf(row),
		Record:        recordOf(row),
		Proof:         row.Proof,
		VerifiedAt:    row.VerifiedAt,
		CheckedAt:     row.CheckedAt,
		MissingSince:  row.MissingSince,
		Problem:       row.Problem,
		ETag:          access.ETag(row.UpdatedAt),
		CreatedAt:     row.CreatedAt,
	}
}

func stateOf(row models.Domain) State {
	switch {
	case row.VerifiedAt == nil:
		return Pending
	case row.MissingSince != nil:
		return Missing
	}
	return Verified
}

// record writes the audit entry of a change, with both states, and the revision.
func record(
	tx *models.Tx, p access.Principal, action access.Action, what string, before, after *Domain, now time.Time,
) error {
	of := after
	if of == nil {
		of = before
	}
	entry := access.Entry{
		Action:  action,
		Object:  of.ID,
		Project: of.ProjectID,
		Team:    of.Team,
		Detail:  map[string]string{"change": what, "host": of.Host, "name": of.Project},
	}
	if before != nil {
		entry.Before = *before
	}
	if after != nil {
		entry.After = *after
	}
	if err := access.Record(tx, p, entry); err != nil {
		return fmt.Errorf("domains: audit %s: %w", of.Host, err)
	}
	if action == access.DomainApprove { // also into the operators' own log
		entry.Team = ""
		if err := access.Record(tx, p, entry); err != nil {
			return fmt.Errorf("domains: audit %s: %w", of.Host, err)
		}
	}
	if err := tx.AddRevision(of.ProjectID, "", now); err != nil {
		return fmt.Errorf("domains: revise %s: %w", of.Project, err)
	}
	return nil
}
