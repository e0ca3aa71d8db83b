package pages

import (
	"net/http"
	"net/url"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/views/products"
	"postern/views/projects"
	"postern/views/ui"
)

const productsPath = "/products"

func productPath(id string) string { return productsPath + "/" + url.PathEscape(id) }

// productIn is the product in the page's address.
func productIn(v *visit) contract.ProductPath {
	return contract.ProductPath{Product: v.param("product")}
}

func (h *Handler) showProducts(v *visit) (web.Answer, error) {
	return h.productListWith(v, contract.NewProduct{}, &formErrors{})
}

// productListWith is the chosen team's list with the form as it was typed.
func (h *Handler) productListWith(v *visit, typed contract.NewProduct, wrong *formErrors) (web.Answer, error) {
	v.selectTeam(typed.Team)
	list := groupingList(productsPath, "product").read(v)
	found, err := h.Projects.Products(v.ctx(), v.who, list.ofTeam(v.who.HomeTeam))
	if err != nil {
		return web.Answer{}, err
	}
	m := products.List{
		Page: v.shell("Products", productsPath, ui.Crumb{Text: "Products"}),
		List: listView(list, found),
	}
	for _, p := range found.Items {
		m.Rows = append(m.Rows, products.Row{
			URL:         productPath(p.ID),
			Name:        p.Name,
			DisplayName: p.DisplayName,
			Created:     day(p.CreatedAt),
			Projects:    projectLinks(p.Projects),
		})
	}
	if v.who.May(v.who.HomeTeam, access.ProductCreate) {
		m.Create = &products.Create{
			Open:        wrong.status != 0,
			Action:      productsPath,
			Team:        v.who.HomeTeam,
			Name:        wrong.value("/name", typed.Name),
			DisplayName: wrong.value("/display_name", typed.DisplayName),
		}
		m.Create.Error = wrong.rest()
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: products.ListPage(m)}, nil
}

func (h *Handler) createProduct(v *visit) (web.Answer, error) {
	var typed contract.NewProduct
	v.fill(&typed, "team", "name", "display_name")
	made, err := h.Projects.CreateProduct(v.ctx(), v.who, contract.ProductCreation{Body: typed})
	if wrong, ok := formErrorsIn(err); ok {
		return h.productListWith(v, typed, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("product_made", productPath(made.ID), made.DisplayName)
}

func (h *Handler) showProduct(v *visit) (web.Answer, error) {
	m, err := h.productPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(products.ProductPage(m)), nil
}

func productsCrumb() ui.Crumb { return ui.Crumb{Text: "Products", URL: productsPath} }

// productModel is a product's page.
func (v *visit) productModel(p contract.Product) products.Product {
	v.selectTeam(p.Team)
	path := productPath(p.ID)
	m := products.Product{
		Page:        v.shell(p.DisplayName, path, productsCrumb(), ui.Crumb{Text: p.DisplayName}),
		Name:        p.Name,
		DisplayName: p.DisplayName,
		Facts: []ui.Fact{
			{Label: "Name", Value: p.Name, Mono: true},
			{Label: "ID", Value: p.ID, Mono: true, Copy: "product-id"},
			{Label: "Created", Value: moment(p.CreatedAt)},
		},
		Projects: projectLinks(p.Projects),
	}
	if v.who.May(p.Team, access.ProductUpdate) {
		m.Rename = &products.Rename{Action: path, Revision: p.ETag, DisplayName: ui.Value{Text: p.DisplayName}}
	}
	return m
}

func (h *Handler) renameProduct(v *visit) (web.Answer, error) {
	in := contract.ProductUpdate{ProductPath: productIn(v), Condition: v.condition()}
	v.fill(&in.Body, "display_name")
	p, err := h.Projects.UpdateProduct(v.ctx(), v.who, in)
	if err == nil {
		return v.done("settings", productPath(p.ID), p.DisplayName)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.productConflict(v, *in.Body.DisplayName)
	}
	return h.refusedProduct(v, err, access.ProductUpdate, func(m *products.Product, wrong *formErrors) {
		if m.Rename != nil {
			m.Rename.Revision = in.IfMatch
			m.Rename.DisplayName = wrong.value("/display_name", *in.Body.DisplayName)
			m.Rename.Error = wrong.rest()
		}
	})
}

// refusedProduct shows the product's page with what mark adds to it, to visitors with the
// permission for the action.
func (h *Handler) refusedProduct(
	v *visit, err error, action access.Action, mark func(*products.Product, *formErrors),
) (web.Answer, error) {
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, err := h.Projects.Product(v.ctx(), v.who, productIn(v))
	if err == nil {
		err = access.Check(v.who, p.Team, action)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.productPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	mark(&m, wrong)
	return web.Answer{Status: wrong.status, Page: products.ProductPage(m)}, nil
}

// productConflict shows what was saved meanwhile beside what was typed.
func (h *Handler) productConflict(v *visit, mine string) (web.Answer, error) {
	p, err := h.Projects.Product(v.ctx(), v.who, productIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	path := productPath(p.ID)
	m := projects.Conflict{
		Page:    v.shell("Changed since you opened it", path, productsCrumb(), ui.Crumb{Text: p.DisplayName}),
		BackURL: path,
		Action:  path,
		What:    "The product " + p.Name,
		Rows:    []projects.Difference{{Label: "Display name", Theirs: p.DisplayName, Yours: mine}},
		Hidden:  []projects.Pair{{Name: "revision", Value: p.ETag}, {Name: "display_name", Value: mine}},
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

// productPage is a product's page with the form that deletes it.
func (h *Handler) productPage(v *visit) (products.Product, error) {
	p, d, err := h.Projects.ProductAndDeletion(v.ctx(), v.who, productIn(v))
	if err != nil {
		return products.Product{}, err
	}
	m := v.productModel(p)
	action := productPath(p.ID) + "/delete"
	if !v.who.May(p.Team, access.ProductDelete) {
		return m, nil
	}
	m.Delete = &ui.Confirmation{
		ID:     "delete-confirm",
		Action: action,
		Verb:   "Delete",
		Kind:   "product",
		Name:   p.DisplayName,
		Impact: []string{"It has no projects."},
	}
	if len(p.Projects) > 0 || d.ActiveKeys > 0 {
		m.Delete.ID, m.Delete.Type = "erase-confirm", p.Name
		m.Delete.Facts = []ui.Fact{countFact("Projects", int64(len(p.Projects))), keysFact(d.Keys, d.ActiveKeys)}
		callers, err := h.Projects.CallersOfProduct(v.ctx(), v.who, p.ID)
		m.Delete.Impact = append(v.figure(callersText(callers), err),
			"The keys, which are valid for all of its projects, are revoked. The projects stay, without a product.")
	}
	return m, nil
}

func (h *Handler) deleteProduct(v *visit) (web.Answer, error) {
	typed := v.posted("typed_name")
	p, err := h.Projects.Product(v.ctx(), v.who, productIn(v))
	if err == nil && typed == "" {
		err = v.confirmed("Tick the box, or type the product's name, to delete the product.")
	}
	if err == nil {
		_, err = h.Projects.DeleteProduct(v.ctx(), v.who, contract.ProductRemoval{
			ProductPath: p.Path(), Confirm: typed,
		})
	}
	if err == nil {
		return v.done("product_gone", productsPath, p.DisplayName)
	}
	return h.refusedProduct(v, err, access.ProductDelete, func(m *products.Product, wrong *formErrors) {
		v.mark(m.Delete, wrong)
	})
}
