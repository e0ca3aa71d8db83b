package api

import (
	"context"
	"encoding/hex"
	"net/http"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/access"
)

type importOutput struct {
	State   string                `json:"state" enum:"done,dry_run" doc:"dry_run: nothing was changed"`
	Project projectOutput         `json:"project" doc:"The new project; of a dry run, as it would be"`
	Made    contract.ImportCounts `json:"made"`
	LeftOut []contract.LeftOut    `json:"left_out" doc:"In what the new project differs from the exported one"`
	SHA256  string                `json:"sha256" doc:"Of the zip"`
	Signed  bool                  `json:"signed" doc:"The zip has a signature; it was checked if signed_by was sent"`
}

var importProject = contract.Op[contract.NewImport, importOutput]{Operation: contract.Operation{
	ID: "import-project", Method: http.MethodPost, Path: "/api/v1/imports",
	Summary: "Import a project from an exported zip", Command: "import", Permission: contract.ImportProjects,
	Body: contract.Zip,
	Doc:  "The body is the zip. Everything is imported, or nothing.",
}}

func (h *Handler) importZip(
	ctx context.Context, who access.Principal, in contract.NewImport, zip *web.Upload,
) (importOutput, error) {
	out, err := h.Imports.Import(ctx, who, in, zip, zip.Size)
	if err != nil {
		return importOutput{}, err
	}
	shown := importOutput{
		State:   "done",
		Project: h.showProject(out.Project),
		Made:    out.Made,
		LeftOut: out.LeftOut,
		SHA256:  hex.EncodeToString(out.SHA256[:]),
		Signed:  out.Signed,
	}
	if out.DryRun {
		shown.State = "dry_run"
	}
	return shown, nil
}
