package accounts

// HashForTest is how the secret of a row is kept.
func HashForTest(secret string) []byte { return hash(secret) }
