package login

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
)

// DeclaredScope is an API scope that an app client can be allowed to ask for.
type DeclaredScope struct {
	snapshot.APIScope
	Project string // display name of the project that declares it
}

// DeclaredFor lists the API scopes of the projects that serve an app client's tenant, by
// name.
func (s *Service) DeclaredFor(ctx context.Context, p access.Principal, id string) ([]DeclaredScope, error) {
	tx := s.DB.Read(ctx)
	row, _, _, err := findClient(tx, p, id, access.LoginRead)
	if err != nil {
		return nil, fmt.Errorf("login: API scopes for %s: %w", id, err)
	}
	found, err := apisOf(tx, row)
	if err != nil {
		return nil, fmt.Errorf("login: API scopes for %s: %w", id, err)
	}
	var out []DeclaredScope
	for _, project := range found {
		for _, one := range project.APIScopes {
			out = append(out, DeclaredScope{APIScope: one, Project: project.DisplayName})
		}
	}
	slices.SortStableFunc(out, func(a, b DeclaredScope) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// maxAsking bounds how many app clients are named.
const maxAsking = 10

// Asking are the app clients that may ask for an API scope.
type Asking struct {
	Total int
	First []ServedClient // the oldest ones, at most 10
}

// ClientsAskingFor counts and names the app clients that may ask for an API scope of a
// project.
func (s *Service) ClientsAskingFor(
	ctx context.Context, p access.Principal, project, scope string,
) (Asking, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, project, access.LoginRead)
	if err != nil {
		return Asking{}, fmt.Errorf("login: app clients with API scope %s of %s: %w", scope, project, err)
	}
	var out Asking
	var first []models.AppClient
	page := models.Page{Limit: models.MaxLimit}
	for {
		rows, err := tx.AppClientsOfProject(row.ID, page)
		if err != nil {
			return Asking{}, fmt.Errorf("login: app clients with API scope %s of %s: %w", scope, project, err)
		}
		for _, client := range rows.Items {
			if !mayAskFor(client.APIScopes, scope) {
				continue
			}
			if out.Total++; len(first) < maxAsking {
				first = append(first, client)
			}
		}
		if page.Cursor = rows.Next; rows.Next == "" {
			break
		}
	}
	out.First, err = s.withProviders(tx, first)
	return out, err
}
