package contract

// ProjectPath is the path parameter of a project.
type ProjectPath struct {
	Project string `path:"project" doc:"Name or id"`
}

// VersionPath are the path parameters of a version.
type VersionPath struct {
	ProjectPath
	Version string `path:"version" doc:"Name or id"`
}

// EnvironmentPath are the path parameters of an environment.
type EnvironmentPath struct {
	VersionPath
	Environment string `path:"environment" doc:"Name or id"`
}

// TenantPath is the path parameter of a tenant.
type TenantPath struct {
	Tenant string `path:"tenant" doc:"Id, or name of a tenant of a team"`
}

const (
	project     = "/api/v1/projects/{project}"
	version     = project + "/versions/{version}"
	environment = version + "/environments/{environment}"
	tenant      = "/api/v1/tenants/{tenant}"
)
