package projects

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/service/keys"
)

// Compile reads a project's rows into what gateways serve and exports carry. publicURL
// is the control plane's, below which the app clients are issuers.
func Compile(tx *models.Tx, projectID, publicURL string) (*snapshot.Project, error) {
	row, err := tx.ProjectByID(projectID)
	if err != nil {
		return nil, fmt.Errorf("projects: compile %s: %w", projectID, err)
	}
	out := &snapshot.Project{
		ID:            row.ID,
		Name:          row.Name,
		DisplayName:   row.DisplayName,
		FallbackOwner: row.FallbackOwner,
		CreatedAt:     row.CreatedAt.UTC(),
		TakenDown:     row.FrozenAt != nil,
		Limits: snapshot.ProjectLimits{Key: keys.Limits(row.Limits.Key), Owner: keys.Limits(row.Limits.Owner),
			IP: keys.Limits(row.Limits.IP), Project: keys.Limits(row.Limits.Project)},
	}
	for _, read := range []func(*models.Tx, models.Project, *snapshot.Project) error{readTeam, readProduct, readRevision, readVersions, readKeyTypes, readTenants} {
		if err := read(tx, row, out); err != nil {
			return nil, fmt.Errorf("projects: compile %s: %w", projectID, err)
		}
	}
	if err := readLogin(tx, publicURL, out); err != nil {
		return nil, fmt.Errorf("projects: compile the login of %s: %w", projectID, err)
	}
	return out, nil
}

// CompileWhole is Compile for an export, which needs more: the tenants that the
// project no longer serves while keys are still of them, and a revision that counts
// every change of what the export holds, also of keys that other projects of the
// product made. Asking all keys for that takes as long as reading them.
func CompileWhole(tx *models.Tx, projectID, publicURL string) (*snapshot.Project, error) {
	out, err := Compile(tx, projectID, publicURL)
	if err != nil {
		return nil, err
	}
	row, err := tx.ProjectByID(projectID)
	if err != nil {
		return nil, fmt.Errorf("projects: compile %s: %w", projectID, err)
	}
	if err := readDetached(tx, row, out); err != nil {
		return nil, fmt.Errorf("projects: tenants of the keys of %s: %w", projectID, err)
	}
	if err := reviseWhole(tx, row, out); err != nil {
		return nil, fmt.Errorf("projects: revision of %s with its keys: %w", projectID, err)
	}
	return out, nil
}

// reviseWhole takes the revision of the product's newest key change where that came
// after the project's own. A key's revision belongs to the project that made the key.
func reviseWhole(tx *models.Tx, row models.Project, out *snapshot.Project) error {
	if row.ProductID == nil {
		return nil
	}
	newest, err := tx.RevisionOfProductKeys(*row.ProductID, out.Revision)
	if err == nil && newest.ID > out.Revision {
		out.Revision = newest.ID
		if at := newest.CreatedAt.UTC(); at.After(out.RevisedAt) {
			out.RevisedAt = at
		}
	}
	return err
}

func readDetached(tx *models.Tx, row models.Project, out *snapshot.Project) error {
	used, err := tx.TenantsOfKeys(row.ID, row.ProductID)
	if err != nil {
		return err
	}
	tenants, err := tx.TenantsOfTeam(row.TeamID)
	if err != nil {
		return err
	}
	for _, t := range tenants {
		served := slices.ContainsFunc(out.Tenants, func(have snapshot.Tenant) bool { return have.ID == t.ID })
		if !served && slices.Contains(used, t.ID) {
			out.Tenants = append(out.Tenants, snapshot.Tenant{
				ID:            t.ID,
				Name:          t.Name,
				FallbackOwner: t.FallbackOwner,
				Detached:      true,
			})
			if at := t.UpdatedAt.UTC(); at.After(out.RevisedAt) { // its changes revise only projects that serve it
				out.RevisedAt = at
			}
		}
	}
	slices.SortFunc(out.Tenants, func(a, b snapshot.Tenant) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func readTeam(tx *models.Tx, row models.Project, out *snapshot.Project) error {
	team, err := tx.TeamByID(row.TeamID)
	if err == nil && team.ClaimedAt == nil && team.ExpiresAt != nil {
		out.ExpiresAt = team.ExpiresAt.UTC()
	}
	return err
}

func readProduct(tx *models.Tx, row models.Project, out *snapshot.Project) error {
	if row.ProductID == nil {
		return nil
	}
	product, err := tx.ProductByID(*row.ProductID)
	out.ProductID, out.Product = product.ID, product.Name
	return err
}

func readRevision(tx *models.Tx, row models.Project, out *snapshot.Project) error {
	revision, err := tx.RevisionOf(row.ID)
	out.Revision, out.RevisedAt = revision.ID, revision.CreatedAt.UTC()
	return err
}

func readVersions(tx *models.Tx, row models.Project, out *snapshot.Project) error {
	environments, err := tx.EnvironmentsOf(row.ID)
	if err != nil {
		return err
	}
	versions, err := tx.VersionsOf(row.ID)
	for _, v := range versions {
		version := snapshot.Version{
			ID:   v.ID,
			Name: v.Name,
			Access: snapshot.Access{
				Mode:    snapshot.Mode(v.AuthMode),
				Keyless: snapshot.Keyless(v.Keyless),
				Issuers: issuersOf(v.TokenIssuers),
				Opaque:  introspectionOf(v),
				IP:      snapshot.IPRules{Allow: v.IPAllow, Deny: v.IPDeny},
			},
		}
		for _, method := range v.AuthMethods {
			version.Access.Methods = append(version.Access.Methods, snapshot.Method(method))
		}
		for _, e := range environments {
			if e.VersionID == v.ID {
				version.Environments = append(version.Environments, snapshot.Environment{
					ID:     e.ID,
					Name:   e.Name,
					Target: e.Target,
				})
			}
		}
		out.Versions = append(out.Versions, version)
	}
	return err
}

func readKeyTypes(tx *models.Tx, row models.Project, out *snapshot.Project) error {
	types, err := tx.KeyTypesOf(row.ID)
	for _, t := range types {
		out.KeyTypes = append(out.KeyTypes, snapshot.KeyType{ID: t.ID, Name: t.Name, Scopes: t.Scopes,
			ExpiresIn: time.Duration(t.ExpiresIn) * time.Second, Limits: keys.Limits(t.Limits), BuiltIn: t.BuiltIn})
	}
	return err
}

func readTenants(tx *models.Tx, row models.Project, out *snapshot.Project) error {
	tenants, err := tx.TenantsOf(row.ID)
	for _, t := range tenants {
		out.Tenants = append(out.Tenants, snapshot.Tenant{ID: t.ID, Name: t.Name, FallbackOwner: t.FallbackOwner})
	}
	return err
}
