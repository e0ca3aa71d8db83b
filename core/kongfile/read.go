package kongfile

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"postern/core/filelimits"
)

// Form is how a file was written.
type Form string

// The forms.
const (
	Declarative Form = "declarative" // by people or scripts, for DB-less Kong
	DecK        Form = "deck"        // by decK
	ConfigDump  Form = "config"      // the answer of GET /config, or the text in it
)

// File is a Kong file.
type File struct {
	Version      string // _format_version: 1.1, 2.1 or 3.0
	Form         Form
	Entities     []*Entity // in the order of the file, children after their parents
	Placeholders []Placeholder
	Settings     []string // names of the file's own members, such as _transform, that change no entity

	shared  map[string]Value // decK's _plugin_configs
	base    map[Type]Value   // what decK's _info.defaults say about entities of a type
	left    int              // steps that completing entities may still take
	byKind  map[Type][]*Entity
	globals []*Entity // plugins that apply to every call
}

// topLevel finds the members of a Kong file at the beginning of lines, or in JSON.
var topLevel = regexp.MustCompile(`(?m)(^|[{,]\s*)["']?_format_version["']?\s*:|` +
	`^["']?(services|routes|consumers|upstreams|keyauth_credentials|_plugin_configs)["']?\s*:\s*(#.*)?\r?$`)

// dump finds the beginning of an answer of GET /config.
var dump = regexp.MustCompile(`^\s*\{\s*"config"\s*:\s*"`)

// Recognizes reports whether a file looks like one of Kong.
func Recognizes(text []byte) bool {
	return topLevel.Match(text) || dump.Match(text) && bytes.Contains(text, []byte("_format_version"))
}

// of other files that people try to import
var (
	amazon  = regexp.MustCompile(`["']?x-amazon-apigateway-[a-z-]+["']?\s*:`)
	openAPI = regexp.MustCompile(`(?m)(^|[{,]\s*)["']?(openapi|swagger)["']?\s*:`)
)

// Otherwise returns what a file is that isn't one of Kong, with what can be done with it; "" if that isn't known.
func Otherwise(text []byte) string {
	switch {
	case Recognizes(text):
		return ""
	case amazon.Match(text):
		return "This is an export of AWS API Gateway. Importing its APIs isn't available yet. Import its keys with " +
			"postern keys import, and see docs/moving-in.md for the files that this takes."
	case openAPI.Match(text):
		return "This is an OpenAPI document. Create a project from it with postern create --openapi FILE."
	}
	return ""
}

// Read reads a file. set has the values of placeholders by their names. Errors are *Error.
func Read(text []byte, set map[string]string) (*File, error) {
	d, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return d.File(set)
}

// Parse reads a file without filling its placeholders. Errors are *Error.
func Parse(text []byte) (*Document, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	switch {
	case int64(len(text)) > filelimits.KongSize.Most:
		return nil, beyond(filelimits.KongSize)
	case bytes.HasPrefix(text, []byte("\xFF\xFE")), bytes.HasPrefix(text, []byte("\xFE\xFF")):
		return nil, refuse(0, "The file is in UTF-16. Save it as UTF-8.")
	case bytes.IndexByte(text, 0) >= 0:
		return nil, refuse(1+bytes.Count(text[:bytes.IndexByte(text, 0)], []byte("\n")), "The file has a NUL byte, so "+
			"it isn't a text. Export it again.")
	case !utf8.Valid(text):
		return nil, refuse(0, "The file isn't in UTF-8. Save it as UTF-8.")
	}
	if other := Otherwise(text); other != "" {
		return nil, refuse(0, "%s", other)
	}
	d := &Document{form: Declarative}
	if dump.Match(text) {
		answer, err := fromJSON(text)
		if err != nil {
			return nil, err
		}
		if len(answer.Members) == 1 {
			d.form, text = ConfigDump, []byte(answer.Get("config").Text)
		}
	}
	var err error
	if text, d.marks, err = replacePlaceholders(text); err != nil {
		return nil, err
	}
	if d.root, err = parse(text); err != nil {
		return nil, err
	}
	if d.root.Kind != Object {
		return nil, refuse(d.root.Line, "The file isn't an object with services or other members. Check whether it is "+
			"a file of Kong.")
	}
	return d, nil
}

func parse(text []byte) (Value, error) {
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		v, err := fromJSON(text)
		if err == nil {
			return v, nil
		}
		if flow, flowErr := fromYAML(text); flowErr == nil { // an object in YAML's flow style
			return flow, nil
		}
		return Value{}, err
	}
	return fromYAML(text)
}

// header reads the members of the file that aren't entities.
func (f *File) header(root Value) error {
	version := root.Get("_format_version")
	f.Version = version.Text
	switch {
	case !version.IsSet():
		return refuse(0, `The file has no _format_version. Add _format_version: "3.0", or the version that the file `+
			"was written for.")
	case f.Version != "1.1" && f.Version != "2.1" && f.Version != "3.0":
		return refuse(version.Line, "This _format_version isn't 1.1, 2.1 or 3.0. Have Kong or decK convert the file "+
			"(deck file convert).")
	}
	f.base = map[Type]Value{}
	for _, m := range root.Get("_info", "defaults").Members {
		f.base[Type(m.Name)] = m.Value
	}
	for _, m := range root.Members {
		if !strings.HasPrefix(m.Name, "_") {
			continue
		}
		switch m.Name {
		case "_format_version", "_transform", "_comment", "_ignore":
		case "_info", "_workspace", "_konnect":
			f.Form = DecK
		case "_plugin_configs":
			f.Form = DecK
			f.shared = map[string]Value{}
			for _, one := range m.Value.Members {
				f.shared[one.Name] = one.Value
			}
		default:
			f.Settings = append(f.Settings, m.Name)
		}
	}
	return nil
}
