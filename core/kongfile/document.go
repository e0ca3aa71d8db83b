package kongfile

import (
	"bytes"
	"compress/flate"
	"encoding/gob"
	"errors"
	"fmt"
	"io"

	"postern/core/filelimits"
)

// Document is a file that was parsed, before its placeholders are filled. It can be kept as bytes and read again with
// other values.
type Document struct {
	form  Form
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

// HashKeys replaces the values of API keys, apart from those with placeholders.
func (d *Document) HashKeys(hash func(text string) Key) { hashKeys(&d.root, d.marks, hash) }

func hashKeys(v *Value, m *marks, hash func(string) Key) {
	for i := range v.Items {
		hashKeys(&v.Items[i], m, hash)
	}
	for i := range v.Members {
		member := &v.Members[i]
		if lists[member.Name] != KeyAuth {
			hashKeys(&member.Value, m, hash)
			continue
		}
		if member.Value.Kind == Object {
			hashKey(&member.Value, m, hash)
		}
		for n := range member.Value.Items {
			hashKey(&member.Value.Items[n], m, hash)
		}
	}
}

func hashKey(credential *Value, m *marks, hash func(string) Key) {
	for i := range credential.Members {
		value := &credential.Members[i].Value
		if credential.Members[i].Name != "key" || value.Kind != Text && value.Kind != Number && value.Kind != Bool ||
			m.isMarked(value.Text) {
			continue
		}
		*value = Value{Kind: Hashed, Line: value.Line, Key: new(hash(value.Text))}
	}
}

// stored is a Document as bytes have it.
type stored struct {
	Form         Form
	Root         Value
	Begin        string
	Texts, Names []string
	Found        map[string]*Placeholder
}

// MarshalBinary returns the document as bytes, which have all of its secrets but hashed keys.
func (d *Document) MarshalBinary() ([]byte, error) {
	var out bytes.Buffer
	packed, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("kongfile: pack a document: %w", err)
	}
	m := d.marks
	err = gob.NewEncoder(packed).Encode(stored{d.form, d.root, m.begin, m.texts, m.names, m.found})
	if err := errors.Join(err, packed.Close()); err != nil {
		return nil, fmt.Errorf("kongfile: pack a document: %w", err)
	}
	return out.Bytes(), nil
}

// UnmarshalBinary reads a document that MarshalBinary returned.
func (d *Document) UnmarshalBinary(text []byte) error {
	var in stored
	unpacked := flate.NewReader(bytes.NewReader(text))
	if err := gob.NewDecoder(unpacked).Decode(&in); err != nil {
		return fmt.Errorf("kongfile: unpack a document: %w", err)
	}
	d.form, d.root = in.Form, in.Root
	d.marks = &marks{begin: in.Begin, texts: in.Texts, names: in.Names, found: in.Found}
	if d.marks.found == nil {
		d.marks.found = map[string]*Placeholder{}
	}
	return nil
}

// Placeholders returns the placeholders in the order of the file.
func (d *Document) Placeholders() []Placeholder { return d.marks.list() }

// File returns the entities of the document. set has the values of placeholders by their names. Errors are *Error.
func (d *Document) File(set map[string]string) (*File, error) {
	m := d.marks.with(set)
	root := d.root
	if len(m.texts) > 0 {
		root = root.clone()
		m.fill(&root)
	}
	f := &File{
		Form: d.form, Placeholders: m.list(), byKind: map[Type][]*Entity{},
		left: int(filelimits.KongDefaults.Most) * stepsOfMember,
	}
	if err := f.header(root); err != nil {
		return nil, err
	}
	if err := f.collect(root); err != nil {
		return nil, err
	}
	if err := f.resolve(); err != nil {
		return nil, err
	}
	return f, nil
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

// ReadFrom reads a text of at most the size of a Kong file.
func ReadFrom(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, filelimits.KongSize.Most+1))
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	if int64(len(text)) > filelimits.KongSize.Most {
		return nil, beyond(filelimits.KongSize)
	}
	return text, nil
}
