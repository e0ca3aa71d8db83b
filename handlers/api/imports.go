package api

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/imports"
)

type importOutput struct {
	State   string           `json:"state" enum:"done,dry_run" doc:"dry_run: nothing was changed"`
	Project contract.Project `json:"project" doc:"The new project; of a dry run, as it would be"`
	Made    madeOutput       `json:"made"`
	LeftOut []leftOutItem    `json:"left_out" doc:"What the new project does not have as the exported one had it"`
	SHA256  string           `json:"sha256" doc:"Of the zip"`
	Signed  bool             `json:"signed" doc:"The zip has a signature; it was checked if signed_by was sent"`
}

type madeOutput struct {
	Versions     int64 `json:"versions"`
	Environments int64 `json:"environments"`
	KeyTypes     int64 `json:"key_types"`
	Tenants      int64 `json:"tenants"`
	AppClients   int64 `json:"app_clients"`
	Providers    int64 `json:"providers"`
	Groups       int64 `json:"groups"`
	Users        int64 `json:"users"`
	Keys         int64 `json:"keys"`
	Relations    int64 `json:"relations" doc:"Who owns which object"`
}

type leftOutItem struct {
	Code    string `json:"code"`
	Subject string `json:"subject,omitempty"`
	Detail  string `json:"detail"`
}

const (
	importRoute = "/api/v1/imports"
	uploadKey   = "postern.upload"
)

// importRoutes adds the import of zips. It is no operation of huma, which reads bodies into
// memory.
func (h *Handler) importRoutes(r *gin.Engine, api huma.API) {
	r.POST(importRoute, h.Web.Identify, h.Web.RequireCredential, h.receiveImport, h.idempotent, h.createImport)
	document := api.OpenAPI()
	output := document.Components.Schemas.Schema(reflect.TypeFor[importOutput](), true, "Import")
	answer := func(text string) *huma.Response {
		return &huma.Response{
			Description: text,
			Content:     map[string]*huma.MediaType{"application/json": {Schema: output}},
		}
	}
	parameter := func(name, kind, doc string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: doc, Schema: &huma.Schema{Type: kind}}
	}
	document.AddOperation(&huma.Operation{
		OperationID: "import-project",
		Method:      http.MethodPost,
		Path:        importRoute,
		Summary:     "Make a project of an exported zip",
		Description: "The body is the zip. Everything is imported, or nothing.",
		Security:    []map[string][]string{{"bearer": {}}},
		Parameters: []*huma.Param{
			parameter("name", huma.TypeString, "Name of the project; default: the one in the zip"),
			parameter("team", huma.TypeString, "Id of the team; default: the caller's first"),
			parameter("sha256", huma.TypeString, "SHA-256 that the zip must have, in hexadecimal"),
			parameter("signed_by", huma.TypeString, "Ed25519 public key that must have signed the zip, in base64"),
			parameter("dry_run", huma.TypeBoolean, "Change nothing, and answer what an import would do"),
			{
				Name: idempotencyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString},
				Description: "A random text. A zip that is sent again with the same key is not imported again.",
			},
		},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/zip": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		}},
		Responses: map[string]*huma.Response{
			"200": answer("What an import would do (dry_run)"),
			"202": answer("Imported: the project is served"),
		},
	})
}

// receiveImport takes in the zip of a caller who may import it. For the handlers that follow,
// the request's body is the zip's SHA-256, by which a repeated request is recognized.
func (h *Handler) receiveImport(c *gin.Context) {
	ctx := c.Request.Context()
	in, err := importInput(c.Request)
	if err == nil {
		err = h.Imports.Allow(web.Principal(ctx), in.Team)
	}
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	upload, err := h.Web.Receive(c.Writer, c.Request, c.Request.Body)
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	defer upload.Close()
	c.Set(uploadKey, upload)
	c.Request.Body = io.NopCloser(bytes.NewReader(upload.SHA256[:]))
	c.Next()
}

func importInput(r *http.Request) (imports.Input, error) {
	query := r.URL.Query()
	in := imports.Input{Name: query.Get("name"), Team: query.Get("team")}
	var wrong []fault.Field
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains([]string{"name", "team", "sha256", "signed_by", "dry_run"}, name) || len(query[name]) != 1 {
			wrong = append(wrong, fault.Field{
				Pointer: "/" + name,
				Code:    "unknown_parameter",
				Detail:  "Use name, team, sha256, signed_by and dry_run, once each.",
			})
		}
	}
	if text := query.Get("sha256"); query.Has("sha256") {
		raw, err := hex.DecodeString(text)
		if err != nil || len(raw) != 32 {
			wrong = append(wrong, fault.Field{
				Pointer: "/sha256", Code: "invalid_sha256", Detail: "Use 64 hexadecimal digits.",
			})
		} else {
			in.SHA256 = (*[32]byte)(raw)
		}
	}
	if text := query.Get("signed_by"); query.Has("signed_by") {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(raw) != ed25519.PublicKeySize {
			wrong = append(wrong, fault.Field{
				Pointer: "/signed_by", Code: "invalid_key", Detail: "Give an Ed25519 public key in base64.",
			})
		} else {
			in.SignedBy = []ed25519.PublicKey{raw}
		}
	}
	if query.Has("dry_run") {
		dry, err := strconv.ParseBool(query.Get("dry_run"))
		if err != nil {
			wrong = append(wrong, fault.Field{
				Pointer: "/dry_run", Code: "invalid_boolean", Detail: "Use true or false.",
			})
		}
		in.DryRun = dry
	}
	return in, fault.InvalidFields(wrong)
}

func (h *Handler) createImport(c *gin.Context) {
	ctx := c.Request.Context()
	in, err := importInput(c.Request)
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	out, err := h.runImport(ctx, c.MustGet(uploadKey).(*web.Upload), in)
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	text, err := json.Marshal(out)
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	status := http.StatusAccepted
	if in.DryRun {
		status = http.StatusOK
	}
	c.Data(status, "application/json", append(text, '\n'))
}

func (h *Handler) runImport(ctx context.Context, zip *web.Upload, in imports.Input) (importOutput, error) {
	out, err := h.Imports.Import(ctx, web.Principal(ctx), zip, zip.Size, in)
	if err != nil {
		return importOutput{}, err
	}
	shown := importOutput{
		State:   "done",
		Project: out.Project,
		Made:    madeOutput(out.Made),
		LeftOut: []leftOutItem{},
		SHA256:  hex.EncodeToString(out.SHA256[:]),
		Signed:  out.Signed,
	}
	if out.DryRun {
		shown.State = "dry_run"
	}
	for _, item := range out.LeftOut {
		shown.LeftOut = append(shown.LeftOut, leftOutItem(item))
	}
	return shown, nil
}
