package contract

// NewImport says how a zip is imported.
type NewImport struct {
	Name     string `query:"name" doc:"Name of the project; default: the one in the zip"`
	Team     string `query:"team" doc:"Id of the team; default: the caller's first"`
	SHA256   string `query:"sha256" doc:"SHA-256 that the zip must have, in hexadecimal"`
	SignedBy string `query:"signed_by" doc:"Ed25519 public key that must have signed the zip, in base64"`
	DryRun   bool   `query:"dry_run" doc:"Change nothing, and answer what an import would do"`
}

// ImportCounts are the numbers of objects that an import created.
type ImportCounts struct {
	Versions     int64 `json:"versions"`
	Environments int64 `json:"environments"`
	KeyTypes     int64 `json:"key_types"`
	Tenants      int64 `json:"tenants"`
	AppClients   int64 `json:"app_clients"`
	Providers    int64 `json:"providers"`
	Groups       int64 `json:"groups"`
	Users        int64 `json:"users"`
	Keys         int64 `json:"keys"`
	Relations    int64 `json:"relations" doc:"Owners of objects"`
}

// LeftOut is something in which the new project differs from the exported one.
type LeftOut struct {
	Code    string `json:"code"`
	Subject string `json:"subject,omitempty" doc:"What it is about, such as prod of 1.0.0; absent: the project"`
	Detail  string `json:"detail" doc:"What is different, and what to do"`
}
