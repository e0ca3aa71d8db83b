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

	"postern/core/configfile"
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
			Type: huma.TypeObject, Properties: map[string]*huma.Schema{"file": binary()}, Required: []string{"file"},
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
		Description: "Plan for the file of another gateway", Content: answer(reflect.TypeFor[contract.PlannedImport]()),
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
	// A repeated request is recognized by the SHA-256 of its file.
	c.Request.Body = io.NopCloser(bytes.NewReader(file.SHA256[:]))
	h.once(c, func() {
		if err := h.importReceived(c, in, file); err != nil {
			h.Web.Refuse(c, err)
		}
	})
}

func (h *Handler) importReceived(c *gin.Context, in contract.NewImport, file *web.Upload) error {
	ctx, who := c.Request.Context(), web.Principal(c.Request.Context())
	text, isZip, err := gatewayFile(c.Request, file)
	switch {
	case err != nil:
		return err
	case isZip && in.Apply && in.DryRun:
		return fault.InvalidField("/apply", "conflict", "Leave out apply or dry_run: a dry run changes nothing.")
	case isZip:
		out, err := h.Imports.Import(ctx, who, in, file, file.Size)
		if err == nil {
			h.answer(c, out)
		}
		return err
	}
	out, err := h.Plans.Create(ctx, who, in, []movein.File{{Text: text}})
	if err == nil {
		c.Header("ETag", web.FormatETag(out.ETag))
		h.answerWith(c, http.StatusAccepted, out)
	}
	return err
}

// gatewayFile returns the text of another gateway's file, which a form can have, and true for a zip.
func gatewayFile(r *http.Request, file *web.Upload) (text []byte, isZip bool, err error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && kind == formType {
		text, err = fileOfForm(multipart.NewReader(io.NewSectionReader(file, 0, file.Size), params["boundary"]))
		return text, false, err
	}
	begin := make([]byte, min(file.Size, 4))
	if _, err := file.ReadAt(begin, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("read an upload: %w", err)
	}
	isText := err == nil && (kind == "application/yaml" || kind == "application/json" || kind == "text/plain" ||
		kind == "application/x-yaml" || kind == "text/yaml")
	if bytes.HasPrefix(begin, []byte("PK")) || !isText && file.Size > filelimits.GatewaySize.Most {
		return nil, true, nil
	}
	text, err = readGatewayFile(io.NewSectionReader(file, 0, file.Size))
	return text, err == nil && !isText && !movein.Recognizes(text), err
}

// fileOfForm returns the only file of a form.
func fileOfForm(form *multipart.Reader) (text []byte, err error) {
	found := false
	for {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF) && !found:
			return nil, fault.InvalidField("/file", "required", "Add a file to the form.")
		case errors.Is(err, io.EOF):
			return text, nil
		case err != nil:
			return nil, fault.New(fault.Malformed, "malformed", "The form can't be read.").Because(err)
		case part.FileName() == "":
			return nil, fault.InvalidField("/"+part.FormName(), "unknown", "Leave this out: the form can contain "+
				"only a file. Change settings with PATCH once the plan exists.")
		case found:
			return nil, fault.InvalidField("/file", "several", "Send one file. Merge Kong files with deck file merge.")
		}
		if text, err = readGatewayFile(part); err != nil {
			return nil, err
		}
		if found = true; bytes.HasPrefix(text, []byte("PK")) {
			return nil, fault.InvalidField("/file", "zip", "Send a zip as the body of the request, not in a form.")
		}
	}
}

// readGatewayFile reads a file of at most the size of those of Kong.
func readGatewayFile(in io.Reader) ([]byte, error) {
	text, err := configfile.ReadFrom(in)
	if _, ok := errors.AsType[*configfile.Error](err); ok {
		return nil, fault.New(fault.TooLarge, "too_large", "%s", filelimits.GatewaySize.Sentence())
	}
	if err != nil {
		err = fault.New(fault.Malformed, "malformed", "The file can't be read.").Because(err)
	}
	return text, err
}
