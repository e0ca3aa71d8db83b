package contract

import "net/http"

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

// States of imports.
const (
	ImportDone   = "done"
	ImportDryRun = "dry_run" // nothing was changed
)

// Import is what an import did or, in a dry run, would do.
type Import struct {
	State   string       `json:"state" enum:"done,dry_run" doc:"dry_run: nothing was changed"`
	Project Project      `json:"project" doc:"The new project; of a dry run, as it would be"`
	Made    ImportCounts `json:"made" doc:"Numbers of objects that were created"`
	LeftOut []LeftOut    `json:"left_out" doc:"What differs from the exported project"`
	SHA256  string       `json:"sha256" doc:"SHA-256 of the zip, in hexadecimal"`
	Signed  bool         `json:"signed" doc:"The zip has a signature; it was checked if signed_by was sent"`
}

// ImportProject creates a project from an exported zip.
var ImportProject = Op[NewImport, Import]{Operation{
	ID: "import-project", Method: http.MethodPost, Path: "/api/v1/imports", Body: Zip,
	Summary: "Import a project from an exported zip", Command: "import", Permission: ImportProjects,
	Doc: "The body is the zip. Everything in it is imported, or nothing. A dry run says what an import would do, and " +
		"what the new project would not have.",
}}

var importOperations = []Described{ImportProject}
