package bundle

import (
	"context"
	"io"
	"time"

	"postern/bundle/jsonfile"
	"postern/core/contract"
	"postern/core/snapshot"
)

const configFile = "project-config.json"

// The types of project-config.json. They are separate from the snapshot's because the
// document is a public format, while the snapshot may change with the gateway.
type projectDoc struct {
	ID            string                   `json:"id"`
	Name          string                   `json:"name"`
	DisplayName   string                   `json:"display_name"`
	FallbackOwner *string                  `json:"fallback_owner"`
	Product       *productDoc              `json:"product"`
	Limits        contract.ProjectLimits   `json:"limits"`
	API           *snapshot.API            `json:"api"`
	CORS          *snapshot.CORS           `json:"cors,omitempty"`
	CreatedAt     string                   `json:"created_at"`
	ExpiresAt     *string                  `json:"expires_at"`
	ImportedKeys  bool                     `json:"imported_keys,omitempty"`
	Revision      int64                    `json:"revision"`
	RevisedAt     string                   `json:"revised_at"`
	KeyTypes      []contract.KeyTypeRecord `json:"key_types"`
	Tenants       []tenantDoc              `json:"tenants"`
	Versions      []versionDoc             `json:"versions"`
	CallSigning   *signingDoc              `json:"call_signing,omitempty"`
	Webhooks      []webhookDoc             `json:"webhooks,omitempty"`
}

type webhookDoc struct {
	ID      string   `json:"id"`
	Host    string   `json:"host"`
	Events  []string `json:"events"`
	Enabled bool     `json:"enabled"`
}

type productDoc struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"display_name,omitempty"`
}

type tenantDoc struct {
	ID            string         `json:"id"`
	Name          string         `json:"name"`
	DisplayName   string         `json:"display_name,omitempty"`
	FallbackOwner *string        `json:"fallback_owner"`
	Detached      bool           `json:"detached"`
	CORS          *snapshot.CORS `json:"cors,omitempty"`
}

type versionDoc struct {
	ID           string                `json:"id"`
	Name         string                `json:"name"`
	RequestsAuth snapshot.RequestsAuth `json:"requests_auth"`
	IP           snapshot.IPRules      `json:"ip"`
	Environments []environmentDoc      `json:"environments"`
	OpenAPI      string                `json:"openapi,omitempty"` // openAPIImported, or "" for a generated document

	Validation  snapshot.Validation  `json:"request_validation,omitempty"`
	Publication snapshot.Publication `json:"openapi_publication,omitempty"`
}

// openAPIImported marks a version whose document was imported, not generated.
const openAPIImported = "imported"

type environmentDoc struct {
	ID      string            `json:"id"`
	Name    string            `json:"name"`
	Target  string            `json:"target"`
	URL     string            `json:"url"`
	Domains []snapshot.Domain `json:"domains"`
	Routes  []string          `json:"routes"`

	Upstream        snapshot.Upstream `json:"upstream"`
	UpstreamHeaders []string          `json:"upstream_headers,omitempty"` // names

	ClientCertificate string `json:"client_certificate,omitempty"` // PEM, without the key
}

func (b *Build) projectConfig() Part {
	return Part{
		Name:  configFile,
		Doc:   configDoc,
		Write: func(_ context.Context, w io.Writer) error { return jsonfile.Write(w, b.projectDoc()) },
	}
}

func (b *Build) projectDoc() projectDoc {
	p := b.Project
	doc := projectDoc{
		ID: p.ID, Name: p.Name, DisplayName: p.DisplayName,
		FallbackOwner: optional(p.FallbackOwner), CreatedAt: stamp(p.CreatedAt), ExpiresAt: optionalTime(p.ExpiresAt),
		ImportedKeys: p.ImportedKeys, Revision: p.Revision, RevisedAt: stamp(p.RevisedAt),
		Limits: p.Limits.Stated(), API: apiDocOf(p.API), CORS: p.CORS, CallSigning: signingDocOf(p.CallSigningKeys),
		KeyTypes: []contract.KeyTypeRecord{}, Tenants: []tenantDoc{}, Versions: []versionDoc{},
	}
	if p.ProductID != "" {
		doc.Product = &productDoc{ID: p.ProductID, Name: p.Product, DisplayName: p.ProductTitle}
	}
	for _, t := range p.KeyTypes {
		doc.KeyTypes = append(doc.KeyTypes, contract.KeyTypeRecord{
			ID: t.ID, Name: t.Name, Scopes: list(t.Scopes), ExpiresIn: int64(t.ExpiresIn / time.Second),
			Limits: t.Limits.Stated(), BuiltIn: t.BuiltIn,
		})
	}
	for _, t := range p.Tenants {
		doc.Tenants = append(doc.Tenants, tenantDoc{
			ID:            t.ID,
			Name:          t.Name,
			DisplayName:   t.DisplayName,
			FallbackOwner: optional(t.FallbackOwner),
			Detached:      t.Detached,
			CORS:          t.CORS,
		})
	}
	for _, w := range p.Webhooks {
		one := webhookDoc(w)
		one.Events = list(w.Events)
		doc.Webhooks = append(doc.Webhooks, one)
	}
	for i := range p.Versions {
		doc.Versions = append(doc.Versions, b.versionDoc(&p.Versions[i]))
	}
	return doc
}

func (b *Build) versionDoc(v *snapshot.Version) versionDoc {
	doc := versionDoc{
		ID: v.ID, Name: v.Name,
		RequestsAuth: v.Access.RequestsAuth,
		IP:           v.Access.IP,
		Environments: []environmentDoc{},
		Validation:   v.Validation,
		Publication:  v.Publication,
	}
	doc.RequestsAuth.Methods = list(doc.RequestsAuth.Methods)
	if v.OpenAPI != nil {
		doc.OpenAPI = openAPIImported
	}
	for i := range v.Environments {
		e := &v.Environments[i]
		doc.Environments = append(doc.Environments, environmentDoc{
			ID: e.ID, Name: e.Name, Target: e.Target, URL: b.AddressOf(v.Name, e.Name), Domains: list(e.Domains),
			Routes: []string{RoutePath(b.Project, v, e, HostForm), RoutePath(b.Project, v, e, PathForm)},

			Upstream:          e.Upstream.Stated(),
			UpstreamHeaders:   headerNames(e.Headers),
			ClientCertificate: chainOf(e.Certificate),
		})
	}
	return doc
}

func headerNames(headers []snapshot.UpstreamHeader) []string {
	var names []string
	for _, h := range headers {
		names = append(names, h.Name)
	}
	return names
}

func chainOf(c *snapshot.ClientCertificate) string {
	if c == nil {
		return ""
	}
	return c.Chain
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// momentOrNull returns a time in the form of the API, nil for the zero time.
func momentOrNull(t time.Time) *time.Time { return contract.UTC(contract.OrNull(t)) }

func optionalTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return optional(stamp(t))
}

// list returns an empty list for nil, so that no document has null.
func list[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}
