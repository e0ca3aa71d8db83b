package pages

import (
	"strings"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func (h *Handler) productSection(v *visit, p rules.Project) (projects.Product, error) {
	m := projects.Product{Action: projectPath(p.Name) + "/product", Revision: p.SettingsETag,
		Choices: []ui.Option{{Title: "None", Chosen: p.Product == nil}}}
	found, err := h.productsOf(v, p.Team)
	if err != nil {
		return m, err
	}
	for _, product := range found {
		m.Choices = append(m.Choices, ui.Option{
			Value:  product.Name,
			Title:  product.Name,
			Chosen: product.Name == productOf(p),
		})
	}
	return m, nil
}

// productOf returns the name of the project's product, "" for none.
func productOf(p rules.Project) string {
	if p.Product == nil {
		return ""
	}
	return *p.Product
}

// productsOf lists all products of one team.
func (h *Handler) productsOf(v *visit, team string) ([]contract.Product, error) {
	return models.AllPages(func(page models.Page) (models.List[contract.Product], error) {
		return h.Projects.Products(v.ctx(), v.who, contract.TeamList{
			Page: contract.Page{Cursor: page.Cursor, Limit: page.Limit}, Team: team,
		})
	})
}

type productForm struct{ revision, product, fresh string }

// saveProduct creates the product first if the form names a new one. If the project cannot
// join it after that, the form offers it among the others.
func (h *Handler) saveProduct(v *visit) (web.Answer, error) {
	form := productForm{
		revision: v.posted("revision"),
		product:  v.posted("in_product"),
		fresh:    strings.TrimSpace(v.posted("new_product")),
	}
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	if form.fresh != "" {
		if _, err = h.Projects.CreateProduct(v.ctx(), v.who, contract.ProductCreation{
			Body: contract.NewProduct{Team: p.Team, Name: form.fresh},
		}); err != nil {
			return h.saved(v, err, "", "", form)
		}
		form.product, form.fresh = form.fresh, ""
	}
	in := contract.ProjectUpdate{ProjectPath: p.Path(), Condition: v.condition()}
	if in.Body.Product = contract.Null[string](); form.product != "" {
		in.Body.Product = contract.Sent(form.product)
	}
	_, err = h.Projects.Update(v.ctx(), v.who, in)
	return h.saved(v, err, "product", v.param("project"), form)
}

func (productForm) page() *configuredPage { return settingsPage }

func (f productForm) mark(m *projects.Configure, wrong *formErrors) {
	m.Product.Revision = f.revision
	for i := range m.Product.Choices {
		m.Product.Choices[i].Chosen = m.Product.Choices[i].Value == f.product
	}
	m.Product.New = wrong.value("/name", f.fresh)
	m.Product.Choice = wrong.take("/product")
	m.Product.Error = wrong.rest()
}

func (f productForm) compare(m *projects.Conflict, p rules.Project) error {
	m.What, m.Action = "The product or another setting", projectPath(p.Name)+"/product"
	m.Rows = []projects.Difference{{Label: "Product", Yours: textOrNone(f.product), Theirs: textOrNone(productOf(p))}}
	m.Hidden = []projects.Pair{{Name: "revision", Value: p.SettingsETag}, {Name: "in_product", Value: f.product}}
	return nil
}
