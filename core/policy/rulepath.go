package policy

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"postern/core/snapshot"
)

// Bounds on the paths of rules.
const (
	maxRulePath     = 512
	maxRuleSegments = 32
)

// AnyMethod stands for all methods in a rule.
const AnyMethod = "*"

// ruleTree finds the rule for a call.
type ruleTree struct{ root pathNode[methodRules] }

// methodRules are the rules for one path.
type methodRules []methodRule

type methodRule struct {
	method  string // AnyMethod for all
	implied bool   // HEAD by a rule for GET
	rule    *rule
}

// add adds a rule whose path was checked.
func (t *ruleTree) add(rule *rule) {
	at := t.root.place(rule.Path)
	for _, method := range rule.Methods {
		*at = append(*at, methodRule{method, false, rule})
		if method == "GET" && !slices.Contains(rule.Methods, "HEAD") {
			*at = append(*at, methodRule{"HEAD", true, rule})
		}
	}
}

// of returns the rule for a method: that which names it, else that for GET if it is HEAD, else that
// for all methods; nil if there is none.
func (r methodRules) of(method string) *rule {
	var implied, all *rule
	for i := range r {
		switch m := &r[i]; {
		case m.method == AnyMethod:
			all = m.rule
		case m.method != method:
		case m.implied:
			implied = m.rule
		default:
			return m.rule
		}
	}
	if implied != nil {
		return implied
	}
	return all
}

// find returns the most specific rule for a normalized path, nil if there is none. With escaped the
// segments are decoded once.
func (t *ruleTree) find(path, method string, escaped bool) (found *rule) {
	t.root.find(path, escaped, func(rules *methodRules) bool {
		found = rules.of(method)
		return found != nil
	})
	return found
}

// findBytes is find for a path that is decoded already.
func (t *ruleTree) findBytes(path []byte, method string) *rule {
	return t.find(unsafe.String(unsafe.SliceData(path), len(path)), method, false) //nolint:gosec // it is only read
}

// reading is a way in which an upstream may read a path other than as segments that are decoded
// once.
type reading uint8

// The readings end a segment at a slash, an encoded slash or a backslash, and take what follows a
// semicolon for parameters of the segment, which are no part of it (RFC 3986, 3.3).
const (
	decodedOnce   reading = iota // before parameters are cut off
	decodedWholly                // until no escape is left
	withoutParams                // decoded once after parameters were cut off
	loosely                      // decoded until no escape is left, and then without what some drop: see loosen
	readings                     // how many there are
)

// hasReadings reports whether a normalized path can be read in another way.
func hasReadings(path string) bool {
	return strings.IndexByte(path, '%') >= 0 || strings.IndexByte(path, ';') >= 0
}

// of appends a path in this reading to dst: decoded segments, each with a slash before it.
func (r reading) of(dst []byte, path string) []byte {
	var scratch [512]byte
	decoded := scratch[:0]
	switch r {
	case decodedOnce:
		decoded = appendDecoded(decoded, path)
	case decodedWholly:
		decoded = decodeWholly(decoded, path)
	case loosely:
		return trimSegments(appendSegments(dst, loosen(decodeWholly(decoded, path))))
	case withoutParams:
		var cut [512]byte
		plain := appendSegments(cut[:0], []byte(path))
		decoded = appendDecoded(decoded, unsafe.String(unsafe.SliceData(plain), len(plain))) //nolint:gosec // only read
	}
	return appendSegments(dst, decoded)
}

// Readings yields the other ways in which an upstream may read a normalized path, none for most paths. Of
// what it yields only the percent sign is escaped.
func Readings(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !hasReadings(path) {
			return
		}
		whole := ""
		for as := range readings {
			read := string(as.of(nil, path))
			if read == "" {
				read = "/"
			}
			switch {
			case as == decodedWholly:
				whole = read
			case as == loosely && read == whole:
				continue
			}
			if !yield(strings.ReplaceAll(read, "%", "%25")) {
				return
			}
		}
	}
}

// loosen returns a decoded path, in place, as the least strict upstream reads it: NUL ends it, as strings in C, and so
// does what begins a query or a fragment; control characters and what is not UTF-8 are dropped.
func loosen(path []byte) []byte {
	if end := bytes.IndexAny(path, "\x00?#"); end >= 0 {
		path = path[:end]
	}
	out := path[:0]
	for len(path) > 0 {
		c, size := utf8.DecodeRune(path)
		if !unicode.IsControl(c) && (c != utf8.RuneError || size > 1) {
			out = append(out, path[:size]...)
		}
		path = path[size:]
	}
	return out
}

// trimSegments removes, in place, white space at the ends of segments that each have a slash before them.
func trimSegments(path []byte) []byte {
	out := path[:0]
	for len(path) > 0 {
		segment, rest, _ := bytes.Cut(path[1:], []byte{'/'})
		end := len(path) - len(rest)
		if len(rest) > 0 {
			end-- // at its slash
		}
		if segment = bytes.TrimSpace(segment); len(segment) > 0 {
			out = append(append(out, '/'), segment...)
		}
		path = path[end:]
	}
	return out
}

// appendSegments appends the segments of a path that are not empty, without their parameters.
func appendSegments(dst, path []byte) []byte {
	begun, cut := false, false
	for _, c := range path {
		switch {
		case c == '/' || c == '\\':
			begun, cut = false, false
		case cut:
		case c == ';':
			cut = true
		default:
			if !begun {
				dst, begun = append(dst, '/'), true
			}
			dst = append(dst, c)
		}
	}
	return dst
}

// appendDecoded appends text with every valid escape decoded once.
func appendDecoded(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			high, okHigh := unhex(text[i+1])
			low, okLow := unhex(text[i+2])
			if okHigh && okLow {
				dst = append(dst, high<<4|low)
				i += 2
				continue
			}
		}
		dst = append(dst, text[i])
	}
	return dst
}

func decodeSegment(segment string) string { return string(appendDecoded(nil, segment)) }

// Errors of CheckRulePath.
var (
	ErrRulePathStart    = errors.New("it does not begin with a slash")
	ErrRulePathLength   = errors.New("it is longer than 512 bytes or has more than 32 segments")
	ErrRulePathSegment  = errors.New("it has an empty segment or a dot segment")
	ErrRulePathTemplate = errors.New("a name in braces may have letters, digits, dots, underscores and hyphens, and " +
		"appears once in a path; a segment has at most one")
	// ErrRulePathWildcard is for spellings of a wildcard that other routers know. Taken as text or as a
	// name, such a rule would leave open the very paths that it is written for.
	ErrRulePathWildcard = errors.New("it has a wildcard that rules don't know, such as * or :id; write {id} for one " +
		"segment, or /** at the end for everything below")
	ErrRulePathSubtree   = errors.New("** or {path...} must be its last segment, and covers everything below")
	ErrRulePathCharacter = errors.New("it has a query, a fragment, a semicolon, a backslash, an encoded slash, a " +
		"control character or a broken escape")
)

// CheckRulePath returns an error for what cannot be the path of a rule.
func CheckRulePath(path string) error {
	switch {
	case !strings.HasPrefix(path, "/"):
		return ErrRulePathStart
	case len(path) > maxRulePath || strings.Count(path, "/") > maxRuleSegments:
		return ErrRulePathLength
	case path == "/":
		return nil
	}
	var names []string
	segments := strings.Split(strings.TrimSuffix(path[1:], "/"), "/")
	for i, segment := range segments {
		name, subtree := subtreeName(segment)
		last := i == len(segments)-1
		switch {
		case subtree && !last:
			return ErrRulePathSubtree
		case segment == "**":
			continue
		case subtree:
			names = append(names, name)
			continue
		}
		text, own := splitSegment(segment)
		names = append(names, own...)
		if isForeignWildcard(text, own) {
			return ErrRulePathWildcard
		}
		if len(own) > 1 || strings.ContainsAny(withoutNames(segment), "{}") {
			return ErrRulePathTemplate
		}
		if err := checkText(withoutNames(segment)); err != nil {
			return err
		}
		if literal := text[0]; len(own) == 0 && (literal == "" || literal == "." || literal == "..") {
			return ErrRulePathSegment
		}
	}
	for i, name := range names {
		if !isTemplateName(name) || slices.Contains(names[:i], name) {
			return ErrRulePathTemplate
		}
	}
	return nil
}

// isForeignWildcard reports whether a segment is how other routers write a wildcard: * and ** (Kong,
// Express), :id (Express, Gin), {path+} (AWS), {*path} (ASP.NET), <id> (Flask), [id] (Next.js), and
// {path...} (net/http) beside text, and what is a regular expression (Kong). The text is that around the
// names in braces.
func isForeignWildcard(text, names []string) bool {
	whole := text[0]
	for i, name := range names {
		if strings.ContainsAny(name, "*+") || strings.HasSuffix(name, "...") {
			return true
		}
		whole += text[i+1]
	}
	within := func(first, last string) bool {
		_, after, begun := strings.Cut(whole, first)
		return begun && strings.HasPrefix(whole, first) && strings.Contains(after, last)
	}
	regular := strings.HasPrefix(whole, "^") || strings.HasSuffix(whole, "$") || strings.Contains(whole, "[^") ||
		whole == ".+"
	return strings.Contains(whole, "*") || strings.HasPrefix(text[0], ":") || within("<", ">") || within("[", "]") ||
		regular
}

// withoutNames returns a segment without what is in braces.
func withoutNames(segment string) string {
	var out strings.Builder
	for {
		before, after, opened := strings.Cut(segment, "{")
		_, rest, closed := strings.Cut(after, "}")
		if !opened || !closed {
			return out.String() + segment
		}
		out.WriteString(before)
		segment = rest
	}
}

// checkText returns an error for what cannot be text in the path of a rule.
func checkText(escaped string) error {
	for i := range len(escaped) {
		if escaped[i] != '%' {
			continue
		}
		if i+2 >= len(escaped) {
			return ErrRulePathCharacter
		}
		_, high := unhex(escaped[i+1])
		_, low := unhex(escaped[i+2])
		if !high || !low {
			return ErrRulePathCharacter
		}
	}
	text := decodeSegment(escaped)
	for i := range len(text) {
		if c := text[i]; c < 0x20 || c == 0x7f || strings.IndexByte("/\\;%", c) >= 0 {
			return ErrRulePathCharacter
		}
	}
	if strings.ContainsAny(escaped, "?#") {
		return ErrRulePathCharacter
	}
	return nil
}

func isTemplateName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '.' && c != '_' && c != '-' && !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// RuleShape returns a path with the same text for all paths of rules that are equally specific and
// match the same paths of calls. No text in a segment has a slash, which marks names here.
func RuleShape(path string) string {
	var b strings.Builder
	for segment := range pathSegments(path) {
		b.WriteByte('/')
		if _, subtree := subtreeName(segment); subtree {
			b.WriteString("**")
			continue
		}
		text, _ := splitSegment(segment)
		b.WriteString(strings.Join(text, "{/}"))
	}
	return b.String()
}

// TiedRules returns the places of two rules of which neither is more specific: their paths have one
// shape, and a method in common. The paths were checked.
func TiedRules(list []snapshot.Rule) (first, second int, tied bool) {
	type route struct{ shape, method string }
	seen := map[route]int{}
	for i := range list {
		for _, method := range list[i].Methods {
			at := route{RuleShape(list[i].Path), method}
			if other, have := seen[at]; have && other != i {
				return other, i, true
			}
			seen[at] = i
		}
	}
	return 0, 0, false
}
