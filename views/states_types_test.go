package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

func keyTypes() projects.KeyTypes {
	return projects.KeyTypes{
		Page:    in("Key types", "/projects/shop/key-types", "Shop", "Key types"),
		BackURL: "/projects/shop/keys",
		Create:  &projects.KeyTypeForm{Action: "/projects/shop/key-types", Windows: typeWindows()},
		Rows: []projects.KeyTypeRow{
			{
				Name:     "full",
				URL:      "/projects/shop/key-types/full",
				KeysURL:  "/projects/shop/keys?keys_type=full",
				Scopes:   "*",
				Lifetime: "unlimited",
				Limits:   "none",
				BuiltIn:  true,
			},
			{
				Name:     "partner",
				URL:      "/projects/shop/key-types/partner",
				KeysURL:  "/projects/shop/keys?keys_type=partner",
				Scopes:   "orders:read orders:write stock:read",
				Lifetime: "90 days",
				Limits:   "60 per minute, 1,000 per day",
			},
		},
	}
}

func typeWindows() []ui.Limit {
	return []ui.Limit{
		{Window: "minute", Label: "Per minute", Value: ui.Value{Text: "60"}},
		{Window: "day", Label: "Per day"},
	}
}

func keyTypesWrong() projects.KeyTypes {
	m := keyTypes()
	m.Create.Open = true
	m.Create.Name = ui.Value{Text: "Full", Error: "Use 2 to 40 lowercase letters, digits or hyphens. Start with a " +
		"letter and don't end with a hyphen."}
	m.Create.Scopes = ui.Value{Text: "Read", Error: "Read: Use lowercase letters, digits and : . _ -, such as " +
		"orders:read, or * for all."}
	m.Create.Days = ui.Value{Text: "many", Error: "Enter a number of days up to 3,650, or leave the field empty."}
	m.Create.Windows[0].Value = ui.Value{Text: "0", Error: "Use a whole number of 1 or more, or leave the field empty."}
	m.Create.Error = "A project can have at most 50 custom key types."
	return m
}

func keyType() projects.KeyType {
	return projects.KeyType{
		Page:    in("Key type partner", "/projects/shop/key-types/partner", "Shop", "Key types", "partner"),
		Name:    "partner",
		Facts:   []ui.Fact{{Label: "Keys", Value: "3"}},
		KeysURL: "/projects/shop/keys?keys_type=partner",
		BackURL: "/projects/shop/key-types",
		Edit: &projects.KeyTypeForm{
			Action:   "/projects/shop/key-types/partner",
			Revision: "41",
			Scopes:   ui.Value{Text: "orders:read\norders:write"},
			Days:     ui.Value{Text: "90"},
			Windows:  typeWindows(),
		},
		Delete: &ui.Confirmation{
			ID:     "type-confirm",
			Action: "/projects/shop/key-types/partner/delete",
			Verb:   "Delete",
			Kind:   "key type",
			Name:   "partner",
			Error:  "You can't delete this key type, because 3 keys use it (1 active). Revoked keys also count.",
		},
	}
}

func keyTypeBuiltIn() projects.KeyType {
	m := keyType()
	m.Name, m.Edit, m.Delete = "full", nil, nil
	m.Error = "The key type full is built in and is the same in every project. Create your own key type instead."
	return m
}
