package models

import "time"

// Product is a row of products: a team's grouping of projects.
type Product struct {
	ID          string `gorm:"primaryKey"`
	TeamID      string
	Name        string
	DisplayName string
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// ProductByID finds a product.
func (t *Tx) ProductByID(id string) (Product, error) {
	var one Product
	return one, t.db.Where("id = ?", id).Take(&one).Error
}

// ProductByName finds a team's product.
func (t *Tx) ProductByName(teamID, name string) (Product, error) {
	var one Product
	return one, t.db.Where("team_id = ? AND name = ?", teamID, name).Take(&one).Error
}

// ProductsOfTeam lists a team's products by name.
func (t *Tx) ProductsOfTeam(teamID string) ([]Product, error) {
	var list []Product
	return list, t.db.Where("team_id = ?", teamID).Order("name").Find(&list).Error
}

// ProjectsOfProduct lists a product's projects by name.
func (t *Tx) ProjectsOfProduct(productID string) ([]Project, error) {
	var list []Project
	return list, t.db.Where("product_id = ?", productID).Order("name").Find(&list).Error
}
