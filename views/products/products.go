// Package products holds the pages about a team's products.
//
// It owns their list and the page of one; it does not own the choice of a
// project's product, which is among the project's settings (views/projects).
package products

import (
	"time"

	"postern/views/ui"
)

// List is every product of a team.
type List struct {
	Page   ui.Page
	Rows   []Row
	List   ui.List
	Create *Create // nil for who may not
}

// Row is one product in the list.
type Row struct {
	URL         string
	Name        string
	DisplayName string
	Created     time.Time
	Projects    []ui.Link
}

// Create posts team, name and display_name to Action.
type Create struct {
	Open        bool
	Action      string
	Team        string // id
	Name        ui.Value
	DisplayName ui.Value
	Error       string
}

// Product is the page of one product. What the viewer may not do is nil.
type Product struct {
	Page        ui.Page
	Name        string
	DisplayName string
	Facts       []ui.Fact
	Projects    []ui.Link
	Rename      *Rename
	Delete      *ui.Confirmation // nil for those who may not
}

// Rename posts revision and display_name to Action.
type Rename struct {
	Action      string
	Revision    string
	DisplayName ui.Value
	Error       string
}
