package ui_test

import (
	"testing"

	"postern/views/ui"
)

func TestCurl(t *testing.T) {
	got := ui.Page{Control: "https://postern.example.com"}.Curl("/api/v1/products", `{"name": "store"}`)
	want := "curl https://postern.example.com/api/v1/products \\\n" +
		"  -H \"Authorization: Bearer $POSTERN_TOKEN\" \\\n" +
		"  -H 'content-type: application/json' \\\n" +
		"  -d '{\"name\": \"store\"}'"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
