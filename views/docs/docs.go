// Package docs holds the pages of the documentation: contents, search, articles, and the reference of
// the JSON API.
//
// It owns the frame around rendered articles. It does not own the articles (postern/docs).
package docs

import (
	"strings"

	"postern/views/ui"
)

// Frame is what every page has around its content.
type Frame struct {
	Page     ui.Page
	Query    string // of the search
	Chapters []Chapter
}

// Chapter is a group of pages.
type Chapter struct {
	Title string
	Pages []ui.Tab
}

// Index is the contents or, with a query, what it found.
type Index struct {
	Frame
	Hits []Hit
}

// Hit is a section that the search found.
type Hit struct{ URL, Page, Section, Excerpt string }

// Article is a page of text. HTML comes from Markdown that is part of the program.
type Article struct {
	Frame
	HTML     string
	Headings []ui.Link
}

// Reference is the list of all operations of the JSON API.
type Reference struct {
	Frame
	Tags []Tag
}

// TagDetail is the operations of one tag.
type TagDetail struct {
	Frame
	Tag Tag
}

// Tag is a group of operations.
type Tag struct {
	Title, URL string
	Operations []Operation
}

// Operation is one method of a path.
type Operation struct {
	ID, Method, Path, Summary, Description, Curl string

	Parameters []Field
	Body       []Field
	BodyType   string // media type, "" for no body
	Answers    []Answer
}

// Field is a parameter or a member of an object.
type Field struct {
	Name, In, Type, Doc string
	Required            bool
}

// Answer is what an operation answers with one status.
type Answer struct {
	Status, Doc string
	Fields      []Field
}

// line describes an answer without members.
func (a Answer) line() string {
	if a.Doc == "" {
		return "Response " + a.Status
	}
	return "Response " + a.Status + ": " + strings.TrimSuffix(a.Doc, ".") + "."
}
