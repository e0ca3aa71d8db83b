package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"postern/core/contract"
	"postern/core/filelimits"
	"postern/core/movein"
	"postern/handlers/web"
	"postern/platform/fault"
)

// gatewayFileTypes are the media types of other gateways' files. What a file is shows in its text.
var gatewayFileTypes = []string{"application/yaml", "application/json"}

const formType = "multipart/form-data"

// serveImport adds the import of zips, and of other gateways' files, of which it makes a plan.
func (h *Handler) serveImport(api huma.API) {
	declared := addStream(h, api, contract.ImportProject, h.importFile)
	content := map[string]*huma.MediaType{
		contract.ImportProject.Body: {Schema: binary()},
		formType: {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"file"},
			Properties: map[string]*huma.Schema{"file": {
				Type: huma.TypeArray, Items: binary(), MinItems: new(1),
				MaxItems: new(int(filelimits.GatewayFiles.Most)),
			}},
		}},
	}
	for _, one := range gatewayFileTypes {
		content[one] = &huma.MediaType{Schema: binary()}
	}
	declared.RequestBody = &huma.RequestBody{Required: true, Content: content}
	schemas := api.OpenAPI().Components.Schemas
	answer := func(of reflect.Type) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(of, true, "")}}
	}
	declared.Responses["200"].Content = answer(reflect.TypeFor[contract.Import]())
	declared.Responses["202"] = &huma.Response{
		Description: "Plan for the files of another gateway",
		Content:     answer(reflect.TypeFor[contract.PlannedImport]()),
	}
}

func (h *Handler) importFile(c *gin.Context, in contract.NewImport) {
	who := web.Principal(c.Request.Context())
	err := noEmptyParameters(c.Request)
	if err == nil {
		err = h.Imports.Allow(who, in)
	}
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	file, err := h.Web.Receive(c.Writer, c.Request, c.Request.Body)
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	defer file.Close()
	files, isZip, err := gatewayFiles(c.Request, file)
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	// A repeated request is recognized by the SHA-256 of its files. The text between the parts of a form can differ.
	sum := file.SHA256
	if !isZip {
		sum = files.SHA256()
	}
	c.Request.Body = io.NopCloser(bytes.NewReader(sum[:]))
	h.once(c, func() {
		if isZip {
			err = h.importZip(c, in, file)
		} else {
			err = h.planImport(c, in, files.All)
		}
		if err != nil {
			h.Web.Refuse(c, err)
		}
	})
}

func (h *Handler) importZip(c *gin.Context, in contract.NewImport, file *web.Upload) error {
	if in.Apply && in.DryRun {
		return fault.InvalidField("/apply", "conflict", "Use apply or dry_run, not both. A dry run doesn't change "+
			"anything.")
	}
	out, err := h.Imports.Import(c.Request.Context(), web.Principal(c.Request.Context()), in, file, file.Size)
	if err == nil {
		h.answer(c, out)
	}
	return err
}

func (h *Handler) planImport(c *gin.Context, in contract.NewImport, files []movein.File) error {
	out, err := h.Plans.Create(c.Request.Context(), web.Principal(c.Request.Context()), in, files)
	if err == nil {
		c.Header("ETag", web.FormatETag(out.ETag))
		h.answerWith(c, http.StatusAccepted, out)
	}
	return err
}

// gatewayFiles returns the files of other gateways in a request: those of a form, or the body. It returns true for a
// zip.
func gatewayFiles(r *http.Request, file *web.Upload) (files web.GatewayFiles, isZip bool, err error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && kind == formType {
		files.ForZips = "Send a zip as the body of the request, not in a form."
		err = addForm(&files, multipart.NewReader(io.NewSectionReader(file, 0, file.Size), params["boundary"]))
		return files, false, err
	}
	begin := make([]byte, min(file.Size, 4))
	if _, err := file.ReadAt(begin, 0); err != nil && !errors.Is(err, io.EOF) {
		return files, false, fmt.Errorf("read an upload: %w", err)
	}
	isText := err == nil && (kind == "application/yaml" || kind == "application/json" || kind == "text/plain" ||
		kind == "application/x-yaml" || kind == "text/yaml")
	if bytes.HasPrefix(begin, []byte("PK")) || !isText && file.Size > filelimits.GatewaySize.Most {
		return files, true, nil
	}
	if err := files.Add("", io.NewSectionReader(file, 0, file.Size)); err != nil {
		return files, false, err
	}
	return files, !isText && !movein.Recognizes(files.All[0].Text), nil
}

// addForm adds the files of a form.
func addForm(files *web.GatewayFiles, form *multipart.Reader) error {
	for {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF) && len(files.All) == 0:
			return fault.InvalidField("/file", "required", "Add a file to the form.")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fault.New(fault.Malformed, "malformed", "The form can't be read.").Because(err)
		case part.FileName() == "":
			return fault.InvalidField("/"+part.FormName(), "unknown", "Remove this field. The form can contain only "+
				"files. Change settings with PATCH once the plan exists.")
		}
		if err := files.Add(part.FileName(), part); err != nil {
			return err
		}
	}
}
