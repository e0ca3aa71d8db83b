package projects

import (
	"context"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

// InspectEnvironment returns the IDs of a project and one of its environments, if the caller may change the
// environment.
func (s *Service) InspectEnvironment(
	ctx context.Context, p access.Principal, in contract.EnvironmentPath,
) (projectID, id string, err error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, in.Project, access.ProjectUpdate)
	if err != nil {
		return "", "", fmt.Errorf("projects: check the target of %s: %w", in.Environment, err)
	}
	environment, _, err := environmentOf(tx, project, in.Version, in.Environment)
	if err != nil {
		return "", "", fmt.Errorf("projects: check the target of %s: %w", in.Environment, err)
	}
	return project.ID, environment.ID, nil
}

// InspectIssuer refuses an issuer that a version could not be given, by fields of the body, and a caller who may not
// change the version.
func (s *Service) InspectIssuer(
	ctx context.Context, p access.Principal, of contract.VersionPath, pair contract.TokenIssuer,
) error {
	tx := s.DB.Read(ctx)
	project, _, err := versionToInspect(tx, p, of)
	if err != nil {
		return fmt.Errorf("projects: test an issuer of %s: %w", of.Version, err)
	}
	at, err := s.authContext(tx, project.ID)
	if err != nil {
		return fmt.Errorf("projects: test an issuer of %s: %w", of.Version, err)
	}
	at.webPorts = s.CapUnclaimed && p.Roles[project.TeamID] == access.Workspace
	return fault.InvalidFields(checkIssuer(pair, "", at))
}

// InspectIntrospection returns an introspection endpoint with its secret: the version's own for nil, or else the one
// that is given. The version's secret goes to no other endpoint and client than its own.
func (s *Service) InspectIntrospection(
	ctx context.Context, p access.Principal, of contract.VersionPath, given *contract.NewIntrospection,
) (contract.Introspection, secrets.Secret, error) {
	tx := s.DB.Read(ctx)
	project, version, err := versionToInspect(tx, p, of)
	if err != nil {
		return contract.Introspection{}, "", fmt.Errorf("projects: test the introspection of %s: %w", of.Version, err)
	}
	in := readIntrospection(given)
	if in == nil {
		if in = keptIntrospection(version.RequestsAuth); in == nil {
			return contract.Introspection{}, "", fault.InvalidField("/endpoint", "required",
				"The version has no introspection endpoint. Specify the endpoint to test.")
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
func (in *introspectionInput) mayTakeSecret(have models.Version) []fault.Field {
	wrong := in.needsItsSecret(have, "")
	for i := range wrong {
		wrong[i].Pointer = "/client_secret"
	}
	return wrong
}

func versionToInspect(
	tx *models.Tx, p access.Principal, of contract.VersionPath,
) (models.Project, models.Version, error) {
	project, err := access.Project(tx, p, of.Project, access.ProjectUpdate)
	if err != nil {
		return project, models.Version{}, err
	}
	version, err := versionOf(tx, project, of.Version)
	return project, version, err
}
