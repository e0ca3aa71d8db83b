package contract

import (
	"net/http"
	"strings"
)

// NewImport says how a zip is imported.
type NewImport struct {
	Name     string `query:"name" doc:"Name of the new project. Defaults to the name in the zip"`
	Team     string `query:"team" id:"team" doc:"ID of the team. Defaults to your first team"`
	SHA256   string `query:"sha256" doc:"Expected SHA-256 of the zip, in hexadecimal"`
	SignedBy string `query:"signed_by" doc:"Ed25519 public key that must verify the zip's signature, in base64"`
	DryRun   bool   `query:"dry_run" doc:"Change nothing and return what the import would do" help:"Change nothing and print what the import would do"`
	Apply    bool   `query:"apply" flag:"-" doc:"Import the zip immediately. This is the default. Refused for files from other gateways, which must be planned first"`
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
	Relations    int64 `json:"relations" doc:"Number of relations (owners of objects)"`
}

// LeftOut is a difference between the new project and the exported one.
type LeftOut struct {
	Code    string `json:"code"`
	Subject string `json:"subject,omitempty" doc:"Object that differs, such as prod of 1.0.0. Absent if the difference affects the entire project"`
	Detail  string `json:"detail" doc:"Description of the difference and any action that you need to take"`
}

// leftOutTitles are the titles of codes of LeftOut that aren't readable as words.
var leftOutTitles = map[string]string{
	"consumers_left_out":     "Consumers not exported",
	"history":                "Sessions, usage and audit log",
	"issuer_changed":         "New issuer",
	"keys_left_out":          "Keys not exported",
	"keys_narrowed":          "Product keys",
	"keys_revoked":           "Revoked keys not imported",
	"keys_taken":             "Keys not imported",
	"minted_keys":            "New keys not imported",
	"new_ids":                "New IDs",
	"refused_tokens":         "Ended sessions and deleted users",
	"relations_without_user": "Owners not imported",
	"tenant_exists":          "Existing tenant",
	"was_deleted":            "Deleted project",
}

// Title describes the difference for people: the title of its code, or the words of the code if it has no title.
func (l LeftOut) Title() string {
	if title, ok := leftOutTitles[l.Code]; ok || l.Code == "" {
		return title
	}
	return strings.ToUpper(l.Code[:1]) + strings.ReplaceAll(l.Code[1:], "_", " ")
}

// States of imports.
const (
	ImportDone   = "done"
	ImportDryRun = "dry_run" // nothing was changed
)

// Import is the result of an import or, in a dry run, the result it would have.
type Import struct {
	State   string       `json:"state" enum:"done,dry_run" doc:"dry_run means that nothing was changed"`
	Project Project      `json:"project" doc:"The new project. In a dry run, the project that would be created"`
	Made    ImportCounts `json:"made" doc:"Number of created objects of each kind"`
	LeftOut []LeftOut    `json:"left_out" doc:"Differences from the exported project"`
	SHA256  string       `json:"sha256" doc:"SHA-256 of the zip, in hexadecimal"`
	Signed  bool         `json:"signed" doc:"True if the zip is signed. The signature was checked only if you sent signed_by"`
}

// ImportProject creates a project from an exported zip. For files of another gateway, it makes a plan: PlanImport.
var ImportProject = &Op[NewImport, Import]{Operation{
	ID: "import-project", Method: http.MethodPost, Path: "/api/v1/imports", Body: Zip,
	Summary: "Import a project from an exported zip, or plan the import of another gateway's files", Command: "import",
	Permission: ImportProjects,
	Doc: "The request body is the zip. The import is all or nothing. A dry run returns the project that would be " +
		"created and its differences from the exported one. You can also send a file from another gateway, or a form " +
		"with up to 50 of these files. The names of the files appear in pointers and errors. For these files, the " +
		"response is 202 with a plan, and nothing is created until you apply the plan.",
}}

var importOperations = []Described{
	ImportProject, ListImports, GetImportPlan, GetImportResult, UpdateImportPlan, DownloadImportPlan, DeleteImportPlan,
	ApplyImport, UndoImport,
}
