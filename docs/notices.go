package docs

import (
	"compress/gzip"
	_ "embed"
	"html"
	"io"
	"strings"
)

// `go run ./tools/notices` writes the file. It is compressed because that makes the program 0.3 MB smaller.
//
//go:embed THIRD_PARTY_NOTICES.gz
var notices string

// Notices returns the licenses of the software of others in the program, as text.
func Notices() (string, error) {
	text, err := gzip.NewReader(strings.NewReader(notices))
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(text)
	return string(content), err
}

// The slug and the title of the page with the notices. It is not in Contents: it has no Markdown and isn't searched.
const (
	NoticesSlug  = "notices"
	NoticesTitle = "Third-party notices"
)

// NoticesPage returns the page with the notices.
func NoticesPage() (*Page, error) {
	content, err := Notices()
	return &Page{
		Slug:  NoticesSlug,
		Title: NoticesTitle,
		HTML:  "<h1>" + NoticesTitle + "</h1>\n<pre>" + html.EscapeString(content) + "</pre>\n",
	}, err
}
