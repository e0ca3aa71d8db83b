package bundle

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// released/<edition>.json has the sums of the generated files of an earlier edition.
// released_test.go writes it.
//
//go:embed released/*.json
var releases embed.FS

// release lists the generated files of an earlier edition that every target has.
type release struct {
	GuideHead Template            `json:"guide_head"` // SCHEMA.md up to its first section
	Sections  map[string][]string `json:"sections"`   // of SCHEMA.md: their sums by generic name
	Notices   []string            `json:"notices"`    // sums of NOTICE.md
}

// Template identifies a text with marks, which a project's values replace, by the
// SHA-256 of the text without the marks.
type Template struct {
	SHA256 string `json:"sha256"`
	Marks  []Mark `json:"marks,omitempty"`
}

// Mark is the position of a value, in bytes of the text without marks.
type Mark struct {
	At   int    `json:"at"`
	Name string `json:"name"`
}

// NewTemplate returns the template of a text whose marks are written @NAME@.
func NewTemplate(text string, names []string) Template {
	var out Template
	plain := sha256.New()
	at := 0
	for text != "" {
		next, name := len(text), ""
		for _, n := range names {
			if i := strings.Index(text, "@"+n+"@"); i >= 0 && i < next {
				next, name = i, n
			}
		}
		io.WriteString(plain, text[:next])
		at += next
		text = text[next:]
		if name != "" {
			out.Marks = append(out.Marks, Mark{At: at, Name: name})
			text = text[len(name)+2:]
		}
	}
	out.SHA256 = hex.EncodeToString(plain.Sum(nil))
	return out
}

// Is reports whether a text is the template with the values for its marks.
func (t Template) Is(text []byte, values map[string]string) bool {
	plain := sha256.New()
	at := 0
	for _, m := range t.Marks {
		if m.At < at || m.At-at > len(text) {
			return false
		}
		plain.Write(text[:m.At-at])
		rest, ok := bytes.CutPrefix(text[m.At-at:], []byte(values[m.Name]))
		if !ok {
			return false
		}
		text, at = rest, m.At
	}
	plain.Write(text)
	return hex.EncodeToString(plain.Sum(nil)) == t.SHA256
}

// releaseOf returns the generated files of an earlier edition.
func releaseOf(edition int) (release, error) {
	var r release
	text, err := releases.ReadFile("released/" + strconv.Itoa(edition) + ".json")
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return release{}, fmt.Errorf("bundle: edition %d: %w", edition, err)
	}
	return r, nil
}

// released compares the generated files of an earlier edition with their recorded sums.
func (l *ledgerCheck) released(b *Build, parts []Part) error {
	edition := l.report.Manifest.edition()
	known, err := releaseOf(edition)
	if err != nil {
		return err
	}
	ours := namesOf(parts)
	for _, name := range l.v.names() {
		generic := genericName(name)
		if len(known.Sections[generic]) == 0 || generic != name && !ours[name] {
			return noFile(name)
		}
		if name != guideFile && path.Base(name) != noticeName {
			continue
		}
		text, err := l.v.read(name)
		if err != nil {
			return err
		}
		same := slices.Contains(known.Notices, textSum(text))
		if name == guideFile {
			same = known.describes(b, text)
		}
		if !same {
			return Differs(name)
		}
	}
	for _, part := range parts {
		if !strings.HasPrefix(part.Name, "openapi") {
			continue
		}
		if err := l.v.same(part); err != nil { // the same in every edition so far
			return err
		}
	}
	if b.target.Earlier == nil {
		return nil
	}
	return b.target.Earlier(b, edition, l.v.open)
}

// describes reports whether text is the guide of the build: the head, and only known
// sections.
func (r release) describes(b *Build, text []byte) bool {
	const begin = "\n## `"
	head, rest, _ := strings.Cut(string(text), begin)
	if !r.GuideHead.Is([]byte(head), b.guideValues()) {
		return false
	}
	for section := range strings.SplitSeq(rest, begin) {
		name, doc, ok := strings.Cut(section, "`\n\n")
		if !ok || !slices.Contains(r.Sections[genericName(name)], textSum([]byte(doc))) {
			return false
		}
	}
	return true
}

func textSum(text []byte) string {
	sum := sha256.Sum256(text)
	return hexSum(sum)
}

// numbered matches the end of a name of a file of which there are as many as are needed.
var numbered = regexp.MustCompile(`-[0-9]+\.json$`)

// genericName returns a file's name with * in place of the tenant, version or number.
func genericName(name string) string {
	name = numbered.ReplaceAllString(name, "-*.json")
	folder, rest, ok := strings.Cut(name, "/")
	switch {
	case name == "openapi.json": // the document of a project with one version
		return "openapi/*.json"
	case ok && folder == "tenants":
		_, rest, _ = strings.Cut(rest, "/")
		return "tenants/*/" + rest
	case ok && folder == "openapi":
		return "openapi/*.json"
	}
	return name
}
