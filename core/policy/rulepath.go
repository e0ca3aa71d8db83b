package policy

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strings"
	"unsafe"

	"postern/core/snapshot"
)

// Bounds on the paths of rules.
const (
	maxRulePath     = 512
	maxRuleSegments = 32
)

// ruleNode is a segment of the paths of rules.
type ruleNode struct {
	literals map[string]*ruleNode
	template *ruleNode // of any one segment
	methods  []methodRule
}

type methodRule struct {
	method  string // AnyMethod for all
	implied bool   // HEAD by a rule for GET
	rule    *rule
}

// AnyMethod stands for all methods in a rule.
const AnyMethod = "*"

// add adds a rule whose path was checked.
func (n *ruleNode) add(rule *rule) {
	for segment := range ruleSegments(rule.Path) {
		if isTemplate(segment) {
			if n.template == nil {
				n.template = &ruleNode{}
			}
			n = n.template
			continue
		}
		literal := decodeSegment(segment)
		if n.literals == nil {
			n.literals = map[string]*ruleNode{}
		}
		if n.literals[literal] == nil {
			n.literals[literal] = &ruleNode{}
		}
		n = n.literals[literal]
	}
	for _, method := range rule.Methods {
		n.methods = append(n.methods, methodRule{method, false, rule})
		if method == "GET" && !slices.Contains(rule.Methods, "HEAD") {
			n.methods = append(n.methods, methodRule{"HEAD", true, rule})
		}
	}
}

// of returns the rule for a method: that which names it, else that for GET if it is HEAD, else that
// for all methods; nil if there is none.
func (n *ruleNode) of(method string) *rule {
	var implied, all *rule
	for i := range n.methods {
		switch m := &n.methods[i]; {
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

// find returns the most specific rule for a normalized path, nil if there is none. The first segment
// in which the paths of two rules differ decides: a literal is more specific than a template. A slash
// at the end does not count. With escaped the segments are decoded once.
func (n *ruleNode) find(path, method string, escaped bool) *rule {
	if path == "" || path == "/" {
		return n.of(method)
	}
	segment, rest := path[1:], ""
	if end := strings.IndexByte(segment, '/'); end >= 0 {
		segment, rest = segment[:end], segment[end:]
	}
	if next := n.literal(segment, escaped); next != nil {
		if rule := next.find(rest, method, escaped); rule != nil {
			return rule
		}
	}
	if n.template == nil {
		return nil
	}
	return n.template.find(rest, method, escaped)
}

// findBytes is find for a path that is decoded already.
func (n *ruleNode) findBytes(path []byte, method string) *rule {
	return n.find(unsafe.String(unsafe.SliceData(path), len(path)), method, false) //nolint:gosec // it is only read
}

func (n *ruleNode) literal(segment string, escaped bool) *ruleNode {
	if !escaped || strings.IndexByte(segment, '%') < 0 {
		return n.literals[segment]
	}
	var scratch [256]byte
	return n.literals[string(appendDecoded(scratch[:0], segment))]
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
	untilNUL                     // decoded until no escape is left, and then ended by NUL, as strings are in C
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
	case untilNUL:
		decoded, _, _ = bytes.Cut(decodeWholly(decoded, path), []byte{0})
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
			case as == untilNUL && read == whole:
				continue
			}
			if !yield(strings.ReplaceAll(read, "%", "%25")) {
				return
			}
		}
	}
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
	ErrRulePathSegment  = errors.New("it has an empty segment, a dot segment or a slash at the end")
	ErrRulePathTemplate = errors.New("a name in braces is not a whole segment of letters, digits, dots, underscores " +
		"and hyphens, or appears twice")
	// ErrRulePathWildcard is for spellings of a wildcard that other routers know. Taken as text or as a
	// name, such a rule would leave open the very paths that it is written for.
	ErrRulePathWildcard = errors.New("it has a wildcard that rules don't have, such as *, :id or {path...}: write " +
		"{id} for one segment, and a rule for each depth; rules for a whole subtree are not available yet")
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
	for segment := range strings.SplitSeq(path[1:], "/") {
		if isForeignWildcard(segment) {
			return ErrRulePathWildcard
		}
		if isTemplate(segment) {
			name := segment[1 : len(segment)-1]
			if !isTemplateName(name) || slices.Contains(names, name) {
				return ErrRulePathTemplate
			}
			names = append(names, name)
			continue
		}
		if err := checkLiteral(segment); err != nil {
			return err
		}
	}
	return nil
}

// isForeignWildcard reports whether a segment is how other routers write a wildcard: * and ** (Kong,
// Express), :id (Express, Gin), {path...} (net/http), {path+} (AWS), {path*} (Axum).
func isForeignWildcard(segment string) bool {
	literal := decodeSegment(segment)
	if strings.Contains(literal, "*") || strings.HasPrefix(literal, ":") {
		return true
	}
	name, templated := strings.CutSuffix(segment, "}")
	return templated && (strings.HasSuffix(name, "...") || strings.HasSuffix(name, "+"))
}

func checkLiteral(segment string) error {
	if strings.ContainsAny(segment, "{}") {
		return ErrRulePathTemplate
	}
	for i := range len(segment) {
		if segment[i] != '%' {
			continue
		}
		if i+2 >= len(segment) {
			return ErrRulePathCharacter
		}
		_, high := unhex(segment[i+1])
		_, low := unhex(segment[i+2])
		if !high || !low {
			return ErrRulePathCharacter
		}
	}
	text := decodeSegment(segment)
	if text == "" || text == "." || text == ".." {
		return ErrRulePathSegment
	}
	for i := range len(text) {
		if c := text[i]; c < 0x20 || c == 0x7f || strings.IndexByte("/\\;", c) >= 0 {
			return ErrRulePathCharacter
		}
	}
	if strings.ContainsAny(segment, "?#") || strings.ContainsRune(text, '%') {
		return ErrRulePathCharacter
	}
	return nil
}

func isTemplate(segment string) bool {
	return len(segment) > 2 && segment[0] == '{' && segment[len(segment)-1] == '}'
}

func isTemplateName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '.' && c != '_' && c != '-' && !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(name) <= 64
}

// ruleSegments yields the segments of a rule's path.
func ruleSegments(path string) func(func(string) bool) {
	return func(yield func(string) bool) {
		if path == "/" {
			return
		}
		for segment := range strings.SplitSeq(path[1:], "/") {
			if !yield(segment) {
				return
			}
		}
	}
}

// RuleShape returns a path with the same text for all paths of rules that are equally specific and
// match the same paths of calls.
func RuleShape(path string) string {
	var b strings.Builder
	for segment := range ruleSegments(path) {
		if b.WriteByte('/'); isTemplate(segment) {
			b.WriteString("{}")
		} else {
			b.WriteString(decodeSegment(segment))
		}
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
