package sample

import (
	"hash/crc32"
	"strings"

	"postern/core/policy"
)

// Plaintext is a well-formed key that is the same in every run, which golden
// files need and policy.NewKey, being random, cannot give.
func Plaintext(name, env string) string {
	const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if env == "" {
		env = policy.AllEnvironments
	}
	body := "pst_" + env + "_" + (name + strings.Repeat("0", 32))[:32]
	sum := crc32.ChecksumIEEE([]byte(body))
	check := make([]byte, 6)
	for i := range check {
		check[5-i] = base62[sum%62]
		sum /= 62
	}
	return body + string(check)
}
