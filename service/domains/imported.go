package domains

import (
	"errors"
	"fmt"
	"slices"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
)

// Imported is a custom domain that is imported with its environment.
type Imported struct {
	Row     models.Domain
	Pointer string // to it in the imported file
}

// ReadImported returns the row of a custom domain by the rules of new ones, without a proof and without the IDs of its
// project and environment.
func (s *Service) ReadImported(in contract.NewDomain) (models.Domain, []fault.Field) {
	host, wrong := s.checkHost(in.Host)
	prefix, wrongPrefix := checkPrefix(in.PathPrefix)
	methods, wrongMethods := checkMethods(in.Methods)
	now := models.Now()
	return models.Domain{
		ID: models.NewID("dom"), Host: host, PathPrefix: prefix, StripPrefix: in.StripPrefix == nil || *in.StripPrefix,
		Methods: methods, Challenge: newChallenge(), CreatedAt: now, UpdatedAt: now,
	}, present(wrong, wrongPrefix, wrongMethods)
}

// TooMany refuses a project with more custom domains than it can have.
func TooMany(count int) *fault.Field {
	if count <= MaxDomains {
		return nil
	}
	return &fault.Field{Code: "too_many_domains", Detail: fmt.Sprintf("The project would have %d custom domains. A "+
		"project can have at most %d.", count, MaxDomains)}
}

// JoinImported gives imported domains, which have been inserted, the proof of their team's other domains with the same
// host. owners are their projects by ID. It returns the domains that Create would refuse: those with a host that
// another team serves, and those that take the calls of another domain.
func (s *Service) JoinImported(
	tx *models.Tx, owners map[string]models.Project, list []Imported,
) ([]fault.Field, error) {
	byHost := models.GroupBy(list, func(one Imported) string { return one.Row.Host })
	hosts := make([]string, 0, len(byHost))
	for host := range byHost {
		hosts = append(hosts, host)
	}
	slices.Sort(hosts) // all lock hosts in one order
	var wrong []fault.Field
	for _, host := range hosts {
		fields, err := joinHost(tx, owners, byHost[host])
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, fields...)
	}
	return wrong, nil
}

// joinHost is JoinImported for the domains of a host.
func joinHost(tx *models.Tx, owners map[string]models.Project, list []Imported) ([]fault.Field, error) {
	host, team := list[0].Row.Host, owners[list[0].Row.ProjectID].TeamID
	all, err := tx.LockHost(host)
	if err != nil {
		return nil, fmt.Errorf("domains: find %s: %w", host, err)
	}
	refused := func(pointer string, err error) ([]fault.Field, error) {
		refusal, ok := errors.AsType[*fault.Error](err)
		if !ok {
			return nil, err
		}
		return []fault.Field{{Pointer: pointer, Code: refusal.Code, Detail: refusal.Public}}, nil
	}
	isNew := map[string]bool{}
	for _, one := range list {
		isNew[one.Row.ID] = true
	}
	proof, now := -1, models.Now()
	for i, other := range all {
		switch {
		case other.TeamID == team && !isNew[other.ID]:
			proof = i
		case other.TeamID == team && proof < 0:
			proof = i // the new ones share their challenge too
		case other.TeamID != team && other.VerifiedAt != nil && !lapsed(other.Domain, now):
			return refused(list[0].Pointer, taken(host))
		}
	}
	if proof >= 0 {
		if _, err := tx.ShareProof(all[proof].Domain, team, models.Now()); err != nil {
			return nil, fmt.Errorf("domains: share the proof of %s: %w", host, err)
		}
	}
	var wrong []fault.Field
	checked := map[string]bool{}
	for _, one := range list {
		err := refuseCollision(one.Row, owners[one.Row.ProjectID], all)
		if err == nil && !checked[one.Row.ProjectID] {
			checked[one.Row.ProjectID] = true
			err = notHostHeader(tx, one.Row.ProjectID, host)
		}
		if err == nil {
			continue
		}
		fields, err := refused(one.Pointer, err)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, fields...)
	}
	return wrong, nil
}
