package views_test

import (
	"postern/core/contract"
	"postern/views/projects"
	"postern/views/ui"
)

// openAPIStates are the pages of a version's OpenAPI document.
func openAPIStates() []state {
	return []state{
		{"openapi", projects.OpenAPIPage(openAPIOfShop())},
		{"openapi-none", projects.OpenAPIPage(openAPINone())},
		{"openapi-wrong", projects.OpenAPIPage(openAPIWrong())},
		{"openapi-viewer", projects.OpenAPIPage(openAPIViewer())},
	}
}

func openAPINone() projects.OpenAPI {
	const path = "/projects/shop/versions/ver_1/openapi"
	return projects.OpenAPI{
		Page:    in("OpenAPI document for 1.0.0", path, "Shop", "OpenAPI document for 1.0.0"),
		Version: "1.0.0",
		URL:     path,
		Form:    &projects.OpenAPIForm{Action: path},
	}
}

func openAPIOfShop() projects.OpenAPI {
	m := openAPINone()
	m.Facts = []ui.Fact{
		{Label: "Title", Value: "Storefront API 2.1.0"},
		{Label: "OpenAPI", Value: "3.1.0"},
		{Label: "Operations", Value: "2"},
		{Label: "Server", Value: "https://api.example.com/a/path/that/is/much/longer/than/most/of/them", Mono: true},
	}
	m.Total = 2
	m.Warnings = []string{"An array has no items keyword, so it accepts any items: #/components/schemas/Order."}
	m.Paging = ui.Paging{
		Things:  "operations",
		Shown:   "1 to 2 of 3 operations",
		NextURL: m.URL + "?page=2#openapi-operations",
	}
	m.Groups = []projects.OperationGroup{
		{Tag: "Orders", Rows: []projects.OperationRow{{
			Method:  "GET",
			Path:    "/orders/{id}",
			Summary: "One order",
			Scopes:  "orders:read",
			URL:     "/projects/shop/versions/ver_1/openapi/operation?method=GET&path=/orders/{id}",
		}}},
		{Tag: "Untagged", Rows: []projects.OperationRow{{
			Method:     "DELETE",
			Path:       "/customers/{customer}/branches/{branch}/invoices/archived-and-closed/{invoice}",
			Summary:    "Remove an archived invoice and everything that belongs to it",
			Deprecated: true,
			URL:        "/projects/shop/versions/ver_1/openapi/operation?method=DELETE&path=/customers",
		}}},
	}
	m.Settings = &projects.OpenAPISettings{
		SavedOpenAPISettings: contract.SavedOpenAPISettings{OpenAPISettings: contract.OpenAPISettings{
			Validation: contract.ValidationReport, Publication: contract.PublicationCallers,
		}},
		Action:  "/projects/shop/versions/ver_1/openapi/settings",
		Address: "http://127.0.0.1:8090/shop/1.0.0/prod/openapi.json",
	}
	m.RulesURL = "/projects/shop/versions/ver_1/rules?proposed=true#change"
	m.Remove = &ui.Confirmation{
		Action: "/projects/shop/versions/ver_1/openapi/remove",
		ID:     "remove-openapi",
		Verb:   "Remove",
		Kind:   "document",
		Name:   "Storefront 1.0.0",
		Impact: []string{"Exports will contain a generated document again. Rules don't change."},
	}
	return m
}

func openAPIWrong() projects.OpenAPI {
	m := openAPINone()
	m.Form.URL = ui.Value{Text: "shop.yaml", Error: "Use the http or https URL of a document."}
	m.Form.Document = ui.Value{Text: `{"swagger": "1.2"}`, Error: "The field openapi is missing. Add the version, " +
		"such as \"openapi\": \"3.1.0\"."}
	return m
}

func openAPIViewer() projects.OpenAPI {
	m := openAPIOfShop()
	m.Form, m.Remove, m.RulesURL = nil, nil, ""
	return m
}
