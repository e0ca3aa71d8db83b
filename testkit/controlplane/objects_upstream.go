package controlplane

import (
	"testing"

	"postern/core/contract"
	"postern/testkit"
)

// retarget points the environment at an https URL.
func (o *Fixture) retarget(t testing.TB, has *Objects) error {
	t.Helper()
	target := "https://127.0.0.1:9"
	_, err := o.Server.Projects.UpdateEnvironment(t.Context(), o.Principal, contract.EnvironmentUpdate{
		EnvironmentPath: contract.EnvironmentOf(has.Project, has.version, has.environment),
		Body:            contract.EnvironmentChange{Target: &target},
	})
	return err
}

// presentCertificate has the environment present a new certificate to its upstream.
func (o *Fixture) presentCertificate(t testing.TB, has *Objects) error {
	t.Helper()
	if err := o.retarget(t, has); err != nil {
		return err
	}
	certificate, key := testkit.Certificate(t, "client.test")
	_, err := o.Server.Projects.SetClientCertificate(t.Context(), o.Principal, contract.ClientCertificateUpdate{
		EnvironmentPath: contract.EnvironmentOf(has.Project, has.version, has.environment),
		Body: contract.NewClientCertificate{
			Certificate: string(certificate),
			PrivateKey:  contract.Secret(key),
		},
	})
	return err
}

// setOpenAPI gives the version an OpenAPI document with one operation.
func (o *Fixture) setOpenAPI(t testing.TB, has *Objects) {
	t.Helper()
	_, err := o.Server.Projects.SetOpenAPI(t.Context(), o.Principal, contract.OpenAPIUpdate{
		VersionPath: contract.VersionPath{
			ProjectPath: contract.ProjectPath{Project: has.Project}, Version: has.version,
		},
		RawBody: []byte(`{"openapi":"3.1.0","info":{"title":"Shop","version":"1"},"paths":{"/orders":{"get":` +
			`{"responses":{"200":{"description":"fine"}}}}}}`),
	})
	must(t, err)
}
