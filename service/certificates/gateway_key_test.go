package certificates_test

import (
	"strings"

	"postern/models"
	"postern/platform/secrets"
	"postern/service/certificates"
)

// wholeKey is the secrets key.
var wholeKey = secrets.Secret(strings.Repeat("A", 43) + "=")

// gatewayCanUnseal reports whether the gateway key opens the private key of the row.
func (r *rig) gatewayCanUnseal(row models.Certificate) bool {
	r.t.Helper()
	keys, err := secrets.GatewayKeys(wholeKey)
	if err != nil {
		r.t.Fatal(err)
	}
	vault, err := secrets.NewVault(keys)
	if err != nil {
		r.t.Fatal(err)
	}
	key, err := vault.Open(r.db.Read(r.t.Context()), certificates.PrivateKeyPlace(row.Host), row.PrivateKey)
	return err == nil && key != ""
}
