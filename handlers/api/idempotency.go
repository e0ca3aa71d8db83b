package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/idempotency"
)

const (
	idempotencyHeader = "Idempotency-Key"
	replayedHeader    = "Idempotency-Replayed"
)

// idempotent is the middleware that carries out a POST or PATCH with an Idempotency-Key
// once, however often it is sent. Other methods are idempotent by definition (RFC 9110,
// 9.2.2). Uploads see to it themselves, once they have received the file.
func (h *Handler) idempotent(c *gin.Context) {
	if slices.Contains(web.UploadRoutes, c.FullPath()) || c.FullPath() == web.KeyImportRoute {
		c.Next()
		return
	}
	h.once(c, c.Next)
}

func (h *Handler) once(c *gin.Context, carryOut func()) {
	values := c.Request.Header.Values(idempotencyHeader)
	if len(values) == 0 || (c.Request.Method != http.MethodPost && c.Request.Method != http.MethodPatch) {
		carryOut()
		return
	}
	request, err := h.idempotentRequest(c.Request, values)
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	attempt, kept, err := h.Idempotency.Begin(c.Request.Context(), request)
	switch {
	case err != nil:
		h.Web.Refuse(c, err)
	case attempt == nil:
		h.replay(c, kept)
	default:
		h.attempt(c, attempt, carryOut)
	}
}

// idempotentRequest returns what identifies the request when it is sent again. It reads
// the body, and replaces it by a copy.
func (h *Handler) idempotentRequest(r *http.Request, values []string) (idempotency.Request, error) {
	out := idempotency.Request{
		Credential: h.Web.CredentialOf(r),
		Method:     r.Method,
		Path:       r.URL.Path,
		Query:      r.URL.RawQuery,
	}
	var err error
	if out.Key, err = idempotency.ReadKey(values, out.Credential == ""); err != nil {
		return out, err
	}
	most := web.MaxBody
	if r.URL.Path == "/proxy" {
		most = web.MaxFile
	}
	out.Body, err = io.ReadAll(r.Body)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge || len(out.Body) > most {
		return out, fault.New(fault.TooLarge, "too_large", "The request body is larger than %d MiB.", most>>20)
	}
	if err != nil {
		return out, fault.New(fault.Malformed, "malformed", "The request body can't be read.").Because(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(out.Body))
	return out, nil
}

// attempt runs the request and stores its answer before it is sent. If the answer is not
// stored, also after a panic, the request can be sent again.
func (h *Handler) attempt(c *gin.Context, attempt *idempotency.Attempt, carryOut func()) {
	ctx := c.Request.Context()
	recorder := &answerRecorder{ResponseWriter: c.Writer, status: http.StatusOK, before: maps.Clone(c.Writer.Header())}
	kept := false
	defer func() {
		c.Writer = recorder.ResponseWriter
		if !kept {
			if err := attempt.Abandon(ctx); err != nil {
				h.Web.Log.ErrorContext(ctx, "could not release an idempotent request",
					"request", web.RequestID(ctx), "error", err)
			}
		}
	}()
	c.Writer = recorder
	c.Request = c.Request.WithContext(attempt.Context(ctx))
	carryOut()
	if isStored(recorder.status) {
		answer, err := recorder.answer()
		if err == nil {
			err = attempt.Keep(ctx, answer)
		}
		if err != nil {
			h.Web.Log.ErrorContext(ctx, "could not store the response to an idempotent request",
				"request", web.RequestID(ctx), "error", err)
		}
		kept = err == nil
	}
	recorder.flush()
}

// isStored reports whether an answer is stored. It is false for requests that were
// refused before they began, which the caller corrects and sends again with the same key,
// and for those to try again later.
func isStored(status int) bool {
	switch status {
	case http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusPreconditionFailed:
		return true
	}
	return status/100 == 2
}

// keptAnswer is a stored answer, which is sealed.
type keptAnswer struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

func (h *Handler) replay(c *gin.Context, kept []byte) {
	var answer keptAnswer
	if err := json.Unmarshal(kept, &answer); err != nil {
		h.Web.Refuse(c, fmt.Errorf("read a stored response: %w", err))
		return
	}
	maps.Copy(c.Writer.Header(), answer.Header)
	c.Header(replayedHeader, "true")
	c.Status(answer.Status)
	_, _ = c.Writer.Write(answer.Body) // an error means that the caller is gone
	c.Abort()
}

// answerRecorder buffers an answer.
type answerRecorder struct {
	gin.ResponseWriter
	before http.Header // headers that the middleware sets, for this request only
	status int
	body   bytes.Buffer
}

func (r *answerRecorder) WriteHeader(status int) { r.status = status }

// WriteHeaderNow implements gin.ResponseWriter: nothing is sent before flush.
func (r *answerRecorder) WriteHeaderNow() {}

func (r *answerRecorder) Write(b []byte) (int, error) { return r.body.Write(b) }

// WriteString implements io.StringWriter.
func (r *answerRecorder) WriteString(s string) (int, error) { return r.body.WriteString(s) }

// Status implements gin.ResponseWriter.
func (r *answerRecorder) Status() int { return r.status }

// Written implements gin.ResponseWriter.
func (r *answerRecorder) Written() bool { return r.body.Len() > 0 }

func (r *answerRecorder) answer() ([]byte, error) {
	out := keptAnswer{Status: r.status, Header: http.Header{}, Body: r.body.Bytes()}
	for name, values := range r.Header() {
		if !slices.Equal(r.before[name], values) {
			out.Header[name] = values
		}
	}
	return json.Marshal(out)
}

// flush sends the answer.
func (r *answerRecorder) flush() {
	r.ResponseWriter.WriteHeader(r.status)
	_, _ = r.ResponseWriter.Write(r.body.Bytes()) // an error means that the caller is gone
}
