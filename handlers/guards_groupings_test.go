package handlers_test

import "postern/service/access"

// groupingGuards are the routes of products and tenants.
var groupingGuards = map[string]guard{
	"GET /projects/:project/users":   {action: access.UserRead},
	"GET /projects/:project/tenants": {action: access.TenantRead},
	"POST /projects/:project/tenants": {
		action: access.ProjectUpdate,
		needs:  "shared",
		body:   "tenant=tenant-{number}",
	},
	"GET /projects/:project/tenants/:tenant": {action: access.TenantRead, needs: "attached"},
	"POST /projects/:project/tenants/:tenant/detach": {
		action: access.ProjectUpdate,
		needs:  "attached",
		body:   "confirm=true",
	},
	"GET /products":                  {action: access.ProductRead, outsider: 200},
	"POST /products":                 {action: access.ProductCreate, body: "name={name}&team={team}"},
	"GET /products/:product":         {action: access.ProductRead},
	"POST /products/:product":        {action: access.ProductUpdate, body: "display_name=Renamed"},
	"POST /products/:product/delete": {action: access.ProductDelete, body: "confirm=true"},
	"GET /tenants":                   {action: access.TenantRead, outsider: 200},
	"POST /tenants":                  {action: access.TenantCreate, body: "name={name}&team={team}"},
	"GET /tenants/:tenant":           {action: access.TenantRead},
	"POST /tenants/:tenant":          {action: access.TenantUpdate, body: "display_name=Renamed"},
	"POST /tenants/:tenant/projects": {
		action: access.ProjectUpdate,
		needs:  "shared",
		body:   "project={project}",
	},
	"POST /tenants/:tenant/cors":      {action: access.TenantUpdate, body: "origins=https://app.example"},
	"POST /tenants/:tenant/delete":    {action: access.TenantDelete, needs: "shared", body: "confirm=true"},
	"POST /projects/:project/product": {action: access.ProjectUpdate, body: "in_product={product}"},

	"GET /api/v1/products": {outsider: 200},
	// In the caller's own team, of which the outsider is the owner.
	"POST /api/v1/products":           {body: `{"name":"{name}"}`, outsider: 201},
	"PATCH /api/v1/products/:product": {body: `{"display_name":"Renamed"}`},
	"GET /api/v1/tenants":             {outsider: 200},
	// In the caller's own team, of which the outsider is the owner.
	"POST /api/v1/tenants":                             {body: `{"name":"{name}"}`, outsider: 201},
	"PATCH /api/v1/tenants/:tenant":                    {body: `{"display_name":"Renamed"}`},
	"DELETE /api/v1/tenants/:tenant":                   {needs: "shared"},
	"PUT /api/v1/projects/:project/tenants/:tenant":    {needs: "shared"},
	"DELETE /api/v1/projects/:project/tenants/:tenant": {needs: "attached"},
}
