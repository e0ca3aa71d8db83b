package appclients

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
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
	row, _, _, err := Find(tx, p, id, access.LoginRead)
	if err != nil {
		return nil, fmt.Errorf("appclients: API scopes for %s: %w", id, err)
	}
	found, err := Declaring(tx, row)
	if err != nil {
		return nil, fmt.Errorf("appclients: API scopes for %s: %w", id, err)
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

// maxAsking is the maximum number of app clients in Asking.First.
const maxAsking = 10

// Asking has the app clients that may request an API scope.
type Asking struct {
	Total int
	First []ServedClient // at most maxAsking, oldest first
}

// ClientsAskingFor counts the app clients that may request an API scope of a project, and lists the first ones.
func (s *Service) ClientsAskingFor(
	ctx context.Context, p access.Principal, project, scope string,
) (Asking, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, project, access.LoginRead)
	if err != nil {
		return Asking{}, fmt.Errorf("appclients: app clients with API scope %s of %s: %w", scope, project, err)
	}
	var out Asking
	var first []models.AppClient
	page := models.Page{Limit: models.MaxLimit}
	for {
		rows, err := tx.AppClientsOfProject(row.ID, page)
		if err != nil {
			return Asking{}, fmt.Errorf("appclients: app clients with API scope %s of %s: %w", scope, project, err)
		}
		for _, client := range rows.Items {
			if !MayAskFor(client.APIScopes, scope) {
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

// Declaring returns the projects that serve an app client's tenant and declare an audience or API scopes.
func Declaring(tx *models.Tx, client models.AppClient) ([]models.Project, error) {
	tenant, err := tx.TenantByID(client.TenantID)
	if err != nil {
		return nil, err
	}
	rows, err := tx.ProjectsServing(tenant)
	return slices.DeleteFunc(rows, func(p models.Project) bool {
		return p.APIAudience == "" && len(p.APIScopes) == 0
	}), err
}

// MayAskFor reports whether one of the scopes of an app client, such as orders:*, covers a
// scope.
func MayAskFor(listed []string, scope string) bool {
	return slices.ContainsFunc(listed, func(one string) bool {
		family, isFamily := strings.CutSuffix(one, ":*")
		return one == scope || isFamily && strings.HasPrefix(scope, family+":")
	})
}

// checkAPIScopes returns the API scopes of a changed app client that no project which
// serves its tenant declares.
func checkAPIScopes(tx *models.Tx, client models.AppClient) ([]fault.Field, error) {
	found, err := Declaring(tx, client)
	if err != nil {
		return nil, err
	}
	var wrong []fault.Field
	for i, one := range client.APIScopes {
		refuse := func(code, detail string) {
			pointer := fmt.Sprintf("/api_scopes/%d", i)
			wrong = append(wrong, fault.Field{Pointer: pointer, Code: code, Detail: detail})
		}
		covers := func(p models.Project) bool {
			return slices.ContainsFunc(p.APIScopes, func(s contract.APIScope) bool {
				return MayAskFor([]string{one}, s.Name)
			})
		}
		switch {
		case slices.Contains(client.APIScopes[:i], one):
			refuse("duplicate", "This scope is listed twice. Remove one.")
		case !slices.ContainsFunc(found, covers):
			refuse("unknown_scope", "This scope isn't declared by any project that serves the app client's tenant. "+
				"Add it to the API scopes of one of these projects first.")
		}
	}
	return wrong, nil
}
