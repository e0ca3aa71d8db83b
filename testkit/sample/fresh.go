package sample

import "postern/core/snapshot"

// Fresh is a project as one call creates it: one version, one environment, no limits, no owner for calls without a key;
// and its one key, "active". Its upstream is target.
func Fresh(target string, access snapshot.Access) (*snapshot.Project, map[string]Plain) {
	p := Project(target)
	p.ProductID, p.Product, p.Limits = "", "", snapshot.ProjectLimits{}
	p.Tenants = []snapshot.Tenant{{ID: "tnt_1", Name: snapshot.DefaultTenant}}
	p.Versions = []snapshot.Version{{
		ID: "ver_1", Name: "1.0.0", Access: access,
		Environments: []snapshot.Environment{{ID: "env_2", Name: "prod", Target: target}},
	}}
	return p, map[string]Plain{"active": Keys()["active"]}
}

// RequiresKeys is the access policy that a project has from the start.
func RequiresKeys() snapshot.Access {
	return snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
		Mode:    snapshot.Authenticate,
		Methods: []string{snapshot.APIKey},
		Keyless: snapshot.Reject,
	}}
}
