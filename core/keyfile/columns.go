package keyfile

import (
	"fmt"
	"strings"
)

// column is a name of a file with the field that it is read into.
type column struct {
	name    string
	pointer string
	field   string // "" for none
}

// columns finds the fields of names.
type columns struct {
	mapping map[string]string // by names in lower case
	dialect *dialect
	found   map[string]column // names of JSON that were seen; bounded
}

// most names of JSON that are remembered.
const maxFound = 1000

// of returns the column of a name. position is that of a CSV column, from 1; 0 for JSON.
func (c *columns) of(name string, position int) column {
	if position == 0 {
		if known, ok := c.found[name]; ok {
			return known
		}
	}
	col := column{name: name, pointer: "/" + escape(name)}
	lower := strings.ToLower(strings.TrimSpace(name))
	if field, ok := c.mapping[lower]; ok {
		col.field = field
	} else if field, ok := c.dialect.fields[lower]; ok {
		col.field = field
	} else if c.dialect.source == Native {
		col.field = nativeField(lower)
	}
	if col.field == "" && !isName(name) {
		col.name, col.pointer = unnamed(position), ""
	}
	if position == 0 && len(c.found) < maxFound {
		c.found[name] = col
	}
	return col
}

func nativeField(lower string) string {
	if strings.HasPrefix(lower, metadataPrefix) && len(lower) > len(metadataPrefix) {
		return lower
	}
	return nativeFields[lower]
}

// unnamed is the name of a column whose name may be a key.
func unnamed(position int) string {
	if position == 0 {
		return "(a name that isn't shown, because it may be a key)"
	}
	return fmt.Sprintf("column %d", position)
}

func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// checkHeader returns the error of the header of a CSV file.
func checkHeader(cols []column, names []string) error {
	seen, fields := map[string]bool{}, map[string]string{}
	var proposals []Proposal
	odd, known := 0, 0
	for i, col := range cols {
		lower := strings.ToLower(strings.TrimSpace(names[i]))
		switch {
		case lower == "":
			return &Error{Row: 1, Code: CodeFormat, Detail: fmt.Sprintf("Column %d has no name. Name each column in "+
				"the first row.", i+1)}
		case seen[lower]:
			return &Error{Row: 1, Code: CodeRepeated, Detail: fmt.Sprintf("Two columns are named %s. Rename one of "+
				"them.", col.name)}
		case col.field == "" && col.pointer == "":
			odd++
		case col.field == "":
			known++
			proposals = append(proposals, propose(strings.TrimSpace(col.name)))
		case takesSeveral(col.field):
			known++
		case fields[col.field] != "":
			return &Error{Row: 1, Code: CodeRepeated, Detail: fmt.Sprintf("The columns %s and %s are both read as %s. "+
				"Leave one out with --map %s=-.", fields[col.field], col.name, col.field, col.name)}
		default:
			known++
		}
		seen[lower], fields[col.field] = true, col.name
	}
	switch {
	case odd > 0 && odd >= known:
		return &Error{Row: 1, Code: CodeFormat, Detail: "The first row doesn't contain column names. Add a row with " +
			"the column names before it, such as owner,key."}
	case odd > 0:
		return &Error{Row: 1, Code: CodeUnknown, Detail: "A column's name looks like a key. Rename the column."}
	case len(proposals) > 0:
		return unknownError(proposals)
	}
	return nil
}

// shownProposals is how many proposals the text of an error has.
const shownProposals = 10

func unknownError(proposals []Proposal) error {
	var names, flags []string
	for _, p := range proposals[:min(len(proposals), shownProposals)] {
		names = append(names, p.Column)
		flags = append(flags, p.flag())
	}
	more := ""
	if n := len(proposals) - shownProposals; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return &Error{
		Row: 1, Code: CodeUnknown, Proposals: proposals,
		Detail: fmt.Sprintf("No field matches %s%s. Map each one, for example %s. COLUMN=- leaves a column out, and "+
			"COLUMN=metadata.NAME keeps it as metadata.", strings.Join(names, ", "), more, strings.Join(flags, " ")),
	}
}
