package pages

import (
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/models"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func (h *Handler) productSection(v *page.Visit, p rules.Project) (projects.Product, error) {
	m := projects.Product{Action: page.ProjectPath(p.Name) + "/product", Revision: p.SettingsETag,
		Choices: []ui.Option{{Title: "None", Chosen: p.Product == nil}}}
	found, err := h.productsOf(v, p.Team)
	if err != nil {
		return m, err
	}
	for _, product := range found {
		m.Choices = append(m.Choices, ui.Option{
			Value:  product.Name,
			Title:  product.Name,
			Chosen: product.Name == page.ProductOf(p),
		})
	}
	return m, nil
}

// productsOf lists all products of one team.
func (h *Handler) productsOf(v *page.Visit, team string) ([]contract.Product, error) {
	return models.AllPages(func(page models.Page) (models.List[contract.Product], error) {
		return h.Projects.Products(v.Ctx(), v.Who, contract.TeamList{
			Page: contract.Page{Cursor: page.Cursor, Limit: page.Limit}, Team: team,
		})
	})
}

type productForm struct{ revision, product, fresh string }

// saveProduct creates the product first if the form names a new one. If the project cannot
// join it after that, the form offers it among the others.
func (h *Handler) saveProduct(v *page.Visit) (web.Answer, error) {
	form := productForm{
		revision: v.Posted("revision"),
		product:  v.Posted("in_product"),
		fresh:    strings.TrimSpace(v.Posted("new_product")),
	}
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	if form.fresh != "" {
		if _, err = h.Projects.CreateProduct(v.Ctx(), v.Who, contract.ProductCreation{
			Body: contract.NewProduct{Team: p.Team, Name: form.fresh},
		}); err != nil {
			return h.saved(v, err, "", "", form)
		}
		form.product, form.fresh = form.fresh, ""
	}
	in := contract.ProjectUpdate{ProjectPath: p.Path(), Condition: v.Condition()}
	if in.Body.Product = contract.Null[string](); form.product != "" {
		in.Body.Product = contract.Sent(form.product)
	}
	_, err = h.Projects.Update(v.Ctx(), v.Who, in)
	return h.saved(v, err, "product", v.Param("project"), form)
}

func (productForm) page() *configuredPage { return settingsPage }

func (f productForm) mark(m *projects.Configure, wrong *page.Errors) {
	m.Product.Revision = f.revision
	for i := range m.Product.Choices {
		m.Product.Choices[i].Chosen = m.Product.Choices[i].Value == f.product
	}
	m.Product.New = wrong.Value("/name", f.fresh)
	m.Product.Choice = wrong.Take("/product")
	m.Product.Error = wrong.Rest()
}

func (f productForm) compare(m *projects.Conflict, p rules.Project) error {
	m.What, m.Action = "The product or another setting", page.ProjectPath(p.Name)+"/product"
	m.Rows = []projects.Difference{
		{Label: "Product", Yours: page.TextOrNone(f.product), Theirs: page.TextOrNone(page.ProductOf(p))},
	}
	m.Hidden = []projects.Pair{{Name: "revision", Value: p.SettingsETag}, {Name: "in_product", Value: f.product}}
	return nil
}
