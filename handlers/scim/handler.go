// Package scim serves user provisioning: an identity provider of a tenant creates,
// changes and removes the tenant's users and groups.
//
// It owns the endpoints of RFC 7644 and how they map to service/directory. It leaves
// the message formats to handlers/scim/protocol.
package scim

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"postern/handlers/scim/protocol"
	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/directory"
)

// Handler serves the provisioning endpoints of all tenants.
type Handler struct {
	Web       *web.Site
	Directory *directory.Service
}

// provisioner handles one request.
type provisioner struct {
	people *directory.Service
	c      *gin.Context
	who    access.Principal
	tenant string // id
	base   string // URL of the tenant's endpoints
	sent   []byte // the body, once it is read
	show   protocol.Projection
	unkept []string // of the request, without effect
}

func (h *Handler) provision(c *gin.Context, status int, handle func(*provisioner) (any, error)) {
	p := &provisioner{people: h.Directory, c: c}
	out, err := func() (any, error) {
		who, err := h.Web.Authenticate(c.Request)
		if err != nil {
			return nil, err
		}
		c.Request = web.WithPrincipal(c.Request, who)
		p.who = web.Principal(c.Request.Context())
		if p.tenant, err = h.Directory.Home(c.Request.Context(), p.who, c.Param("tenant")); err != nil {
			return nil, err
		}
		p.show, err = protocol.ParseProjection(c.QueryArray("attributes"), c.QueryArray("excludedAttributes"))
		if err != nil {
			return nil, err
		}
		p.base = h.Web.Config.PublicURL + strings.Replace(scimRoot, ":tenant", p.tenant, 1)
		ctx := web.WithIfMatch(c.Request.Context(), c.GetHeader("If-Match"))
		return web.RetryStale(ctx, func() (any, error) { return handle(p) })
	}()
	if err != nil {
		h.refuseSCIM(c, err)
		return
	}
	p.warn()
	c.Status(status)
	if out == nil {
		c.Writer.WriteHeaderNow()
		return
	}
	c.Header("Content-Type", protocol.ContentType)
	if shown, ok := out.(answer); ok {
		c.Header("ETag", shown.meta.Version)
		c.Header("Location", shown.meta.Location)
		out = shown.resource
	}
	_ = json.NewEncoder(c.Writer).Encode(out) // an error means that the caller is gone
}

// queryParameters are those of RFC 7644, 3.4.2 and 3.9, but for the sorting ones, which are not supported.
var queryParameters = []string{"filter", "startIndex", "count", "attributes", "excludedAttributes"}

// warn says in the answer what of the request had no effect. SCIM has no place for it in a body, and provisioning
// systems send attributes and parameters that not every server has: refusing them would end the provisioning.
func (p *provisioner) warn() {
	if len(p.unkept) > 0 {
		p.c.Writer.Header().Add("Warning", `299 - "Without effect: `+strings.Join(p.unkept, ", ")+`"`)
	}
	for name := range p.c.Request.URL.Query() {
		if !slices.Contains(queryParameters, name) {
			p.c.Writer.Header().Add("Warning", `299 - "Query parameters other than `+
				strings.Join(queryParameters, ", ")+` have no effect"`)
			return
		}
	}
}

// Refuse answers a request for an address below a tenant's endpoints that no route has, with
// a SCIM error. It returns false for any other address.
func (h *Handler) Refuse(c *gin.Context, err error) bool {
	before, _, _ := strings.Cut(scimRoot, ":tenant")
	rest, below := strings.CutPrefix(c.Request.URL.Path, before)
	_, path, _ := strings.Cut(rest, "/")
	if !below || path != "scim/v2" && !strings.HasPrefix(path, "scim/v2/") {
		return false
	}
	h.refuseSCIM(c, err)
	return true
}

// refuseSCIM answers with a SCIM error (RFC 7644, 3.12). SCIM has no 422.
func (h *Handler) refuseSCIM(c *gin.Context, err error) {
	web.RecordError(c.Request.Context(), err)
	problem := web.ProblemOf(err, web.RequestID(c.Request.Context()))
	out, ok := errors.AsType[*protocol.Error](err)
	if !ok { // errors of package protocol are mistakes of the client, and not logged
		h.Web.LogCause(c.Request.Context(), err)
		out = &protocol.Error{Status: problem.Status, Detail: problem.Detail}
		switch {
		case problem.Code == "email_taken" || problem.Code == "user_name_taken" || problem.Code == "name_taken":
			out.Type = "uniqueness"
		case problem.Status == http.StatusUnprocessableEntity:
			out.Status, out.Type = http.StatusBadRequest, "invalidValue"
		}
		web.SetProblemHeaders(c.Writer.Header(), problem, err)
	}
	c.Header("Content-Type", protocol.ContentType)
	c.Status(out.Status)
	_ = json.NewEncoder(c.Writer).Encode(out) // an error means that the caller is gone
}

// body returns the JSON body, which must have one of the media types of SCIM clients.
func (p *provisioner) body() ([]byte, error) {
	if p.sent != nil {
		return p.sent, nil
	}
	kind, _, err := mime.ParseMediaType(p.c.GetHeader("Content-Type"))
	if err != nil || (kind != protocol.ContentType && kind != "application/json") {
		return nil, &protocol.Error{
			Status: http.StatusUnsupportedMediaType,
			Detail: "Send the body as " + protocol.ContentType + ".",
		}
	}
	raw, err := io.ReadAll(http.MaxBytesReader(p.c.Writer, p.c.Request.Body, web.MaxBody))
	if err != nil {
		return nil, &protocol.Error{Status: http.StatusRequestEntityTooLarge, Detail: "The body is larger than 1 MiB."}
	}
	var whole json.RawMessage
	if err := web.UnmarshalStrict(raw, &whole); err != nil {
		return nil, &protocol.Error{
			Status: http.StatusBadRequest,
			Type:   "invalidSyntax",
			Detail: "The body isn't valid JSON: " + err.Error(),
		}
	}
	p.sent = raw
	return raw, nil
}

// parsed returns the body as read decodes it.
func parsed[T any](p *provisioner, read func([]byte) (T, error)) (out T, err error) {
	raw, err := p.body()
	if err != nil {
		return out, err
	}
	return read(raw)
}

// answer is one resource, as the request wants to see it, with its metadata.
type answer struct {
	resource any
	meta     protocol.Meta
}

// one returns the answer with a resource.
func (p *provisioner) one(resource any, meta protocol.Meta) (any, error) {
	shown, err := p.show.Apply(resource)
	return answer{shown, meta}, err
}

// ifMatch returns the version that If-Match requires. SCIM versions are weak tags.
func (p *provisioner) ifMatch() string {
	return web.ParseIfMatch(strings.TrimPrefix(p.c.GetHeader("If-Match"), "W/"))
}

// version returns a weak tag (RFC 7644, 3.14).
func version(etag string) string { return `W/"` + etag + `"` }

func (p *provisioner) config() (any, error) {
	return protocol.ServiceProviderConfig(p.base, models.MaxLimit), nil
}

func (p *provisioner) resourceTypes() (any, error) { return whole(protocol.ResourceTypes(p.base)), nil }
func (p *provisioner) schemas() (any, error)       { return whole(protocol.Schemas(p.base)), nil }

func whole[T any](all []T) protocol.List {
	var resources []any
	for _, one := range all {
		resources = append(resources, one)
	}
	return protocol.NewList(resources, 1, int64(len(all)))
}

func (p *provisioner) resourceType() (any, error) {
	for _, one := range protocol.ResourceTypes(p.base) {
		if one.ID == p.c.Param("id") {
			return one, nil
		}
	}
	return nil, access.NotFound()
}

func (p *provisioner) schema() (any, error) {
	for _, one := range protocol.Schemas(p.base) {
		if one.ID == p.c.Param("id") {
			return one, nil
		}
	}
	return nil, access.NotFound()
}

// narrow adds a condition on an attribute to a filter. It returns false if no resource can
// match: for an empty value, or a second, different one.
func narrow(field *string, value string) bool {
	possible := value != "" && (*field == "" || *field == value)
	*field = value
	return possible
}

func unknownFilter(attribute, known string) error {
	return &protocol.Error{
		Status: http.StatusBadRequest,
		Type:   "invalidFilter",
		Detail: "Filter by " + known + ", not by " + attribute + ".",
	}
}

// checkTenant returns not_found for an object of another tenant than the path's.
func (p *provisioner) checkTenant(tenant string) error {
	if tenant == p.tenant {
		return nil
	}
	return fault.New(fault.NotFound, "not_found", "This doesn't exist, or you don't have access to it.")
}
