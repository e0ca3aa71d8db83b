package configfile

import (
	"bytes"
	"unicode/utf8"

	"postern/core/filelimits"
)

// Document is a file that was parsed, before its placeholders are filled.
type Document struct {
	Name string // of the file, if there are several

	root  Value
	marks *marks
}

// Key stands for the value of an API key that isn't kept.
type Key struct {
	SHA256   [32]byte
	Last4    string // at most a quarter of the key
	IsWeak   bool   // it can be guessed
	IsUsable bool   // it can travel in a header
	IsEmpty  bool
}

// CheckText returns the text of a file without a byte order mark. It returns an error if the file is too large, or
// isn't a text in UTF-8.
func CheckText(text []byte) ([]byte, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	switch {
	case int64(len(text)) > filelimits.GatewaySize.Most:
		return nil, Beyond(filelimits.GatewaySize)
	case bytes.HasPrefix(text, []byte("\xFF\xFE")), bytes.HasPrefix(text, []byte("\xFE\xFF")):
		return nil, Refuse(0, "The file is in UTF-16. Save it as UTF-8.")
	case bytes.IndexByte(text, 0) >= 0:
		return nil, Refuse(1+bytes.Count(text[:bytes.IndexByte(text, 0)], []byte("\n")), "The file contains a NUL "+
			"byte, so it isn't a text file. Export it again.")
	case !utf8.Valid(text):
		return nil, Refuse(0, "The file isn't in UTF-8. Save it as UTF-8.")
	}
	return text, nil
}

// Parse reads a text that CheckText returned. Errors are *Error.
func Parse(text []byte) (*Document, error) {
	d := &Document{}
	var err error
	if text, d.marks, err = mark(text); err != nil {
		return nil, err
	}
	if d.root, err = parse(text); err != nil {
		return nil, err
	}
	if d.root.Kind != Object {
		return nil, Refuse(d.root.Line, "The file isn't an object with members. Check that it is the right file.")
	}
	return d, nil
}

func parse(text []byte) (Value, error) {
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		v, err := FromJSON(text)
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

// Root returns the value of the file, in which placeholders are still marks: only names of members tell what it is.
func (d *Document) Root() *Value { return &d.root }

// Hash replaces the value of an API key, unless it has a placeholder.
func (d *Document) Hash(v *Value, hash func(text string) Key) {
	if v.Kind == Text || v.Kind == Number || v.Kind == Bool {
		if !d.marks.isMarked(v.Text) {
			*v = Value{Kind: Hashed, Line: v.Line, Key: new(hash(v.Text))}
		}
	}
}

// Values returns how many values the file has.
func (d *Document) Values() int64 {
	n := int64(0)
	d.root.walk(func(Value) { n++ })
	return n
}

// Placeholders returns the placeholders in the order of the file.
func (d *Document) Placeholders() []Placeholder { return d.marks.list(d.Name) }

// Filled returns the value of the file with placeholders replaced by the values in set, by their names, and its
// placeholders. It returns an error if the values are too long for how often the file has their placeholders.
func (d *Document) Filled(set map[string]string) (Value, []Placeholder, error) {
	m := d.marks.with(set)
	root := d.root
	if len(m.texts) > 0 {
		root = root.clone()
		left := filelimits.GatewayText.Most
		if err := m.fill(&root, &left); err != nil {
			return Value{}, nil, In(d.Name, err)
		}
	}
	return root, m.list(d.Name), nil
}

// Stored is a Document as a form that can be encoded. It has all secrets of the file but hashed keys.
type Stored struct {
	Name         string
	Root         Value
	Begin        string
	Texts, Names []string
	Found        map[string]*Placeholder
}

// Store returns the document to be encoded.
func (d *Document) Store() Stored {
	m := d.marks
	return Stored{d.Name, d.root, m.begin, m.texts, m.names, m.found}
}

// Document returns the document that was stored.
func (s Stored) Document() *Document {
	d := &Document{Name: s.Name, root: s.Root, marks: &marks{
		begin: s.Begin, texts: s.Texts, names: s.Names, found: s.Found,
	}}
	if d.marks.found == nil {
		d.marks.found = map[string]*Placeholder{}
	}
	return d
}

// clone returns a copy that shares no list or member with the value.
func (v Value) clone() Value {
	if v.Items != nil {
		items := make([]Value, len(v.Items))
		for i, item := range v.Items {
			items[i] = item.clone()
		}
		v.Items = items
	}
	if v.Members != nil {
		members := make([]Member, len(v.Members))
		for i, m := range v.Members {
			members[i] = Member{m.Name, m.Value.clone()}
		}
		v.Members = members
	}
	return v
}
