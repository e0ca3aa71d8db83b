package products

import (
	"net/http"
	"net/url"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/views/products"
	"postern/views/projects"
	"postern/views/ui"
)

const productsPath = "/products"

func productPath(id string) string { return productsPath + "/" + url.PathEscape(id) }

// productIn is the product in the page's URL.
func productIn(v *page.Visit) contract.ProductPath {
	return contract.ProductPath{Product: v.Param("product")}
}

func (h *Handler) showProducts(v *page.Visit) (web.Answer, error) {
	return h.productListWith(v, contract.NewProduct{}, &page.Errors{})
}

// productListWith is the chosen team's list with the form as it was typed.
func (h *Handler) productListWith(v *page.Visit, typed contract.NewProduct, wrong *page.Errors) (web.Answer, error) {
	v.SelectTeam(typed.Team)
	list := page.GroupingList(productsPath, "product").Read(v)
	found, err := h.Projects.Products(v.Ctx(), v.Who, list.OfTeam(v.Who.HomeTeam))
	if err != nil {
		return web.Answer{}, err
	}
	m := products.List{
		Page: v.Shell("Products", productsPath, ui.Crumb{Text: "Products"}),
		List: page.ListView(list, found),
	}
	for _, p := range found.Items {
		m.Rows = append(m.Rows, products.Row{
			URL:         productPath(p.ID),
			Name:        p.Name,
			DisplayName: p.DisplayName,
			Created:     p.CreatedAt,
			Projects:    page.ProjectLinks(p.Projects),
		})
	}
	if v.Who.May(v.Who.HomeTeam, access.ProductCreate) {
		m.Create = &products.Create{
			Open:        wrong.Status != 0,
			Action:      productsPath,
			Team:        v.Who.HomeTeam,
			Name:        wrong.Value("/name", typed.Name),
			DisplayName: wrong.Value("/display_name", typed.DisplayName),
		}
		m.Create.Error = wrong.Rest()
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: products.ListPage(m)}, nil
}

func (h *Handler) createProduct(v *page.Visit) (web.Answer, error) {
	var typed contract.NewProduct
	v.Fill(&typed, "team", "name", "display_name")
	made, err := h.Projects.CreateProduct(v.Ctx(), v.Who, contract.ProductCreation{Body: typed})
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.productListWith(v, typed, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("product_made", productPath(made.ID), made.DisplayName)
}

func (h *Handler) showProduct(v *page.Visit) (web.Answer, error) {
	m, err := h.productPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(products.ProductPage(m)), nil
}

func productsCrumb() ui.Crumb { return ui.Crumb{Text: "Products", URL: productsPath} }

// productModel is a product's page.
func productModel(v *page.Visit, p contract.Product) products.Product {
	v.SelectTeam(p.Team)
	path := productPath(p.ID)
	m := products.Product{
		Page:        v.Shell(p.DisplayName, path, productsCrumb(), ui.Crumb{Text: p.DisplayName}),
		Name:        p.Name,
		DisplayName: p.DisplayName,
		Facts: []ui.Fact{
			{Label: "Name", Value: p.Name, Mono: true},
			{Label: "ID", Value: p.ID, Mono: true, Copy: "product-id"},
			{Label: "Created", Time: p.CreatedAt},
		},
		Projects: page.ProjectLinks(p.Projects),
	}
	if v.Who.May(p.Team, access.ProductUpdate) {
		m.Rename = &products.Rename{Action: path, Revision: p.ETag, DisplayName: ui.Value{Text: p.DisplayName}}
	}
	return m
}

func (h *Handler) renameProduct(v *page.Visit) (web.Answer, error) {
	in := contract.ProductUpdate{ProductPath: productIn(v), Condition: v.Condition()}
	v.Fill(&in.Body, "display_name")
	p, err := h.Projects.UpdateProduct(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("settings", productPath(p.ID), p.DisplayName)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.productConflict(v, *in.Body.DisplayName)
	}
	return h.refusedProduct(v, err, access.ProductUpdate, func(m *products.Product, wrong *page.Errors) {
		if m.Rename != nil {
			m.Rename.Revision = in.IfMatch
			m.Rename.DisplayName = wrong.Value("/display_name", *in.Body.DisplayName)
			m.Rename.Error = wrong.Rest()
		}
	})
}

// refusedProduct shows the product's page with what mark adds to it, to visitors with the
// permission for the action.
func (h *Handler) refusedProduct(
	v *page.Visit, err error, action access.Action, mark func(*products.Product, *page.Errors),
) (web.Answer, error) {
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, err := h.Projects.Product(v.Ctx(), v.Who, productIn(v))
	if err == nil {
		err = access.Check(v.Who, p.Team, action)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.productPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	mark(&m, wrong)
	return web.Answer{Status: wrong.Status, Page: products.ProductPage(m)}, nil
}

// productConflict shows what was saved since next to what was typed.
func (h *Handler) productConflict(v *page.Visit, mine string) (web.Answer, error) {
	p, err := h.Projects.Product(v.Ctx(), v.Who, productIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	path := productPath(p.ID)
	m := projects.Conflict{
		Page:    v.Shell("Changed since you opened this page", path, productsCrumb(), ui.Crumb{Text: p.DisplayName}),
		BackURL: path,
		Action:  path,
		What:    "The product " + p.Name,
		Rows:    []projects.Difference{{Label: "Display name", Theirs: p.DisplayName, Yours: mine}},
		Hidden:  []projects.Pair{{Name: "revision", Value: p.ETag}, {Name: "display_name", Value: mine}},
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

// productPage is a product's page with the form that deletes it.
func (h *Handler) productPage(v *page.Visit) (products.Product, error) {
	p, d, err := h.Projects.ProductAndDeletion(v.Ctx(), v.Who, productIn(v))
	if err != nil {
		return products.Product{}, err
	}
	m := productModel(v, p)
	action := productPath(p.ID) + "/delete"
	if !v.Who.May(p.Team, access.ProductDelete) {
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
		m.Delete.Facts = []ui.Fact{
			page.CountFact("Projects", int64(len(p.Projects))),
			page.KeysFact(d.Keys, d.ActiveKeys),
		}
		callers, err := h.Projects.CallersOfProduct(v.Ctx(), v.Who, p.ID)
		m.Delete.Impact = append(v.Figure(page.CallersText(callers), err),
			"The product's keys will be revoked. The projects won't be deleted, but will no longer have a product.")
	}
	return m, nil
}

func (h *Handler) deleteProduct(v *page.Visit) (web.Answer, error) {
	typed := v.Posted("typed_name")
	p, err := h.Projects.Product(v.Ctx(), v.Who, productIn(v))
	if err == nil && typed == "" {
		err = v.Confirmed("Check the box, or type the product's name, to delete the product.")
	}
	if err == nil {
		_, err = h.Projects.DeleteProduct(v.Ctx(), v.Who, contract.ProductRemoval{
			ProductPath: p.Path(), Confirm: typed,
		})
	}
	if err == nil {
		return v.Done("product_gone", productsPath, p.DisplayName)
	}
	return h.refusedProduct(v, err, access.ProductDelete, func(m *products.Product, wrong *page.Errors) {
		v.Mark(m.Delete, wrong)
	})
}
