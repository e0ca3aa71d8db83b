package api

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/platform/scratch"
	"postern/service/idempotency"
	"postern/service/keys"
)

const jsonLines = "application/x-ndjson"

// keyFileTypes are the media types of files of keys. What a file is shows in its first bytes.
var keyFileTypes = []string{jsonLines, "application/json", "text/csv"}

// serveKeyImport adds the import of keys, whose body is read as it arrives: keys are in no file of this server.
func (h *Handler) serveKeyImport(api huma.API) {
	declared := addStream(h, api, contract.ImportKeys, h.importKeys)
	content := map[string]*huma.MediaType{}
	for _, one := range keyFileTypes {
		content[one] = &huma.MediaType{Schema: binary()}
	}
	declared.RequestBody = &huma.RequestBody{Required: true, Content: content}
	schemas := api.OpenAPI().Components.Schemas
	declared.Responses["200"].Content = map[string]*huma.MediaType{
		"application/json": {Schema: schemas.Schema(reflect.TypeFor[contract.KeysImported](), true, "")},
		jsonLines:          {Schema: schemas.Schema(reflect.TypeFor[contract.KeyImportRow](), true, "")},
	}
}

func (h *Handler) importKeys(c *gin.Context, in contract.KeyImport) {
	if err := h.importKeysOf(c, in); err != nil {
		h.Web.Refuse(c, err)
	}
}

func (h *Handler) importKeysOf(c *gin.Context, in contract.KeyImport) error {
	ctx, who := c.Request.Context(), web.Principal(c.Request.Context())
	if err := errors.Join(noEmptyParameters(c.Request), checkFileType(c.Request)); err != nil {
		return err
	}
	if err := h.Keys.CheckImport(ctx, who, in); err != nil {
		return err
	}
	file := keys.ImportFile{}
	var err error
	if file.Again, err = h.repeatOf(c.Request); err != nil {
		return err
	}
	body, leave, err := h.Web.ReceiveKeys(c.Writer, c.Request)
	if err != nil {
		return err
	}
	defer leave()
	var lines *rowLines
	if wantsLines(c.Request) {
		if lines, err = h.newRowLines(); err != nil {
			return err
		}
		defer lines.close()
		file.Line = lines.add
	}
	out, err := h.Keys.ImportFrom(ctx, who, in, file, body)
	if err != nil {
		return err
	}
	if lines != nil {
		return lines.send(c)
	}
	h.answer(c, out)
	return nil
}

// checkFileType refuses a body that can't be a file of keys.
func checkFileType(r *http.Request) error {
	given := r.Header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(given)
	others := []string{"application/jsonl", "text/plain", "application/octet-stream"}
	if given == "" || err == nil && (slices.Contains(keyFileTypes, kind) || slices.Contains(others, kind)) {
		return nil
	}
	return fault.New(fault.Unsupported, "unsupported_media_type", "Send the keys as %s.",
		strings.Join(keyFileTypes, ", "))
}

// repeatOf identifies the import if it is sent again with its Idempotency-Key; nil if it has no such key.
func (h *Handler) repeatOf(r *http.Request) ([]byte, error) {
	values := r.Header.Values(idempotencyHeader)
	if len(values) == 0 {
		return nil, nil
	}
	credential := h.Web.CredentialOf(r)
	key, err := idempotency.ReadKey(values, credential == "")
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, part := range []string{credential, key, r.URL.RawQuery} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return sum.Sum(nil), nil
}

// wantsLines reports whether the caller wants a line for each row.
func wantsLines(r *http.Request) bool {
	for _, one := range strings.Split(strings.Join(r.Header.Values("Accept"), ","), ",") {
		if kind, _, err := mime.ParseMediaType(one); err == nil && kind == jsonLines {
			return true
		}
	}
	return false
}

// rowLines are the results of rows in a temporary file: they are sent once the request has been read, since most
// clients don't read before. They have no keys.
type rowLines struct {
	file *os.File
	out  *bufio.Writer
}

func (h *Handler) newRowLines() (*rowLines, error) {
	folder := h.Web.Config.UploadDir()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("api: create the results folder: %w", err)
	}
	file, err := scratch.File(folder)
	if err != nil {
		return nil, fmt.Errorf("api: begin the results: %w", err)
	}
	_ = os.Remove(file.Name()) // it is read by its open file
	return &rowLines{file, bufio.NewWriter(file)}, nil
}

func (l *rowLines) add(row contract.KeyImportRow) error { return json.NewEncoder(l.out).Encode(row) }

func (l *rowLines) send(c *gin.Context) error {
	err := l.out.Flush()
	if err == nil {
		_, err = l.file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("api: read the results: %w", err)
	}
	c.Header("Content-Type", jsonLines)
	c.Status(http.StatusOK)
	_, _ = io.Copy(c.Writer, l.file) // an error means that the caller is gone
	return nil
}

func (l *rowLines) close() {
	_ = l.file.Close()
	_ = os.Remove(l.file.Name()) // where an open file can't be removed
}
