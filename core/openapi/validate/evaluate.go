package validate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"postern/core/openapi/tree"
)

// Limits on the validation of one request. They apply to every document.
const (
	maxDepth    = 400 // of schemas within each other and of values within each other, together
	maxProblems = 20

	bytesOfStep   = 16 // of a text that is read
	patternCost   = 16 // instructions of a pattern, for a byte, that count as a step
	stepsOfMember = 4  // to sort a member and look it up
	bytesHashed   = 64 // of a name that is looked up
)

// run evaluates values by schemas. Problems name members as the document does, and never have a value
// of the request or a name that only the request has.
type run struct {
	work     *Work
	depth    int
	quiet    int // > 0: a mismatch is not yet a problem
	stopped  bool
	in       string
	at       []string // reference tokens
	problems []Problem
	scratch  []byte // a canonical text
}

func (r *run) problem(format string, args ...any) bool {
	if r.quiet == 0 && len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{r.in, r.name(), fmt.Sprintf(format, args...)})
	}
	return false
}

func (r *run) name() string {
	if r.in != InBody {
		return strings.Join(r.at, ".")
	}
	var out strings.Builder
	for _, token := range r.at {
		out.WriteByte('/')
		out.WriteString(escape(token))
	}
	return out.String()
}

// escape returns a reference token in the form for a pointer (RFC 6901, section 3).
func escape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

// spend counts steps. It returns false when there have been too many.
func (r *run) spend(steps int) bool {
	if !r.work.spend(steps) || r.depth > maxDepth {
		r.stopped = true
	}
	return !r.stopped
}

// within checks a member or an item.
func (r *run) within(token string, s *schema, value any) bool {
	r.at = append(r.at, token)
	ok := r.check(s, value)
	r.at = r.at[:len(r.at)-1]
	return ok
}

// matches reports whether a value matches a schema, without a problem if it does not.
func (r *run) matches(s *schema, value any) bool {
	r.quiet++
	ok := r.check(s, value)
	r.quiet--
	return ok
}

// check reports whether a value matches a schema, and adds the problems that it has. The result of a stopped run means
// nothing.
func (r *run) check(s *schema, value any) bool {
	r.depth++
	defer func() { r.depth-- }()
	switch {
	case !r.spend(1 + lengthOf(value)/bytesOfStep):
		return false
	case s == nil, s.nullable && value == nil:
		return true
	case s.never:
		return r.problem("is not allowed")
	}
	kind := kindOf(value)
	if s.kinds != 0 && s.kinds&kind == 0 {
		if r.quiet > 0 {
			return false // before a text is made that is not read
		}
		return r.problem("must be %s", s.kinds.names())
	}
	ok := true
	if s.enum != nil {
		ok = r.isListed(s, kind, value)
	}
	switch value := value.(type) {
	case json.Number:
		ok = r.number(s, value) && ok
	case string:
		ok = r.text(s, value) && ok
	case []any:
		ok = r.array(s, value) && ok
	case map[string]any:
		ok = r.members(s, value) && ok
	}
	return r.combined(s, value) && ok
}

// compareCost is how many steps count for each part of a value that is compared as a whole.
const compareCost = 8

func (r *run) isListed(s *schema, kind kinds, value any) bool {
	if kind&(kindArray|kindObject) == 0 || s.composite {
		if !r.spend(compareCost * sizeOf(value)) {
			return false
		}
		r.scratch = appendCanonical(r.scratch[:0], value)
		if s.enum[string(r.scratch)] {
			return true
		}
	}
	if s.enumTexts == "" {
		return r.problem("must be one of the values that the document lists")
	}
	return r.problem("must be one of %s", s.enumTexts)
}

// lengthOf returns the bytes of a text or a number, all of which may be looked at.
func lengthOf(value any) int {
	switch value := value.(type) {
	case string:
		return len(value)
	case json.Number:
		return len(value)
	}
	return 0
}

func kindOf(value any) kinds {
	switch value := value.(type) {
	case nil:
		return kindNull
	case bool:
		return kindBoolean
	case json.Number:
		if readDecimal(value).isWhole() {
			return kindInteger
		}
		return kindNumber
	case string:
		return kindString
	case []any:
		return kindArray
	}
	return kindObject
}

func (r *run) text(s *schema, value string) bool {
	ok := true
	if s.minLength > 0 || s.maxLength >= 0 {
		length := utf8.RuneCountInString(value)
		if length < s.minLength {
			ok = r.problem("must have at least %s", counted(s.minLength, "character"))
		}
		if s.maxLength >= 0 && length > s.maxLength {
			ok = r.problem("must have at most %s", counted(s.maxLength, "character"))
		}
	}
	if s.pattern != nil {
		if !r.spend(s.pattern.cost(value)) {
			return false
		}
		if !s.pattern.expression.MatchString(value) {
			ok = r.problem("must match the pattern in the document")
		}
	}
	if !hasFormat(s.format, value) {
		ok = r.problem("must be in the format %s", s.format)
	}
	return ok
}

func (r *run) array(s *schema, list []any) bool {
	ok := true
	if len(list) < s.minItems {
		ok = r.problem("must have at least %s", counted(s.minItems, "item"))
	}
	if s.maxItems >= 0 && len(list) > s.maxItems {
		return r.problem("must have at most %s", counted(s.maxItems, "item"))
	}
	if s.unique {
		seen := make(map[string]bool, len(list))
		for _, item := range list { // plain: of a call
			if !r.spend(compareCost * sizeOf(item)) {
				return false
			}
			r.scratch = appendCanonical(r.scratch[:0], item)
			if seen[string(r.scratch)] {
				ok = r.problem("must not contain the same item twice")
				break
			}
			seen[string(r.scratch)] = true
		}
	}
	contained, enough := 0, max(s.minContains, s.maxContains+1)
	for i, item := range list { // plain: of a call
		of := s.items
		if i < len(s.prefix) {
			of = s.prefix[i]
		}
		if of != nil {
			ok = r.within(strconv.Itoa(i), of, item) && ok
		}
		if contained < enough && r.matches(s.contains, item) {
			contained++
		}
		if r.stopped {
			return false
		}
	}
	if contained < s.minContains {
		ok = r.problem("must have at least %s matching the document", counted(s.minContains, "item"))
	}
	if s.maxContains >= 0 && contained > s.maxContains {
		ok = r.problem("must have at most %s matching the document", counted(s.maxContains, "item"))
	}
	return ok
}

func (r *run) members(s *schema, object map[string]any) bool {
	ok := true
	r.spend(len(s.required))
	for _, name := range s.required {
		if !r.spend(len(name) / bytesHashed) {
			return false
		}
		if _, there := object[name]; !there {
			r.at = append(r.at, name)
			ok = r.problem("is required")
			r.at = r.at[:len(r.at)-1]
		}
	}
	if len(object) < s.minMembers {
		ok = r.problem("must have at least %s", counted(s.minMembers, "member"))
	}
	if s.maxMem >= 0 && len(object) > s.maxMem {
		ok = r.problem("must have at most %s", counted(s.maxMem, "member"))
	}
	for _, name := range r.namesOf(s, object) {
		r.spend(len(name) / bytesHashed)
		if value, there := object[name]; there {
			ok = r.member(s, name, value) && ok
		}
		if r.stopped {
			return false
		}
	}
	r.spend(len(s.dependent))
	for name, others := range s.dependent {
		if _, there := object[name]; !there || !r.spend(len(others)+len(name)/bytesHashed) {
			continue
		}
		for _, other := range others {
			if !r.spend(len(other) / bytesHashed) {
				return false
			}
			if _, there := object[other]; !there {
				ok = r.problem("must have %s, because it has %s", other, name)
			}
		}
	}
	r.spend(len(s.dependentNames))
	for _, name := range s.dependentNames {
		r.spend(len(name) / bytesHashed)
		if _, there := object[name]; there {
			ok = r.check(s.dependentSchemas[name], object) && ok
		}
	}
	return ok
}

// namesOf returns the names of the members that a schema says something of, and maybe others, sorted.
func (r *run) namesOf(s *schema, object map[string]any) []string {
	if s.additional == nil && s.patterned == nil && s.names == nil && len(s.propertyNames) <= len(object) {
		r.spend(len(s.propertyNames))
		return s.propertyNames
	}
	if !r.spend(stepsOfMember * len(object)) {
		return nil
	}
	return tree.Keys(object)
}

// unknownMember replaces a member that the document doesn't name.
const unknownMember = "*"

func (r *run) member(s *schema, name string, value any) bool {
	ok, described := true, false
	if property, there := s.properties[name]; there {
		described = true
		ok = r.within(name, property, value)
	}
	for _, p := range s.patterned {
		if !r.spend(p.pattern.cost(name)) {
			return false
		}
		if p.pattern.expression.MatchString(name) {
			described = true
			ok = r.within(unknownMember, p.schema, value) && ok
		}
	}
	switch {
	case described || s.additional == nil:
	case s.additional.never:
		ok = r.problem("has a member that the document doesn't allow")
	default:
		ok = r.within(unknownMember, s.additional, value) && ok
	}
	if s.names != nil && !r.matches(s.names, name) {
		ok = r.problem("has a member whose name the document doesn't allow")
	}
	return ok
}

func (r *run) combined(s *schema, value any) bool {
	ok := true
	for _, one := range s.allOf {
		ok = r.check(one, value) && ok
	}
	if len(s.anyOf) == 1 {
		ok = r.check(s.anyOf[0], value) && ok
	} else if len(s.anyOf) > 0 &&
		!slices.ContainsFunc(s.anyOf, func(one *schema) bool { return r.matches(one, value) }) {
		ok = r.problem("must match one of the %d descriptions in the document", len(s.anyOf))
	}
	if len(s.oneOf) > 0 {
		matching := 0
		for _, one := range s.oneOf {
			if r.matches(one, value) {
				matching++
			}
			if r.stopped {
				return false
			}
		}
		switch {
		case matching == 0 && len(s.oneOf) == 1:
			ok = r.check(s.oneOf[0], value) && ok
		case matching == 0:
			ok = r.problem("must match one of the %d descriptions in the document", len(s.oneOf))
		case matching > 1:
			ok = r.problem("must match only one of the %d descriptions in the document", len(s.oneOf))
		}
	}
	if s.not != nil && r.matches(s.not, value) && !r.stopped {
		ok = r.problem("must not be a value that the document excludes")
	}
	if !s.conditional {
		return ok
	}
	if r.matches(s.condition, value) {
		return r.check(s.then, value) && ok
	}
	return r.check(s.other, value) && ok
}

func counted(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return strconv.Itoa(n) + " " + of + "s"
}
