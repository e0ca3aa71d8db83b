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
