// Package login tests hosted login in a browser: users sign in to a customer's application through certified providers
// and Keycloak, and the application calls the gateway. It also tests the sign-in of the command line.
//
// It owns the flows that cross packages. Tests of single endpoints are in service/login and handlers/oidc.
package login

import (
	"testing"

	"postern/e2e/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
