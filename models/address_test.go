package models_test

import (
	"strings"
	"testing"

	"postern/models"
)

// No error repeats a part of a password, whatever the password has in it.
func TestOpen_passwords(t *testing.T) {
	for name, userinfo := range map[string]string{
		"at":              "u:first@second",
		"at and slash":    "u:first@second/third",
		"slash":           "u:12/second",
		"question mark":   "u:12?second",
		"number sign":     "u:12#second",
		"percent":         "u:first%zzsecond",
		"in the name":     "first@second:third",
		"unknown host":    "u:first",
		"space":           "u:first second",
		"escaped, at":     "u:first%40second",
		"bracket":         "u:[first",
		"no port at all":  "u:first:second",
		"control and DEL": "u:first\x7fsecond",
	} {
		t.Run(name, func(t *testing.T) {
			address := "postgres://" + userinfo + "@127.0.0.1:1/db"
			db, err := models.OpenWith(t.Context(), models.Options{DatabaseURL: address})
			if err == nil {
				_ = db.Close()
				t.Fatal("a database answered")
			}
			for _, part := range []string{"first", "second", "third"} {
				if strings.Contains(err.Error(), part) {
					t.Errorf("the error has a part of the password: %v", err)
				}
			}
		})
	}
}

// The advice to escape the characters of a password is for addresses where they are in the user name or password.
func TestOpen_escapeAdvice(t *testing.T) {
	for address, advised := range map[string]bool{
		"u:p@127.0.0.1:1/db":                                 false,
		"u:p@127.0.0.1:1/db?application_name=a@b":            false,
		"u:p@127.0.0.1:1/db?connect_timeout=1&options=-c@":   false,
		"127.0.0.1:1/db?application_name=a@b":                false,
		"127.0.0.1:1/db?user=a@b&password=c@d":               false,
		"u:p%40q@127.0.0.1:1/db?application_name=a@b":        false,
		"u:p@q@127.0.0.1:1/db":                               true,
		"u:p@q@127.0.0.1:1/db?application_name=a@b":          true,
		"u:p/q@127.0.0.1:1/db?application_name=a@b":          true,
		"u:p?q@127.0.0.1:1/db":                               true,
		"u:p?q@127.0.0.1:1/db?application_name=a@b":          true,
		"u:p@q?r@127.0.0.1:1/db":                             true,
		"u@v:p@127.0.0.1:1/db":                               true,
		"u:p?application_nam=q@127.0.0.1:1/db":               true,
		"u:p@q/r@127.0.0.1:1/db?application_name=without-at": true,
	} {
		db, err := models.OpenWith(t.Context(), models.Options{DatabaseURL: "postgres://" + address})
		if err == nil {
			_ = db.Close()
			t.Fatalf("%s: a database answered", address)
		}
		if got := strings.Contains(err.Error(), "must be escaped"); got != advised {
			t.Errorf("%s: %v", address, err)
		}
	}
}
