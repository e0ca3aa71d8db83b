package protocol

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"postern/core/filelimits"
)

// path is the target of an operation (RFC 7644, 3.5.2), or the attribute that a filter compares. Names are in lower
// case, because they match in any case (RFC 7643, 2.1).
type path struct {
	schema    string  // "" if the path does not name it
	attribute string  // "" for all of an extension
	filter    *filter // of the values of the attribute; nil: all
	part      string  // of a complex attribute; "": all of it
}

func (p path) String() string {
	name := p.attribute
	if p.filter != nil {
		name += "[…]"
	}
	if p.part != "" {
		name += "." + p.part
	}
	return name
}

// filter is a comparison, or several of them (RFC 7644, 3.4.2.2).
type filter struct {
	op    string // and, or, not; of a comparison: eq, ne, co, sw, ew, pr, gt, ge, lt, le
	of    []*filter
	path  path
	value any  // string, bool, json.Number, or nil for null
	exact bool // compares texts with their case; set by check
}

// parser reads paths and filters. The library that others use, filter-parser, does not bound nesting, and refuses what
// Entra ID sends: emails[type eq "work"].value in filters, and operators in uppercase.
type parser struct {
	text   string
	at     int
	kind   string // scimType of a mistake
	inside bool   // between brackets
	terms  int64
	depth  int64
}

// parsePath parses the path of an operation.
func parsePath(text string) (path, error) {
	p := &parser{text: strings.TrimSpace(text), kind: "invalidPath"}
	out, err := p.path()
	if err == nil && p.at < len(p.text) {
		err = p.mistake("the end of the path is expected")
	}
	return out, err
}

// parseFilter parses a filter. It returns nil for an empty text.
func parseFilter(text string) (*filter, error) {
	p := &parser{text: strings.TrimSpace(text), kind: "invalidFilter"}
	if p.text == "" {
		return nil, nil
	}
	out, err := p.either()
	if err == nil && p.at < len(p.text) {
		err = p.mistake("the end of the filter is expected")
	}
	return out, err
}

// mistake names a mistake and its place.
func (p *parser) mistake(what string) error {
	return invalid(p.kind, fmt.Sprintf("At character %d, %s. Write names without quotes and strings in double quotes, "+
		`such as emails[type eq "work"].value (RFC 7644, 3.4.2.2 and 3.5.2).`, p.at+1, what))
}

// spaces skips spaces, and reports whether there were any.
func (p *parser) spaces() bool {
	from := p.at
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	return p.at > from
}

func (p *parser) next(c byte) bool {
	if p.at == len(p.text) || p.text[p.at] != c {
		return false
	}
	p.at++
	return true
}

// run returns the text, in lowercase, up to the first character that is not in set.
func (p *parser) run(set string) string {
	from := p.at
	for p.at < len(p.text) && strings.IndexByte(set, p.text[p.at]|asciiCase(p.text[p.at])) >= 0 {
		p.at++
	}
	return strings.ToLower(p.text[from:p.at])
}

// asciiCase returns the bit that makes an ASCII letter a lowercase one.
func asciiCase(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return 'a' - 'A'
	}
	return 0
}

const (
	letters = "abcdefghijklmnopqrstuvwxyz"
	nameSet = letters + "0123456789_-$.:"
)

var attributeName = regexp.MustCompile(`^\$?[a-z][a-z0-9_-]*$`)

// name parses an attribute with the URN of its schema before it and a part after it, both of which can be absent.
func (p *parser) name() (out path, err error) {
	from := p.at
	text := p.run(nameSet)
	if extensions[text] != nil {
		return path{schema: text}, nil
	}
	if strings.HasPrefix(text, "urn:") {
		i := strings.LastIndexByte(text, ':')
		out.schema, text = text[:i], text[i+1:]
	}
	attribute, part, parted := strings.Cut(text, ".")
	out.attribute, out.part = attribute, part
	if !attributeName.MatchString(out.attribute) || parted && !attributeName.MatchString(out.part) {
		p.at = from
		return out, p.mistake("the name of an attribute is expected")
	}
	return out, nil
}

func (p *parser) path() (out path, err error) {
	if out, err = p.name(); err != nil || !p.next('[') {
		return out, err
	}
	if p.inside || out.part != "" || out.attribute == "" {
		return out, p.mistake("brackets aren't allowed")
	}
	kind := p.kind
	p.inside, p.kind = true, "invalidFilter"
	p.spaces()
	if out.filter, err = p.either(); err != nil {
		return out, err
	}
	p.spaces()
	if !p.next(']') {
		return out, p.mistake("] is expected")
	}
	p.inside, p.kind = false, kind
	if !p.next('.') {
		return out, nil
	}
	part, err := p.name()
	if err == nil && (part.schema != "" || part.part != "") {
		err = p.mistake("the name of a part is expected")
	}
	out.part = part.attribute
	return out, err
}

// either parses filters joined by or, which binds less than and.
func (p *parser) either() (*filter, error) { return p.joined("or", p.all) }
func (p *parser) all() (*filter, error)    { return p.joined("and", p.one) }

func (p *parser) joined(word string, inner func() (*filter, error)) (*filter, error) {
	first, err := inner()
	if err != nil {
		return nil, err
	}
	out := &filter{op: word, of: []*filter{first}}
	for {
		from := p.at
		if !p.spaces() || p.run(letters) != word {
			p.at = from
			break
		}
		if !p.spaces() {
			return nil, p.mistake("a comparison is expected after " + word)
		}
		another, err := inner()
		if err != nil {
			return nil, err
		}
		out.of = append(out.of, another)
	}
	if len(out.of) == 1 {
		return first, nil
	}
	return out, nil
}

// one parses a comparison, or a filter in parentheses with or without not before it.
func (p *parser) one() (*filter, error) {
	from := p.at
	negated := p.run(letters) == "not"
	if negated {
		p.spaces()
	}
	if p.at == len(p.text) || p.text[p.at] != '(' {
		p.at = from
		return p.comparison()
	}
	if !negated {
		p.at = from
	}
	if !p.next('(') {
		return p.comparison()
	}
	if p.depth++; p.depth > filelimits.SCIMFilterNesting.Most {
		return nil, invalid("invalidFilter", filelimits.SCIMFilterNesting.Sentence())
	}
	p.spaces()
	inner, err := p.either()
	if err != nil {
		return nil, err
	}
	p.spaces()
	if !p.next(')') {
		return nil, p.mistake(") is expected")
	}
	p.depth--
	if negated {
		inner = &filter{op: "not", of: []*filter{inner}}
	}
	return inner, nil
}

func (p *parser) comparison() (*filter, error) {
	if p.terms++; p.terms > filelimits.SCIMFilterTerms.Most {
		return nil, invalid("invalidFilter", filelimits.SCIMFilterTerms.Sentence())
	}
	of, err := p.path()
	if err != nil {
		return nil, err
	}
	out := &filter{path: of, op: "pr"}
	if of.filter != nil && of.part == "" { // it has a value that matches
		return out, nil
	}
	from := p.at
	p.spaces()
	switch out.op = p.run(letters); out.op {
	case "pr":
		return out, nil
	case "eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le":
	default:
		p.at = from
		return nil, p.mistake("an operator such as eq is expected")
	}
	if from == p.at-len(out.op) || !p.spaces() {
		return nil, p.mistake("a value is expected after a space")
	}
	out.value, err = p.value()
	return out, err
}

// value parses the value with which an attribute is compared. Entra ID writes True and False.
func (p *parser) value() (any, error) {
	rest := p.text[p.at:]
	end := strings.IndexAny(rest, " )]")
	if end < 0 {
		end = len(rest)
	}
	if strings.HasPrefix(rest, `"`) {
		end = 1
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(rest))
	}
	word := rest[:end]
	if word != "" && word[0] != '"' {
		word = strings.ToLower(word)
	}
	var out any
	decoder := json.NewDecoder(strings.NewReader(word))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil || decoder.InputOffset() != int64(len(word)) || word[0] == '[' ||
		word[0] == '{' {
		return nil, p.mistake(`a string in double quotes, a number, true, false or null is expected`)
	}
	p.at += end
	return out, nil
}
