package keyfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"postern/core/filelimits"
)

// Reader reads the rows of a file, one at a time. Its memory doesn't grow with the rows, except with the consumers of a
// Kong file and the keys of an AWS file, which filelimits.KeyConsumers bounds.
type Reader struct {
	options   Options
	dialect   *dialect
	names     columns
	header    []column    // of a CSV file
	csv       *csvScanner // nil for JSON
	json      *jsonFile
	pending   []element // that were read before the others
	consumers map[string]Consumer
	notes     map[string]*Note
	columns   []Column
	ready     []result
	records   int64
	ended     error
}

// result is a key, or why a row isn't taken.
type result struct {
	row     Row
	refused []Refusal
}

// Open reads the beginning of a file: its format, its columns and its source. It returns an *Error if the file can't be
// read, among others for CSV columns that no field takes, and errors of file unchanged.
func Open(file io.Reader, o Options) (*Reader, error) {
	mapping, err := checkMap(o.Map)
	if err != nil {
		return nil, err
	}
	if o.Written.IsZero() {
		o.Written = o.Now
	}
	r := &Reader{
		options: o, consumers: map[string]Consumer{}, notes: map[string]*Note{},
		names: columns{mapping: mapping, found: map[string]column{}},
	}
	in, begin, err := textOf(file)
	if err != nil {
		return nil, err
	}
	if c := bytes.TrimLeft(begin, " \t\r\n")[0]; c == '{' || c == '[' {
		err = r.openJSON(in, begin)
	} else {
		err = r.openCSV(in, begin)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Reader) openCSV(in *bufio.Reader, begin []byte) error {
	r.csv = &csvScanner{in: in, comma: separator(begin)}
	if err := r.csv.next(); err != nil {
		return err
	}
	if wrong := brokenText(r.csv.text); wrong != "" {
		return &Error{Row: 1, Code: CodeFormat, Detail: strings.ReplaceAll(wrong, "The row", "The first row")}
	}
	var names []string
	set := map[string]bool{}
	for i := range r.csv.ends {
		names = append(names, string(r.csv.cell(i)))
		set[strings.ToLower(strings.TrimSpace(names[i]))] = true
	}
	if err := r.recognize(set, ""); err != nil {
		return err
	}
	r.csv.singles = r.dialect.source == AWS
	for i, name := range names {
		r.header = append(r.header, r.names.of(strings.TrimSpace(name), i+1))
	}
	r.columns = shownColumns(r.header, r.dialect.source)
	err := checkHeader(r.header, names)
	if err == nil {
		err = r.checkColumns(set)
	}
	if file := (*Error)(nil); errors.As(err, &file) {
		file.Columns = r.columns
	}
	return err
}

// checkColumns returns the error of a header that lacks a column.
func (r *Reader) checkColumns(names map[string]bool) error {
	for _, column := range slices.Sorted(maps.Keys(r.names.mapping)) {
		if !names[column] && isName(column) {
			return &Error{Row: 1, Code: CodeUnknown, Mapping: true, Detail: fmt.Sprintf("The mapping names the "+
				"column %s, which the file doesn't contain. Use the column names in the first row of the "+
				"file.", column)}
		}
	}
	has := func(fields ...string) bool {
		return slices.ContainsFunc(r.header, func(c column) bool { return slices.Contains(fields, c.field) })
	}
	switch {
	case !has(fieldKey, fieldSHA256, "_hash", "_key"):
		return &Error{Row: 1, Code: CodeMissing, Detail: "No column contains the keys. Map one with --map " +
			"COLUMN=key, or map a column of SHA-256 hashes with --map COLUMN=sha256."}
	case r.dialect.source == Native && !has(fieldOwner):
		return &Error{Row: 1, Code: CodeMissing, Detail: "No column contains the keys' owners. Map one with " +
			"--map COLUMN=owner."}
	}
	return nil
}

func shownColumns(cols []column, source Source) (shown []Column) {
	for _, c := range cols {
		field := c.field
		if strings.HasPrefix(field, "_") {
			field = string(source)
		}
		shown = append(shown, Column{Name: c.name, Field: field})
	}
	return shown
}

// recognize finds the source by names of columns in lower case.
func (r *Reader) recognize(names map[string]bool, container string) error {
	if wrong := trapped(names, r.names.mapping); wrong != "" {
		return &Error{Code: CodeHash, Detail: wrong}
	}
	r.dialect = recognize(names, container, r.names.mapping)
	r.names.dialect = r.dialect
	return nil
}

// mostPending is how many objects that can't be read may come before the one that the source is recognized by.
const mostPending = 1000

func (r *Reader) openJSON(in *bufio.Reader, begin []byte) error {
	r.json = &jsonFile{scan: &jsonScanner{in: in}, lines: isLines(begin)}
	var sample element
	for len(r.pending) < mostPending {
		e, err := r.json.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		r.pending = append(r.pending, e)
		if e.refused == nil {
			sample = e
			break
		}
	}
	if len(r.pending) == 0 {
		return &Error{Code: CodeNoKeys, Detail: "The file contains no keys. Send a file with at least one."}
	}
	if err := r.recognize(namesOf(sample.value), sample.container); err != nil {
		return err
	}
	var cols []column
	cells, unknown := r.cells(sample.value, "", nil, nil)
	for _, c := range cells {
		cols = append(cols, c.column)
	}
	r.columns = shownColumns(append(cols, unknown...), r.dialect.source)
	return nil
}

// Source returns the source that was recognized.
func (r *Reader) Source() Source { return r.dialect.source }

// Columns returns the columns of the file with their fields, for a page on which they are mapped.
func (r *Reader) Columns() []Column { return r.columns }

// Next returns the next key, or why a row isn't taken: either refused is empty, or the row is only a number. It returns
// io.EOF at the end, an *Error if the rest can't be read, and errors of the file unchanged. Numbers don't fall. They
// are of records: of a CSV file the first row after the header is 2, as in a spreadsheet; of NDJSON they are lines; in
// other JSON they are positions from 1 among the objects of the file.
func (r *Reader) Next() (Row, []Refusal, error) {
	for len(r.ready) == 0 {
		if r.ended != nil {
			return Row{}, nil, r.ended
		}
		if r.dialect.source == AWS {
			if r.ended = r.readAWS(); r.ended == nil {
				r.ended = io.EOF
			}
			continue
		}
		r.ready, r.ended = r.read(nil)
	}
	found := r.ready[0]
	r.ready = r.ready[1:]
	return found.row, found.refused, nil
}

// read reads a record: no result for one without a key, such as a consumer, and several for one with several keys.
func (r *Reader) read(keys *awsKeys) ([]result, error) {
	if r.csv != nil {
		if err := r.csv.next(); err != nil {
			return nil, err
		}
		return r.readCSV(), r.count(r.csv.number)
	}
	var e element
	if len(r.pending) > 0 {
		e, r.pending = r.pending[0], r.pending[1:]
	} else {
		var err error
		if e, err = r.json.next(); err != nil {
			return nil, err
		}
	}
	if e.refused != nil {
		return []result{{Row{Number: e.number}, []Refusal{*e.refused}}}, r.count(e.number)
	}
	if keys != nil {
		if taken, err := keys.take(e.value, r.json.plan, e.number); taken {
			return nil, err
		}
	}
	elements := []element{e}
	if r.dialect.source == Kong {
		var err error
		if elements, err = r.kongKeys(e); err != nil {
			return nil, err
		}
	}
	var results []result
	for _, e := range elements {
		if err := r.count(e.number); err != nil {
			return nil, err
		}
		results = append(results, r.readObject(e)...)
	}
	for i := range results {
		results[i].row.Part = i
	}
	return results, nil
}

// count counts a row.
func (r *Reader) count(number int64) error {
	if r.records++; r.records > filelimits.KeyRows.Most {
		return limitError(number, filelimits.KeyRows)
	}
	return nil
}

func (r *Reader) readCSV() []result {
	number := r.csv.number
	refuse := func(code, detail string) []result {
		return []result{{Row{Number: number}, []Refusal{{Row: number, Code: code, Detail: detail}}}}
	}
	if wrong := brokenText(r.csv.text); wrong != "" {
		return refuse(CodeFormat, wrong)
	}
	if r.csv.wrong != "" {
		return refuse(CodeFormat, r.csv.wrong)
	}
	for len(r.csv.ends) > len(r.header) && len(r.csv.cell(len(r.csv.ends)-1)) == 0 {
		r.csv.ends = r.csv.ends[:len(r.csv.ends)-1]
	}
	if len(r.csv.ends) != len(r.header) {
		return refuse(CodeFormat, fmt.Sprintf("The row has %d columns, but the first row has %d. Put cells that "+
			"contain the separator in double quotes.", len(r.csv.ends), len(r.header)))
	}
	d := draft{reader: r, row: Row{Number: number}}
	for i, c := range r.header {
		if s := r.csv.cell(i); len(s) > 0 && string(s) != `\N` && string(s) != "NULL" { // of MySQL, and of SQL clients
			d.set(cell{c, value{kind: text, text: string(s)}, true})
		}
	}
	return r.results(&d, row{})
}

func (r *Reader) readObject(e element) []result {
	d := draft{reader: r, row: Row{Number: e.number}}
	cells, unknown := r.cells(e.value, "", nil, nil)
	for i, c := range cells {
		if !takesSeveral(c.field) &&
			slices.ContainsFunc(cells[:i], func(before cell) bool { return before.field == c.field }) {
			d.refuse(c, CodeRepeated, "Two members of the row are read as "+c.field+". Leave one out.")
			continue
		}
		d.set(c)
	}
	for _, c := range unknown[:min(len(unknown), shownProposals)] {
		p := propose(c.name)
		detail := fmt.Sprintf("No field matches %s. Map it with %s", c.name, p.flag())
		switch {
		case c.pointer == "":
			detail = "One of the members doesn't match any field. Its name isn't shown because it may be a key. " +
				"Rename the member."
		case p.Field == Ignored:
			detail += ", which leaves it out, or keep it with " + Proposal{c.name, metadataPrefix + "NAME"}.flag() + "."
		default:
			detail += ", or leave it out with " + Proposal{c.name, Ignored}.flag() + "."
		}
		d.refuse(cell{column: c}, CodeUnknown, detail)
	}
	return r.results(&d, row{e.value, e.container})
}

// cells returns the members of an object that a field takes, and the others. Members of objects have names with dots.
func (r *Reader) cells(v value, prefix string, cells []cell, unknown []column) ([]cell, []column) {
	for _, m := range v.members {
		col := r.names.of(prefix+m.name, 0)
		switch {
		case col.field != "":
			cells = append(cells, cell{column: col, value: m.value})
		case len(m.value.members) > 0:
			cells, unknown = r.cells(m.value, prefix+m.name+".", cells, unknown)
		default:
			unknown = append(unknown, col)
		}
	}
	return cells, unknown
}

func (r *Reader) results(d *draft, e row) []result {
	r.dialect.finish(d, e)
	rows := d.finish(r.options.Now)
	if len(d.refused) > 0 {
		return []result{{Row{Number: d.row.Number}, d.refused}}
	}
	for _, code := range d.notes {
		r.note(code, d.row.Number)
	}
	found := make([]result, 0, len(rows))
	for _, row := range rows {
		found = append(found, result{row: row})
	}
	return found
}
