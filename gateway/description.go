package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"postern/core/openapi/publish"
	"postern/core/openapi/validate"
	"postern/core/policy"
	"postern/core/snapshot"
)

// description says how the gateway uses the OpenAPI document of a version.
type description struct {
	as          describedAs
	requests    *validator // compiled by the first call; nil: requests are not validated
	enforce     bool       // requests that do not match are refused; else they are only reported
	publication snapshot.Publication
	document    func() (publish.Document, error) // read by the first call; nil without a publication
}

// describedAs is the source of a compiled description.
type describedAs struct {
	document    [sha256.Size]byte
	workspace   string // team id of the unclaimed workspace; "": it is claimed
	validation  snapshot.Validation
	publication snapshot.Publication
}

// documentPath is the path of the published document, below the URL of an environment.
const documentPath = "/openapi.json"

// compileDescription prepares the document of a version, or reuses that of the last table, which may be compiled
// already. It returns nil if there is nothing to do with it.
func compileDescription(s *snapshot.Project, v *snapshot.Version, next, last *table) (*description, error) {
	switch v.Validation {
	case snapshot.ValidationOff, snapshot.ValidationReport, snapshot.ValidationEnforce:
	default:
		return nil, fmt.Errorf("unknown validation %q", v.Validation)
	}
	switch v.Publication {
	case snapshot.PublicationOff, snapshot.PublicationCallers, snapshot.PublicationPublic:
	default:
		return nil, fmt.Errorf("unknown publication %q", v.Publication)
	}
	document, validates := v.OpenAPI, v.Validation != snapshot.ValidationOff && v.OpenAPI != nil
	if !validates && v.Publication == snapshot.PublicationOff {
		return nil, nil //nolint:nilnil // there is nothing to do
	}
	if document == nil {
		var err error
		if document, err = json.Marshal(publish.Generated(s, v)); err != nil {
			return nil, err
		}
	}
	as := describedAs{document: sha256.Sum256(document), validation: v.Validation, publication: v.Publication}
	team := s.TeamID
	if !s.ExpiresAt.IsZero() {
		as.workspace, team = s.TeamID, ""
	}
	if known := cmp.Or(next.described[as], last.described[as]); known != nil {
		return known, nil
	}
	out := &description{as: as, enforce: v.Validation == snapshot.ValidationEnforce, publication: v.Publication}
	if validates {
		out.requests = &validator{
			in:        next.validators,
			team:      team,
			workspace: as.workspace,
			document:  document,
		}
	}
	if v.Publication != snapshot.PublicationOff {
		out.document = sync.OnceValues(func() (publish.Document, error) { return publish.New(document) })
	}
	return out, nil
}

// isDocument reports whether a call reads the published document.
func (r *route) isDocument(method string) bool {
	d := r.version.description
	return d != nil && d.publication != snapshot.PublicationOff && r.rest == documentPath &&
		(method == http.MethodGet || method == http.MethodHead)
}

// admitReader decides who may read a document that is public: everyone whose address may call.
func (c *call) admitReader() policy.Decision {
	if !policy.AdmitsAddress(&c.route.version.access.IP, c.conn.addr) {
		return policy.Decision{Denial: policy.IPDenied}
	}
	return policy.Decision{Allow: true}
}

// needsHTTP reports whether net/http must serve a call: the gateway answers with a document, or reads
// the body before it forwards it.
func (r *route) needsHTTP(method string, length int64) bool {
	d := r.version.description
	if d == nil {
		return false
	}
	return r.isDocument(method) || length != 0 && d.requests != nil && r.isDescribed(method)
}

// isDescribed reports whether the document describes the route, or if that is unknown because the document isn't
// compiled in time: net/http then refuses the call.
func (r *route) isDescribed(method string) bool {
	var scratch [4]validate.Match
	found, err := r.version.description.operations(context.Background(), scratch[:0], method, r.rest)
	return len(found) > 0 || err != nil
}

// serveDocument answers with the document, whose server is the URL that the caller has used.
func (c *httpCall) serveDocument() {
	server := c.forwardedOr("X-Forwarded-Proto", c.conn.scheme) + "://" + c.addressed() +
		strings.TrimSuffix(c.route.prefix, "/")
	read, err := c.route.version.description.document()
	if err != nil { // it was read when it was imported
		c.warn("could not read the OpenAPI document", err)
		c.refuse(policy.NoRoute)
		return
	}
	document := read.With(publish.Server{
		Description: c.route.environment.name,
		URL:         server,
	})
	if limit := c.responseLimit(); limit > 0 && int64(len(document)) > limit {
		c.refuse(c.responseTooLarge())
		return
	}
	sum := sha256.Sum256(document)
	etag := `"` + hex.EncodeToString(sum[:16]) + `"`
	h := c.w.Header()
	h["Content-Type"] = jsonType
	h["Etag"] = []string{etag}
	h["Cache-Control"] = []string{"no-cache"}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	c.setOwnLines(h, http.StatusOK)
	c.changesOwnAnswers().responseHeader(h)
	c.writing.begin(0)
	if matchesETag(c.r.Header["If-None-Match"], etag) {
		c.status = http.StatusNotModified
		c.w.WriteHeader(c.status)
		return
	}
	c.status = http.StatusOK
	h["Content-Length"] = []string{strconv.Itoa(len(document))}
	c.w.WriteHeader(c.status)
	if c.method == http.MethodHead {
		return
	}
	sent, err := copyBody(&c.writing, strings.NewReader(string(document)), false)
	if c.bytesOut += sent; err != nil {
		c.abort()
	}
}

// addressed returns the host that the caller addressed, with its port.
func (c *httpCall) addressed() string {
	if c.r.Host == "" {
		return c.host // HTTP/1.0 needs no Host
	}
	return c.forwardedOr("X-Forwarded-Host", c.r.Host)
}

// matchesETag reports whether If-None-Match has an ETag (RFC 9110, section 13.1.2).
func matchesETag(lines []string, etag string) bool {
	for _, line := range lines {
		for one := range strings.SplitSeq(line, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == etag {
				return true
			}
		}
	}
	return false
}

// explainDocument explains a call that reads the published document. The exported gateway forwards it.
func explainDocument(out *policy.Explanation, at route) {
	if at.version.description.publication == snapshot.PublicationPublic {
		*out = policy.Explanation{Steps: out.Steps[:1], Exported: out.Exported}
	}
	if out.Denial == (policy.Denial{}) {
		out.Pass(policy.ExplainDocument, "The gateway returns the OpenAPI document itself.")
		out.DecidedBy = policy.ExplainDocument
	}
}
