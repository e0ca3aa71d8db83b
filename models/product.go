package models

import (
	"cmp"
	"time"

	"gorm.io/gorm/clause"
)

// Product is a row of products: a team's grouping of projects.
type Product struct {
	ID          string `gorm:"primaryKey"`
	TeamID      string
	Name        string
	DisplayName string
	CreatedAt   time.Time
	UpdatedAt   time.Time

	ImportedKeys bool // keys of the product were imported into one of its projects
}

// ProductByID finds a product.
func (t *Tx) ProductByID(id string) (Product, error) {
	var one Product
	return one, t.db.Where("id = ?", id).Take(&one).Error
}

// ProductsByID finds products. It leaves out IDs that don't exist.
func (t *Tx) ProductsByID(ids []string) ([]Product, error) {
	var list []Product
	return list, t.db.Where("id IN ?", ids).Find(&list).Error
}

// ProductNames maps the ids to the names of products.
func (t *Tx) ProductNames(ids []string) (map[string]string, error) {
	var list []Product
	if err := t.db.Select("id", "name").Where("id IN ?", ids).Find(&list).Error; err != nil {
		return nil, err
	}
	names := make(map[string]string, len(list))
	for _, one := range list {
		names[one.ID] = one.Name
	}
	return names, nil
}

// ProductByName finds a team's product.
func (t *Tx) ProductByName(teamID, name string) (Product, error) {
	var one Product
	return one, t.db.Where("team_id = ? AND name = ?", teamID, name).Take(&one).Error
}

// EnsureProduct returns the team's product with that name. If there is none, it inserts one and sets made to true.
func (t *Tx) EnsureProduct(one Product) (out Product, made bool, err error) {
	res := t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&one)
	if res.Error != nil {
		return out, false, res.Error
	}
	out, err = t.ProductByName(one.TeamID, one.Name)
	return out, res.RowsAffected == 1, err
}

// ProductsOfTeam lists a team's products by name.
func (t *Tx) ProductsOfTeam(teamID string) ([]Product, error) {
	var list []Product
	return list, t.db.Where("team_id = ?", teamID).Order("name").Find(&list).Error
}

// ProductsOfTeams lists the products of the teams, oldest first.
func (t *Tx) ProductsOfTeams(teamIDs []string, page Page) (List[Product], error) {
	q := t.db.Where("team_id IN ?", teamIDs)
	page = t.searching(page, "name", "display_name")
	id := func(row Product) string { return row.ID }
	if page.Sort == (Sort{}) {
		return ascending(q, page, "id", id)
	}
	return sorted(q, page, orders[Product]{
		"created": byID("id", id),
		"name":    byText(t, shownName, func(row Product) string { return cmp.Or(row.DisplayName, row.Name) }),
	}, "id", id)
}

// ProjectsOfProduct lists the projects of products by name.
func (t *Tx) ProjectsOfProduct(productIDs ...string) ([]Project, error) {
	var list []Project
	return list, t.db.Where("product_id IN ?", productIDs).Order("name").Find(&list).Error
}

// HomesOfProductKeys lists the projects in which a product's keys were created. They may have left the product since.
func (t *Tx) HomesOfProductKeys(productID string) ([]string, error) {
	var ids []string
	return ids, t.db.
		Model(&APIKey{}).
		Where("product_id = ?", productID).
		Distinct().
		Order("project_id").
		Pluck("project_id", &ids).Error
}

// UpdateProduct writes the changeable columns if the row still has the UpdatedAt
// that the caller saw. It returns false if another change came first.
func (t *Tx) UpdateProduct(one Product, seen time.Time) (bool, error) {
	res := t.db.
		Model(&Product{}).
		Where("id = ? AND updated_at = ?", one.ID, seen).
		Select("DisplayName", "UpdatedAt").
		UpdateColumns(&one)
	return res.RowsAffected == 1, res.Error
}

// DeleteProduct removes a product's row. It returns ErrReferenced if the product has projects. The product's keys stay
// as keys of their own projects.
func (t *Tx) DeleteProduct(id string) error {
	if err := t.db.Model(&APIKey{}).Where("product_id = ?", id).UpdateColumn("product_id", nil).Error; err != nil {
		return err
	}
	return t.db.Where("id = ?", id).Delete(&Product{}).Error
}

// MoveProduct moves a product to another team, with the given name.
func (t *Tx) MoveProduct(one Product) error {
	return t.db.
		Model(&Product{}).
		Where("id = ?", one.ID).
		Select("TeamID", "Name", "UpdatedAt").
		UpdateColumns(&one).Error
}

// MarkImportedKeys records that keys of any form may be valid in a project, and in all projects of a product unless
// that is nil. It returns the projects for which this is new.
func (t *Tx) MarkImportedKeys(projectID string, productID *string) (news []string, err error) {
	const unmarked = "id = ? AND NOT imported_keys"
	marked := t.db.Model(&Project{}).Where(unmarked, projectID).UpdateColumn("imported_keys", true)
	if marked.Error != nil {
		return nil, marked.Error
	}
	if marked.RowsAffected > 0 {
		news = append(news, projectID)
	}
	if productID == nil {
		return news, nil
	}
	marked = t.db.Model(&Product{}).Where(unmarked, *productID).UpdateColumn("imported_keys", true)
	if marked.Error != nil || marked.RowsAffected == 0 {
		return news, marked.Error
	}
	var others []string
	err = t.db.Model(&Project{}).Where("product_id = ? AND id <> ?", *productID, projectID).Pluck("id", &others).Error
	return append(news, others...), err
}
