package policy

import (
	"errors"
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

// AnyMethod means all methods in a rule.
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

func decodeSegment(segment string) string { return string(appendDecoded(nil, segment)) }

// Errors of CheckRulePath. Each continues a sentence that begins with the path, and says what to use instead.
var (
	ErrRulePathStart = errors.New("doesn't start with a slash. Use a path under the environment's URL, such as " +
		"/orders/{id}")
	ErrRulePathLength   = errors.New("is longer than 512 bytes or has more than 32 segments. Use a shorter path")
	ErrRulePathSegment  = errors.New("contains an empty segment or a dot segment. Use a path such as /orders/{id}")
	ErrRulePathTemplate = errors.New("contains braces that rules don't support. Names in braces can contain letters, " +
		"digits, dots, underscores and hyphens. Each can appear only once in a path, and a segment can contain only " +
		"one")
	// ErrRulePathWildcard is for wildcards in the syntax of other routers. If they were read as text or as a name, the
	// rule would leave open the paths that it is meant for.
	ErrRulePathWildcard = errors.New("contains a wildcard that rules don't support, such as *, ..., :id or %7Bid%7D. " +
		"Use {id} for one segment, or /** at the end for everything below")
	// ErrRulePathSign is for other routers' signs of a parameter that real paths contain as text too, such as OData's
	// $metadata.
	ErrRulePathSign = errors.New("has a segment that starts with $ or =, which mark parameters in other systems. " +
		"Use {id} for one segment, or %24 and %3D for text such as %24metadata")
	ErrRulePathSubtree = errors.New("contains ** or {path...} before the end. They match everything below, so they " +
		"must be the last segment")
	ErrRulePathCharacter = errors.New("contains a query, a fragment, a semicolon, a backslash, an encoded slash, a " +
		"control character or a broken escape. Use a path such as /orders/{id}")
)

// CheckRulePath returns an error if the text can't be the path of a rule.
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
		if segment != "" && (segment[0] == '$' || segment[0] == '=') {
			return ErrRulePathSign
		}
		if isForeignWildcard(text, own) {
			return ErrRulePathWildcard
		}
		if len(own) > 1 || strings.ContainsAny(withoutNames(segment), "{}") {
			return ErrRulePathTemplate
		}
		if strings.ContainsAny(strings.Join(text, ""), "{}") { // escaped
			return ErrRulePathWildcard
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

// isForeignWildcard reports whether a segment is how other routers write a wildcard: * and ** (Kong, Express), :id
// (Express, Gin), {path+} (AWS), {*path} (ASP.NET), <id> (Flask), [id] (Next.js), {path...} (net/http) next to text, +
// and > (MQTT, NATS), ... (Go's commands), and what is a regular expression (Kong). The text is that around the names
// in braces. @ is text: Discord has /users/@me.
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
		whole == ".+" || whole == "+" || whole == ">"
	dots := false
	for _, some := range []string{"...", "…"} {
		dots = dots || strings.HasPrefix(whole, some) || strings.HasSuffix(whole, some)
	}
	return dots || regular || strings.Contains(whole, "*") || strings.HasPrefix(text[0], ":") ||
		within("<", ">") || within("[", "]")
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

// RuleShape returns the same text for all rule paths that are equally specific and match the same calls. It marks names
// with a slash, which no text in a segment contains.
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

// TiedRules returns the indexes of two rules that are equally specific: their paths have the same shape, and they have
// a method in common. The paths must be valid.
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
