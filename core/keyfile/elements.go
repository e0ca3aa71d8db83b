package keyfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"postern/core/filelimits"
)

// containers are the members of JSON that have a list of rows: of our own lists and AWS (items), of Unkey (keys), of
// Kong's Admin API (data) and files, of Azure and AWS's own API (value, item).
var containers = []string{"items", "item", "data", "keys", "value", "consumers", "keyauth_credentials"}

func isContainer(name string) bool { return slices.Contains(containers, name) }

// mostSkipped is how much of a file can be members that keys don't have, such as the routes of a Kong file, in bytes.
const mostSkipped = 64 << 20

// element is an object of a JSON file that may be a row.
type element struct {
	number    int64
	value     value
	container string   // member that contains it; "" for an object on its own
	refused   *Refusal // the row can't be read
}

// jsonFile reads the objects of NDJSON, of an array, or of documents with members that are lists of objects.
type jsonFile struct {
	scan      *jsonScanner
	lines     bool
	number    int64 // of the last line or object
	documents int64 // and lines
	skipped   int64 // bytes of members that are not kept
	queue     []element

	inside []byte   // brackets that are open: [ of an array, { of a document, or both
	list   string   // the container that is read
	lists  []string // containers of the document
	head   []byte   // members of the document that aren't containers, as JSON without its end
	full   bool     // head would be larger than a row
	plan   string   // usagePlanId of the document
}

// isLines reports whether a file that begins with { is NDJSON, whose first lines may be broken. Otherwise an object may
// take several lines.
func isLines(begin []byte) bool {
	first, rest, found := bytes.Cut(bytes.TrimLeft(begin, " \t\r\n"), []byte("\n"))
	first = bytes.TrimSpace(first)
	if !bytes.HasPrefix(first, []byte("{")) || bytes.ContainsAny(first[len(first)-1:], "{[,") {
		return false
	}
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	if _, err := parse(first); err == nil {
		return found
	}
	_, err := parse(second)
	return bytes.HasPrefix(second, []byte("{")) && (err == nil || bytes.HasSuffix(first, []byte("}")))
}

// next returns the next object. It returns io.EOF at the end.
func (f *jsonFile) next() (element, error) {
	for {
		if len(f.queue) > 0 {
			e := f.queue[0]
			f.queue = f.queue[1:]
			return e, nil
		}
		var err error
		switch {
		case f.lines:
			err = f.line()
		case len(f.inside) == 0:
			err = f.document()
		case f.inside[len(f.inside)-1] == '[':
			err = f.arrayElement()
		default:
			err = f.documentMember()
		}
		if err != nil {
			return element{}, err
		}
	}
}

// line reads a line of NDJSON.
func (f *jsonFile) line() error {
	f.number++
	raw, err := readLine(f.scan.in, f.number)
	if err != nil {
		return err
	}
	if f.documents++; f.documents > 2*filelimits.KeyRow.Most { // lines without rows
		return errBlank(f.number)
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return nil
	}
	for _, part := range split(raw) {
		e := f.element(part, "")
		if e.refused != nil || !f.expand(e.value) {
			f.queue = append(f.queue, e)
		}
	}
	return nil
}

// split returns the values of a line: several if answers without line breaks were joined.
func split(line []byte) [][]byte {
	if json.Valid(line) {
		return [][]byte{line}
	}
	var parts [][]byte
	for in := json.NewDecoder(bytes.NewReader(line)); ; {
		var part json.RawMessage
		switch err := in.Decode(&part); {
		case errors.Is(err, io.EOF):
			return parts
		case err != nil:
			return [][]byte{line}
		}
		parts = append(parts, part)
	}
}

// expand queues the objects of a document that is one line, and reports whether the line is a document.
func (f *jsonFile) expand(v value) bool {
	found := false
	for _, m := range v.members {
		if m.value.kind != list || !isContainer(m.name) || isConsumer(v) {
			continue
		}
		if len(m.value.list) > 0 && m.value.list[0].kind != object {
			continue
		}
		found = true
		for _, element := range m.value.list {
			f.queue = append(f.queue, f.of(element, m.name))
		}
	}
	if found {
		f.plan = v.member("usagePlanId").text
	}
	return found
}

func readLine(in *bufio.Reader, number int64) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if int64(len(line)+len(part)) > filelimits.KeyRow.Most {
			return nil, limitError(number, filelimits.KeyRow)
		}
		switch {
		case err == nil && line == nil:
			return part, nil // valid until the next read, as the rest of the row
		case errors.Is(err, bufio.ErrBufferFull):
			line = append(line, part...)
			continue
		case errors.Is(err, io.EOF) && len(line)+len(part) == 0:
			return nil, err
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
		return append(line, part...), nil
	}
}

// document begins a JSON text: an array, or an object.
func (f *jsonFile) document() error {
	c, err := f.scan.peek()
	if err != nil {
		return err
	}
	if c == ',' && f.documents > 0 { // between objects that were listed without brackets
		_, _ = f.scan.in.ReadByte()
		c, err = f.scan.peek()
		if err != nil {
			return err
		}
	}
	if c != '[' && c != '{' {
		return &Error{Row: f.number + 1, Code: CodeFormat, Detail: "The JSON contains a value that isn't an object. " +
			"Write one object per key."}
	}
	_, _ = f.scan.in.ReadByte() // it was peeked
	if f.documents++; f.documents > filelimits.KeyRows.Most {
		return limitError(f.number+1, filelimits.KeyRows)
	}
	f.inside = append(f.inside, c)
	f.list, f.lists, f.full, f.plan, f.head = "", nil, false, "", []byte("{")
	return nil
}

// arrayElement reads an object of an array, or the array's end.
func (f *jsonFile) arrayElement() error {
	c, err := f.scan.peek()
	switch {
	case errors.Is(err, io.EOF):
		return truncated(f.number + 1)
	case err != nil:
		return err
	case c == ']' || c == ',':
		_, _ = f.scan.in.ReadByte() // it was peeked
		if c == ']' {
			f.inside = f.inside[:len(f.inside)-1]
		}
		return nil
	}
	raw, err := f.scan.value(f.number + 1)
	if err != nil {
		return err
	}
	f.number++
	f.queue = append(f.queue, f.element(raw, f.list))
	return nil
}

// documentMember reads a member of a document, up to the first object of a list of rows, or the document's end.
func (f *jsonFile) documentMember() error {
	c, err := f.scan.peek()
	switch {
	case errors.Is(err, io.EOF):
		return truncated(f.number + 1)
	case err != nil:
		return err
	case c == '}':
		_, _ = f.scan.in.ReadByte()
		return f.endDocument()
	case c == ',':
		_, _ = f.scan.in.ReadByte()
		return nil
	case c != '"':
		return notJSON(f.number + 1)
	}
	quoted, err := f.scan.value(f.number + 1)
	if err != nil {
		return err
	}
	name, err := parse(quoted)
	if err != nil {
		return notJSON(f.number + 1)
	}
	if c, err = f.scan.peek(); err != nil || c != ':' {
		return notJSON(f.number + 1)
	}
	_, _ = f.scan.in.ReadByte()
	if c, err = f.scan.peek(); err != nil {
		return truncated(f.number + 1)
	}
	var begin []byte
	if c == '[' && isContainer(name.text) {
		_, _ = f.scan.in.ReadByte()
		if c, err = f.scan.peek(); err != nil {
			return truncated(f.number + 1)
		}
		if c == '{' || c == ']' {
			if slices.Contains(f.lists, name.text) {
				return &Error{Row: f.number + 1, Code: CodeRepeated, Detail: "The file contains the " +
					"member " + name.text +
					" twice. Remove one."}
			}
			f.inside, f.list, f.lists = append(f.inside, '['), name.text, append(f.lists, name.text)
			return nil
		}
		begin = []byte("[")
	}
	return f.headMember(name.text, begin)
}

// headMember keeps a member of a document that isn't a list of rows.
func (f *jsonFile) headMember(name string, begin []byte) error {
	raw, err := f.scan.value(f.number+1, begin...)
	if err != nil {
		return err
	}
	if strings.EqualFold(name, "usagePlanId") && len(raw) < 256 {
		if v, err := parse(raw); err == nil {
			f.plan = v.text
		}
	}
	if f.full = f.full || int64(len(f.head)+len(name)+len(raw)) > filelimits.KeyRow.Most; f.full {
		if f.skipped += int64(len(raw)); f.skipped > mostSkipped {
			return limitError(f.number+1, filelimits.KeyRow)
		}
		return nil
	}
	if len(f.head) > 1 {
		f.head = append(f.head, ',')
	}
	f.head = append(append(appendText(f.head, name), ':'), raw...)
	return nil
}

// endDocument ends an object that isn't in a list: without a list of rows, it is a row.
func (f *jsonFile) endDocument() error {
	f.inside = f.inside[:0]
	if len(f.lists) > 0 {
		return nil
	}
	f.number++
	if f.full {
		return limitError(f.number, filelimits.KeyRow)
	}
	f.queue = append(f.queue, f.element(append(f.head, '}'), ""))
	return nil
}

// element parses an object.
func (f *jsonFile) element(raw []byte, container string) element {
	e := f.of(value{}, container)
	refuse := func(code, detail string) element {
		e.refused = &Refusal{Row: f.number, Code: code, Detail: detail}
		return e
	}
	if wrong := brokenText(raw); wrong != "" {
		return refuse(CodeFormat, wrong)
	}
	counts := filelimits.Count(raw)
	if limit := counts.Exceeded(filelimits.KeyValues, filelimits.KeyValues, filelimits.KeyNesting); limit != nil {
		return refuse(CodeLimit, limit.Sentence())
	}
	v, err := parse(raw)
	switch {
	case errors.Is(err, errRepeated):
		return refuse(CodeRepeated, "An object in the row contains the same member twice. Remove one.")
	case errors.Is(err, errSurrogate):
		return refuse(CodeFormat, "A string in the row contains an unpaired surrogate. Export the file again.")
	case err != nil:
		return refuse(CodeFormat, "The row isn't valid JSON. Write each key as an object, with names and strings in "+
			"double quotes.")
	case v.kind != object:
		return refuse(CodeFormat, "The row isn't an object. Write each key as an object such as {\"owner\": …, "+
			"\"key\": …}.")
	case int64(len(v.members)) > filelimits.KeyColumns.Most:
		return refuse(CodeLimit, filelimits.KeyColumns.Sentence())
	}
	e.value = v
	return e
}

func (f *jsonFile) of(v value, container string) element {
	return element{number: f.number, value: v, container: container}
}

func notJSON(row int64) error {
	return &Error{Row: row, Code: CodeFormat, Detail: "The file isn't valid JSON. Export it again."}
}
