package projects

import (
	"strings"
	"time"

	"postern/views/ui"
)

// Import is the page that makes a project of a zip. Its form posts name and the file zip to
// PreviewPath to be told what an import would do, and to ImportPath with the query sha256.
// A field of the form would come after the file, which is read as it arrives.
type Import struct {
	Page   ui.Page
	Team   string // name of the team that gets the project
	Denied bool   // the visitor may import nothing into the team
	Name   ui.Value
	Error  string       // about the zip, or the form as a whole
	Found  *ImportFound // what an import would do; nil before a preview

	PlanError string          // about the files of another gateway
	Earlier   []EarlierImport // of other gateways' files, the newest first
}

// EarlierImport is the plan of another gateway's files, or an import of them that was applied.
type EarlierImport struct {
	URL, Name, State string
	Created          time.Time
	Expires          time.Time // zero if it was applied
}

// The paths of the form.
const (
	ImportPath  = "/imports"
	PreviewPath = "/imports/preview"
	PlanPath    = "/imports/plan" // takes the files of another gateway
)

// ImportFound says what an import of a zip would do.
type ImportFound struct {
	Name    string // of the new project
	SHA256  string // of the zip, in hexadecimal
	Made    []ui.Fact
	LeftOut []ImportItem
}

// ImportItem is something that the new project would not have as it was.
type ImportItem struct{ Title, Subject, Detail string }

// heading says in a line what the page has found.
func (f ImportFound) heading() string { return f.Name + " will contain" }

// announced is what the answer to the form says to who can't see it.
func (m Import) announced() string {
	switch {
	case m.Error != "" || m.Name.Error != "":
		return strings.TrimSpace("The zip wasn't imported. " + m.Name.Error + " " + m.Error)
	case m.Found != nil:
		return m.Found.heading()
	}
	return ""
}
