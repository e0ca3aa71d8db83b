package accounts

import "postern/platform/secrets"

// HashForTest is how the secret of a row is kept.
func HashForTest(secret string) []byte { return secrets.Digest(secret) }
