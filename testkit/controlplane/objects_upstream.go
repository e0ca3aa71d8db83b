package controlplane

import (
	"testing"

	"postern/platform/secrets"
	"postern/service/projects"
	"postern/testkit"
)

// retarget points the environment at an https URL.
func (o *Fixture) retarget(t *testing.T, has *Objects) error {
	t.Helper()
	target := "https://127.0.0.1:9"
	_, err := o.Server.Projects.UpdateEnvironment(
		t.Context(), o.Principal, has.Project, has.environment, "", projects.EnvironmentChange{Target: &target},
	)
	return err
}

// presentCertificate has the environment present a new certificate to its upstream.
func (o *Fixture) presentCertificate(t *testing.T, has *Objects) error {
	t.Helper()
	if err := o.retarget(t, has); err != nil {
		return err
	}
	certificate, key := testkit.Certificate(t, "client.test")
	_, err := o.Server.Projects.SetClientCertificate(
		t.Context(), o.Principal, has.Project, has.environment, projects.ClientCertificateInput{
			Certificate: string(certificate),
			PrivateKey:  secrets.Secret(key),
		})
	return err
}
