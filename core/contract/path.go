package contract

// ProjectPath is the path parameter of a project.
type ProjectPath struct {
	Project string `path:"project" doc:"Name or ID"`
}

// VersionPath are the path parameters of a version.
type VersionPath struct {
	ProjectPath
	Version string `path:"version" doc:"Name or ID"`
}

// EnvironmentPath are the path parameters of an environment.
type EnvironmentPath struct {
	VersionPath
	Environment string `path:"environment" doc:"Name or ID"`
}

// TenantPath is the path parameter of a tenant.
type TenantPath struct {
	Tenant string `path:"tenant" doc:"ID of the tenant, or its name if the tenant belongs to a team"`
}

const (
	project     = "/api/v1/projects/{project}"
	version     = project + "/versions/{version}"
	environment = version + "/environments/{environment}"
	tenant      = "/api/v1/tenants/{tenant}"
)
