package projects

import (
	"context"
	"fmt"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

// InspectEnvironment returns the ids of a project and of one of its environments to a caller who may change it.
func (s *Service) InspectEnvironment(
	ctx context.Context, p access.Principal, ref, environmentID string,
) (projectID, id string, err error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, ref, access.ProjectUpdate)
	if err != nil {
		return "", "", fmt.Errorf("projects: check the target of %s: %w", environmentID, err)
	}
	environment, _, err := environmentOf(tx, project, "", environmentID)
	if err != nil {
		return "", "", fmt.Errorf("projects: check the target of %s: %w", environmentID, err)
	}
	return project.ID, environment.ID, nil
}

// InspectIssuer refuses an issuer that a version could not be given, by fields of the body, and a caller who may not
// change the version.
func (s *Service) InspectIssuer(
	ctx context.Context, p access.Principal, ref, versionID string, pair snapshot.TokenIssuer,
) error {
	tx := s.DB.Read(ctx)
	project, _, err := versionToInspect(tx, p, ref, versionID)
	if err != nil {
		return fmt.Errorf("projects: test an issuer of %s: %w", versionID, err)
	}
	at, err := s.authContext(tx, project.ID)
	if err != nil {
		return fmt.Errorf("projects: test an issuer of %s: %w", versionID, err)
	}
	at.webPorts = s.CapUnclaimed && p.Roles[project.TeamID] == access.Workspace
	return fault.InvalidFields(checkIssuer(pair, "", at))
}

// InspectIntrospection returns an introspection endpoint with its secret: the version's own for nil, or else the one
// that in describes. The version's secret goes to no other endpoint and client than its own.
func (s *Service) InspectIntrospection(
	ctx context.Context, p access.Principal, ref, versionID string, in *IntrospectionInput,
) (contract.Introspection, secrets.Secret, error) {
	tx := s.DB.Read(ctx)
	project, version, err := versionToInspect(tx, p, ref, versionID)
	if err != nil {
		return contract.Introspection{}, "", fmt.Errorf("projects: test the introspection of %s: %w", versionID, err)
	}
	if in == nil {
		if in = keptIntrospection(version); in == nil {
			return contract.Introspection{}, "", fault.InvalidField("/endpoint", "required",
				"The version has no introspection endpoint. Name the one to test.")
		}
	}
	wrong := in.check("")
	if field := checkTrusted(in.Endpoint, "/endpoint"); field != nil {
		wrong = append(wrong, *field)
	}
	wrong = append(wrong, in.mayTakeSecret(version)...)
	if held := s.CapUnclaimed && p.Roles[project.TeamID] == access.Workspace; held && len(wrong) == 0 {
		if field := (authContext{webPorts: true}).checkIssuerURL(in.Endpoint, "/endpoint"); field != nil {
			wrong = append(wrong, *field)
		}
	}
	if err := fault.InvalidFields(wrong); err != nil {
		return contract.Introspection{}, "", err
	}
	row := in.Introspection
	row.Method = in.method()
	if in.ClientSecret != nil || version.IntrospectionSecret == nil {
		if in.ClientSecret == nil {
			return row, "", nil
		}
		return row, *in.ClientSecret, nil
	}
	secret, err := s.Vault.Open(tx, IntrospectionPlace(version.ID), version.IntrospectionSecret)
	return row, secret, err
}

// mayTakeSecret is needsItsSecret for a body that is the introspection itself.
func (in *IntrospectionInput) mayTakeSecret(have models.Version) []fault.Field {
	wrong := in.needsItsSecret(have, "")
	for i := range wrong {
		wrong[i].Pointer = "/client_secret"
	}
	return wrong
}

func versionToInspect(
	tx *models.Tx, p access.Principal, ref, versionID string,
) (models.Project, models.Version, error) {
	project, err := access.Project(tx, p, ref, access.ProjectUpdate)
	if err != nil {
		return project, models.Version{}, err
	}
	version, err := versionOf(tx, project, versionID)
	return project, version, err
}
