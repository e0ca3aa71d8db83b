package docs

import (
	_ "embed"
	"html"
)

// Notices are the licenses of the software of others in the program, as text. `go run ./tools/notices` writes the file.
//
//go:embed THIRD_PARTY_NOTICES
var Notices string

// The slug and the title of the page with the notices. It is not in Contents: it has no Markdown and isn't searched.
const (
	NoticesSlug  = "notices"
	NoticesTitle = "Third-party notices"
)

// NoticesPage returns the page with the notices.
func NoticesPage() *Page {
	return &Page{
		Slug:  NoticesSlug,
		Title: NoticesTitle,
		HTML:  "<h1>" + NoticesTitle + "</h1>\n<pre>" + html.EscapeString(Notices) + "</pre>\n",
	}
}
