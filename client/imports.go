package client

import "postern/core/contract"

// Import is what the import of a zip did or, in a dry run, would do.
type Import struct {
	State   string                `json:"state"` // done or dry_run
	Project Project               `json:"project"`
	Made    contract.ImportCounts `json:"made"`
	LeftOut []contract.LeftOut    `json:"left_out"`
	SHA256  string                `json:"sha256"`
	Signed  bool                  `json:"signed"`
}

// ImportProject imports a project from an exported zip.
var ImportProject = contract.Op[contract.NewImport, Import]{Operation: contract.Operation{
	Method: "POST", Path: "/api/v1/imports", Body: contract.Zip,
}}
