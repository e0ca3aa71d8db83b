package api

// ProjectRef is the path parameter of a project. It is exported, like all that are
// embedded in inputs, because huma ignores embedded types that are not.
type ProjectRef struct {
	Project string `path:"project" doc:"Name or id"`
}

// VersionRef is the path parameters of a version.
type VersionRef struct {
	ProjectRef
	Version string `path:"version" doc:"Name or id"`
}

// EnvironmentRef is the path parameters of an environment.
type EnvironmentRef struct {
	ProjectRef
	Environment string `path:"environment" doc:"Id of the environment"`
}
