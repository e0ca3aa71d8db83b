package projects

import (
	"context"
	"fmt"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Product is a team's grouping of projects. A key of a product opens all projects
// in it.
type Product struct {
	ID          string
	Team        string `audit:"-"` // id
	Name        string
	DisplayName string
	Projects    []string // names
	ETag        string   `audit:"-"`
	CreatedAt   time.Time
}

// Products lists the products of the principal's teams, oldest first, or of one of
// them.
func (s *Service) Products(
	ctx context.Context, p access.Principal, team string, page models.Page,
) (models.List[Product], error) {
	teams, err := listedTeams(p, access.ProductRead, team)
	if err != nil {
		return models.List[Product]{}, fmt.Errorf("projects: list products: %w", err)
	}
	tx := s.DB.Read(ctx)
	rows, err := tx.ProductsOfTeams(teams, page)
	if err != nil {
		return models.List[Product]{}, fmt.Errorf("projects: list products: %w", err)
	}
	list, err := viewProducts(tx, rows.Items...)
	if err != nil {
		return models.List[Product]{}, fmt.Errorf("projects: list products: %w", err)
	}
	return models.List[Product]{Items: list, Next: rows.Next, Total: rows.Total}, nil
}

// Product finds a product by its id, or by its name in one of the principal's teams.
func (s *Service) Product(ctx context.Context, p access.Principal, ref string) (Product, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Product(tx, p, ref, access.ProductRead)
	if err != nil {
		return Product{}, fmt.Errorf("projects: get product %s: %w", ref, err)
	}
	return viewProduct(tx, row)
}

// ProductInput is what CreateProduct takes.
type ProductInput struct {
	Team        string // id; the principal's home team when empty
	Name        string
	DisplayName string // the name when empty
}

// CreateProduct creates a product in a team of the principal's.
func (s *Service) CreateProduct(ctx context.Context, p access.Principal, in ProductInput) (Product, error) {
	var out Product
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
		out, err = viewProduct(tx, row)
		return err
	})
	if err != nil {
		return Product{}, fmt.Errorf("projects: create product %s: %w", in.Name, err)
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
	after, err := viewProduct(tx, row)
	if err != nil {
		return row, made, err
	}
	return row, made, access.Record(tx, p, access.Entry{
		Action: access.ProductCreate,
		Object: row.ID,
		Team:   team,
		Detail: map[string]string{"name": name},
		After:  after,
	})
}

// UpdateProduct changes a product's display name. Names cannot change, because keys and
// exports refer to them. With ifMatch not empty the change is refused as stale unless that
// is still the product's ETag.
func (s *Service) UpdateProduct(
	ctx context.Context, p access.Principal, ref, ifMatch, displayName string,
) (Product, error) {
	var out Product
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := access.Product(tx, p, ref, access.ProductUpdate)
		if err != nil {
			return err
		}
		if err := access.Unchanged(ifMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		if err := fault.InvalidFields(checkDisplayName(displayName)); err != nil {
			return err
		}
		before, err := viewProduct(tx, row)
		if err != nil {
			return err
		}
		seen := row.UpdatedAt
		row.DisplayName, row.UpdatedAt = displayName, models.Now()
		if err := written(tx.UpdateProduct(row, seen)); err != nil {
			return err
		}
		if out, err = viewProduct(tx, row); err != nil {
			return err
		}
		return access.Record(tx, p, access.Entry{
			Action: access.ProductUpdate,
			Object: row.ID,
			Team:   row.TeamID,
			Detail: map[string]string{"name": row.Name},
			Before: before,
			After:  out,
		})
	})
	if err != nil {
		return Product{}, fmt.Errorf("projects: change product %s: %w", ref, err)
	}
	return out, nil
}

func viewProduct(tx *models.Tx, row models.Product) (Product, error) {
	list, err := viewProducts(tx, row)
	if err != nil {
		return Product{}, err
	}
	return list[0], nil
}

func viewProducts(tx *models.Tx, rows ...models.Product) ([]Product, error) {
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
	out := make([]Product, 0, len(rows))
	for _, row := range rows {
		out = append(out, viewProductOf(row, names[row.ID]))
	}
	return out, nil
}

func viewProductOf(row models.Product, projects []string) Product {
	out := Product{
		ID:          row.ID,
		Team:        row.TeamID,
		Name:        row.Name,
		DisplayName: row.DisplayName,
		ETag:        access.ETag(row.UpdatedAt),
		CreatedAt:   row.CreatedAt,
	}
	if out.DisplayName == "" {
		out.DisplayName = row.Name
	}
	out.Projects = projects
	return out
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
		Public: fmt.Sprintf("The team has a %s %q already.", what, name),
		Fields: []fault.Field{{
			Pointer: "/name",
			Code:    "name_taken",
			Detail:  "Choose another name, or use the one that exists.",
		}},
	}
}
