// Package keyfiles has files of API keys as other systems have them, with the plaintext of each key and what an import
// does with it. Tests read the files, import them, and call the gateway with the plaintexts.
//
// It owns the samples, whose sources are in files.go. It leaves the reading to core/keyfile.
package keyfiles

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"testing"
	"text/template"

	"postern/core/keyfile"
)

//go:embed files
var files embed.FS

// Outcome is what happens to a key of a file.
type Outcome string

// The outcomes of rows. Calls with a key get 200 if it is Active, 403 if it is Frozen, and 401 otherwise.
const (
	Active  Outcome = "active"
	Frozen  Outcome = "frozen"
	Revoked Outcome = "revoked"
	Expired Outcome = "expired"
	Refused Outcome = "refused"
)

// Key is a key of a file.
type Key struct {
	Row       int64
	Part      int
	Plaintext string // as callers send it; "" where it is unknown
	Owner     string
	Outcome   Outcome
	Code      string // of the refusal
}

// File is a file of keys.
type File struct {
	Name   string
	Source keyfile.Source
	Map    map[string]string
	Keys   []Key
	Code   string // of the error that refuses the whole file
}

// Text returns the file. In the stored one, functions stand for the hashes of plaintexts.
func (f File) Text(t testing.TB) []byte {
	t.Helper()
	stored, err := files.ReadFile("files/" + f.Name)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(s string) []byte {
		hash := sha256.Sum256([]byte(s))
		return hash[:]
	}
	parsed, err := template.New(f.Name).Funcs(template.FuncMap{
		"hex":       func(s string) string { return hex.EncodeToString(sum(s)) },
		"base64":    func(s string) string { return base64.StdEncoding.EncodeToString(sum(s)) },
		"base64url": func(s string) string { return base64.RawURLEncoding.EncodeToString(sum(s)) },
	}).Parse(string(stored))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
