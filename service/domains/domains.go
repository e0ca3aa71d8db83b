// Package domains manages custom domains: host names, such as api.example.com, by which a
// customer's callers reach an environment without /<version>/<environment> in the path, for all
// calls or for those with a path prefix and methods.
//
// It owns the domains, the proof that a team controls a host name (a TXT record in the DNS, or an
// operator's approval), and the repeated check of that record. All domains of a team with one host
// name share the proof, whichever project they are of. Only verified names are
// served. It leaves matching calls to package gateway and certificates to packages
// platform/certs and app.
//
// Standards: RFC 1035 (DNS names, TXT records), RFC 5891 (internationalized names).
package domains

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Resolver looks up TXT records. An error other than ErrNoRecord means that the lookup
// itself failed.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// Events writes an event for a team's webhooks, in the transaction of the change.
type Events interface {
	Emit(ctx context.Context, tx *models.Tx, team, event string, data map[string]any) error
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

// MaxDomains bounds the domains of a project.
const MaxDomains = 100

// recordLabel is the label of the TXT record, below the host name. A leading underscore
// keeps it apart from host names (RFC 8552).
const recordLabel = "_postern-challenge."

// valuePrefix says in the record itself what the record is for.
const valuePrefix = "postern-verification="

func recordOf(row models.Domain) contract.DomainRecord {
	return contract.DomainRecord{Name: recordLabel + row.Host, Type: "TXT", Value: valuePrefix + row.Challenge}
}

// List returns a project's domains in alphabetical order.
func (s *Service) List(
	ctx context.Context, p access.Principal, in contract.DomainList,
) (models.List[contract.Domain], error) {
	var none models.List[contract.Domain]
	tx := s.DB.Read(ctx)
	owner, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return none, fmt.Errorf("domains: list: %w", err)
	}
	rows, err := tx.DomainsOf(owner.ID, in.State, models.PageOf(in.Page, in.Sort, in.Text))
	if err != nil {
		return none, fmt.Errorf("domains: list: %w", err)
	}
	places, err := placesOf(tx, owner.ID)
	if err != nil {
		return none, fmt.Errorf("domains: list: %w", err)
	}
	cors, err := hasCORS(tx, owner, rows.Items...)
	if err != nil {
		return none, err
	}
	list := models.List[contract.Domain]{Next: rows.Next, Total: rows.Total}
	for _, row := range rows.Items {
		one := shown(row, places[row.EnvironmentID])
		one.Warnings = noOptions(row, cors)
		if one.Certificate, err = s.certificateOf(tx, row); err != nil {
			return none, fmt.Errorf("domains: list: %w", err)
		}
		list.Items = append(list.Items, one)
	}
	return list, nil
}

// Get finds a domain of a project by its address or its id.
func (s *Service) Get(ctx context.Context, p access.Principal, in contract.DomainPath) (contract.Domain, error) {
	tx := s.DB.Read(ctx)
	owner, row, err := find(tx, p, in, access.ProjectRead)
	if err != nil {
		return contract.Domain{}, fmt.Errorf("domains: get %s: %w", in.Domain, err)
	}
	return s.complete(tx, owner, row)
}

// complete returns a domain with the state of its certificate and with warnings.
func (s *Service) complete(tx *models.Tx, owner models.Project, row models.Domain) (contract.Domain, error) {
	out, err := stateOf(tx, row)
	if err != nil {
		return out, err
	}
	if out.Certificate, err = s.certificateOf(tx, row); err != nil {
		return out, err
	}
	cors, err := hasCORS(tx, owner, row)
	out.Warnings = noOptions(row, cors)
	return out, err
}

// find loads a project's domain, and checks that the principal may do action there.
func find(
	tx *models.Tx, p access.Principal, in contract.DomainPath, action access.Action,
) (models.Project, models.Domain, error) {
	owner, err := access.Project(tx, p, in.Project, action)
	if err != nil {
		return owner, models.Domain{}, err
	}
	row, err := domainOf(tx, owner, in.Domain)
	return owner, row, err
}

// domainOf finds a domain by its id, or by its host name and prefix. A host name alone is that of the domain without a
// prefix, or of the only one. It refuses what could be several.
func domainOf(tx *models.Tx, owner models.Project, ref string) (models.Domain, error) {
	found, err := domainsOf(tx, owner, ref)
	if err != nil {
		return models.Domain{}, err
	}
	if len(found) == 1 {
		return found[0], nil
	}
	var names []string
	for _, one := range found {
		names = append(names, one.ID+" ("+one.Address().Key()+")")
	}
	return models.Domain{}, fault.New(fault.Conflict, "ambiguous_domain",
		"Several custom domains match %s. Use the ID of one of them: %s.", ref, strings.Join(names, ", "))
}

// oneOf finds a domain by its id or host name. Of several with the host name it returns one, for what holds for all of
// them.
func oneOf(tx *models.Tx, owner models.Project, ref string) (models.Domain, error) {
	found, err := domainsOf(tx, owner, ref)
	if err != nil {
		return models.Domain{}, err
	}
	return found[0], nil
}

// domainsOf finds at least one domain.
func domainsOf(tx *models.Tx, owner models.Project, ref string) ([]models.Domain, error) {
	name, prefix, _ := strings.Cut(ref, "/")
	host, wrong := normalize(name)
	if wrong != nil {
		row, err := tx.DomainOf(owner.ID, ref)
		if errors.Is(err, models.ErrNotFound) {
			return nil, access.NotFound()
		}
		if err != nil {
			return nil, fmt.Errorf("domains: find %s: %w", ref, err)
		}
		return []models.Domain{row}, nil
	}
	all, err := tx.DomainsAt(owner.ID, host)
	if err != nil {
		return nil, fmt.Errorf("domains: find %s: %w", ref, err)
	}
	if prefix != "" {
		prefix = "/" + prefix
	}
	found := slices.DeleteFunc(slices.Clone(all), func(d models.Domain) bool { return d.PathPrefix != prefix })
	if len(found) == 0 && prefix == "" {
		found = all
	}
	if len(found) == 0 {
		return nil, access.NotFound()
	}
	return found, nil
}

// stateOf returns a domain without its certificate.
func stateOf(tx *models.Tx, row models.Domain) (contract.Domain, error) {
	environment, version, err := tx.EnvironmentByID(row.EnvironmentID)
	if err != nil {
		return contract.Domain{}, fmt.Errorf("domains: environment of %s: %w", row.ID, err)
	}
	return shown(row, place{environment.Name, version.Name}), nil
}

// place is the environment of a host name.
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

func shown(row models.Domain, at place) contract.Domain {
	out := contract.Domain{
		ID:            row.ID,
		DomainAddress: row.Address(),
		Version:       at.version,
		Environment:   at.environment,
		State:         contract.DomainVerified,
		Record:        recordOf(row),
		Proof:         contract.OrNull(row.Proof),
		VerifiedAt:    contract.UTC(row.VerifiedAt),
		CheckedAt:     contract.UTC(row.CheckedAt),
		MissingSince:  contract.UTC(row.MissingSince),
		Problem:       contract.OrNull(row.Problem),
		ETag:          access.ETag(row.UpdatedAt),
		CreatedAt:     row.CreatedAt.UTC(),
	}
	switch {
	case row.VerifiedAt == nil:
		out.State = contract.DomainPending
	case row.MissingSince != nil:
		out.State = contract.DomainMissing
	}
	return out
}

// record writes the audit entry of a change, with both states, and the revision.
func record(
	tx *models.Tx, p access.Principal, action access.Action, what string, owner models.Project,
	before, after *contract.Domain, now time.Time,
) error {
	of := after
	if of == nil {
		of = before
	}
	entry := access.Entry{
		Action:  action,
		Object:  of.ID,
		Project: owner.ID,
		Team:    owner.TeamID,
		Detail:  map[string]string{"change": what, "host": of.Address(), "name": owner.Name},
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
	if err := tx.AddRevision(owner.ID, "", now); err != nil {
		return fmt.Errorf("domains: revise %s: %w", owner.Name, err)
	}
	return nil
}
