package state

// SealedColumn is a column of sealed values.
type SealedColumn struct {
	Table, Column string

	Gateways string // the condition in SQL of the rows whose values the gateway key opens, "" for none
}

// SealedColumns returns all columns of sealed values.
func SealedColumns() []SealedColumn {
	const everyRow = "1 = 1"
	return []SealedColumn{
		{"upstream_headers", "value", everyRow},
		{"upstream_certificates", "private_key", everyRow},
		{"call_signing_keys", "private_key", everyRow},
		{"certificates", "private_key", everyRow},
		{"versions", "introspection_secret", everyRow},
		{"providers", "client_secret", "client_token = 'provider'"},
		{"acme_accounts", "private_key", ""},
		{"export_keys", "private_key", ""},
		{"exports", "file_key", ""},
		{"import_plans", "file", ""},
		{"import_plans", "set_values", ""},
		{"login_attempts", "stated", ""},
		{"login_attempts", "ticket", ""},
		{"login_grants", "successor", ""},
		{"signing_keys", "private_key", ""},
		{"webhooks", "old_secret", ""},
		{"webhooks", "secret", ""},
	}
}
