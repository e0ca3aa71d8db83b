package projects

import (
	"cmp"
	"context"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Products lists the products of the principal's teams, oldest first, or of one of
// them.
func (s *Service) Products(
	ctx context.Context, p access.Principal, in contract.TeamList,
) (models.List[contract.Product], error) {
	var none models.List[contract.Product]
	teams, err := listedTeams(p, access.ProductRead, in.Team)
	if err != nil {
		return none, fmt.Errorf("projects: list products: %w", err)
	}
	tx := s.DB.Read(ctx)
	rows, err := tx.ProductsOfTeams(teams, models.PageOf(in.Page, in.Sort, in.Text))
	if err != nil {
		return none, fmt.Errorf("projects: list products: %w", err)
	}
	list, err := shownProducts(tx, rows.Items...)
	if err != nil {
		return none, fmt.Errorf("projects: list products: %w", err)
	}
	return models.List[contract.Product]{Items: list, Next: rows.Next, Total: rows.Total}, nil
}

// Product finds a product by its id, or by its name in one of the principal's teams.
func (s *Service) Product(
	ctx context.Context, p access.Principal, in contract.ProductPath,
) (contract.Product, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Product(tx, p, in.Product, access.ProductRead)
	if err != nil {
		return contract.Product{}, fmt.Errorf("projects: get product %s: %w", in.Product, err)
	}
	return productNow(tx, row)
}

// CreateProduct creates a product in a team of the principal's.
func (s *Service) CreateProduct(
	ctx context.Context, p access.Principal, request contract.ProductCreation,
) (contract.Product, error) {
	in := request.Body
	var out contract.Product
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		team, err := teamFor(p, in.Team, access.ProductCreate)
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(checkNames(in.Name, in.DisplayName)); err != nil {
			return err
		}
		if err := access.CheckQuota(tx, team, models.QuotaProducts); err != nil {
			return err
		}
		row, made, err := ensureProduct(tx, p, team, in.Name, in.DisplayName)
		if err != nil {
			return err
		}
		if !made {
			return taken("product", in.Name)
		}
		out, err = productNow(tx, row)
		return err
	})
	if err != nil {
		return contract.Product{}, fmt.Errorf("projects: create product %s: %w", in.Name, err)
	}
	return out, nil
}

// ensureProduct finds the team's product of that name, or creates it with its audit entry.
func ensureProduct(tx *models.Tx, p access.Principal, team, name, displayName string) (models.Product, bool, error) {
	now := models.Now()
	row, made, err := tx.EnsureProduct(models.Product{
		ID:          models.NewID("prd"),
		TeamID:      team,
		Name:        name,
		DisplayName: displayName,
		CreatedAt:   now,
		UpdatedAt:   now,
	})
	if err != nil || !made {
		return row, made, err
	}
	after, err := productNow(tx, row)
	if err != nil {
		return row, made, err
	}
	return row, made, access.Record(tx, p, access.Entry{
		Action: access.ProductCreate,
		Object: row.ID,
		Team:   team,
		Name:   name,
		After:  after,
	})
}

// UpdateProduct changes a product's display name. Names cannot change, because keys and
// exports refer to them. With ifMatch not empty the change is refused as stale unless that
// is still the product's ETag.
func (s *Service) UpdateProduct(
	ctx context.Context, p access.Principal, in contract.ProductUpdate,
) (contract.Product, error) {
	var out contract.Product
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := access.Product(tx, p, in.Product, access.ProductUpdate)
		if err != nil {
			return err
		}
		if err := access.Unchanged(in.IfMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		before, err := productNow(tx, row)
		if err != nil {
			return err
		}
		seen := row.UpdatedAt
		if in.Body.DisplayName != nil {
			row.DisplayName = *in.Body.DisplayName
		}
		if err := fault.InvalidFields(checkDisplayName(row.DisplayName)); err != nil {
			return err
		}
		row.UpdatedAt = models.Now()
		if err := orStale(tx.UpdateProduct(row, seen)); err != nil {
			return err
		}
		if out, err = productNow(tx, row); err != nil {
			return err
		}
		return access.Record(tx, p, access.Entry{
			Action: access.ProductUpdate,
			Object: row.ID,
			Team:   row.TeamID,
			Name:   row.Name,
			Before: before,
			After:  out,
		})
	})
	if err != nil {
		return contract.Product{}, fmt.Errorf("projects: change product %s: %w", in.Product, err)
	}
	return out, nil
}

func productNow(tx *models.Tx, row models.Product) (contract.Product, error) {
	list, err := shownProducts(tx, row)
	if err != nil {
		return contract.Product{}, err
	}
	return list[0], nil
}

func shownProducts(tx *models.Tx, rows ...models.Product) ([]contract.Product, error) {
	ids := make([]string, 0, len(rows))
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	projects, err := tx.ProjectsOfProduct(ids...)
	if err != nil {
		return nil, err
	}
	names := map[string][]string{}
	for _, project := range projects {
		names[*project.ProductID] = append(names[*project.ProductID], project.Name)
	}
	out := make([]contract.Product, 0, len(rows))
	for _, row := range rows {
		out = append(out, shownProduct(row, names[row.ID]))
	}
	return out, nil
}

func shownProduct(row models.Product, projects []string) contract.Product {
	return contract.Product{
		ID:          row.ID,
		Team:        row.TeamID,
		Name:        row.Name,
		DisplayName: cmp.Or(row.DisplayName, row.Name),
		Projects:    projects,
		ETag:        access.ETag(row.UpdatedAt),
		CreatedAt:   row.CreatedAt.UTC(),
	}
}

func checkNames(name, displayName string) []fault.Field {
	var wrong []fault.Field
	if !ValidName(name) {
		wrong = append(wrong, nameFault("/name"))
	}
	return append(wrong, checkDisplayName(displayName)...)
}

func taken(what, name string) error {
	return &fault.Error{
		Kind:   fault.Conflict,
		Code:   "name_taken",
		Public: fmt.Sprintf("The team already has a %s %q.", what, name),
		Fields: []fault.Field{{
			Pointer: "/name",
			Code:    "name_taken",
			Detail:  "Choose another name, or use the existing one.",
		}},
	}
}
