package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

const keyImportURL = "/projects/shop/keys/import"

func keyImport() projects.KeyImport {
	return projects.KeyImport{
		Page: in("Import keys", keyImportURL, "Shop", "Keys", "Import"),
		Form: &projects.KeyImportForm{
			Action: keyImportURL,
			Types:  []ui.Option{{Title: "None (refuse these rows)", Chosen: true}, {Value: "full", Title: "full"}},
		},
		Check:   &projects.KeyCheck{Action: "/projects/shop/keys/check"},
		BackURL: "/projects/shop/keys",
	}
}

func keyImportViewer() projects.KeyImport {
	m := keyImport()
	m.Form, m.Check = nil, nil
	return m
}

func keyImportWrong() projects.KeyImport {
	m := keyImport()
	m.Form.Mapping = ui.Value{Text: "apiKey=key\nUser ID", Error: "Use the form column=field, such as apiKey=key."}
	m.Form.Error, m.Form.FileError = "No field matches apiKey. Map it, for example apiKey=key.", "Choose a file."
	m.Check.Error = "Enter a key."
	return m
}

func keyImportDone() projects.KeyImport {
	m := keyImport()
	m.Check.NoMatch = true
	m.Done = &projects.KeysImported{
		DryRun: true,
		Facts:  []ui.Fact{{Label: "File format", Value: "Kong"}, {Label: "To create", Value: "1,204"}},
		Notes:  []string{"12 rows from row 3: Some times have no time zone. They were interpreted as UTC."},
		Rows: []projects.KeyImportRow{
			{Row: 2, Owner: "billing-service", Name: "Invoices", Result: "created"},
			{Row: 3, Owner: "a-customer-with-a-name-that-is-as-long-as-they-can-be@example.com", Result: "refused"},
		},
		Errors: []projects.KeyImportError{{
			Row: 3, Rows: 1, Column: "properties.primaryKeyOfTheSubscription",
			Detail: "The key has fewer than 16 characters.",
		}, {
			Row: 4, Rows: 311, Column: "key_type", Detail: "The row has no scopes or key type.",
		}},
		MoreErrors: true,
	}
	return m
}

func keyImportMatch() projects.KeyImport {
	m := keyImport()
	m.Check.Match = &projects.KeyRow{ID: "key_01", Owner: "billing-service", URL: "/projects/shop/keys/key_01"}
	return m
}
