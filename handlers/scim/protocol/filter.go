package protocol

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Term is the comparison of an attribute, in lower case, with a value: a string, or true
// or false as in the filter.
type Term struct{ Attribute, Value string }

// maxTerms bounds a filter; provisioning systems send two.
const maxTerms = 10

// termPattern matches attribute eq "value" at the beginning of a filter. The attribute may
// have a value filter, as in emails[type eq "work"].value.
var termPattern = regexp.MustCompile(`^([\w.:$-]+(?:\[[^\]]*\](?:\.\w+)?)?)\s+(\w+)\s+("(?:[^"\\]|\\.)*"|\w+)`)

var andPattern = regexp.MustCompile(`(?i)^\s+and\s+`)

// ParseFilter parses attribute eq "value", and several of them joined by and (RFC 7644,
// 3.4.2.2). An empty filter matches everything.
func ParseFilter(text string) ([]Term, error) {
	text = strings.TrimSpace(text)
	var terms []Term
	for text != "" {
		found := termPattern.FindStringSubmatch(text)
		if found == nil || !strings.EqualFold(found[2], "eq") || len(terms) == maxTerms {
			return nil, errFilter
		}
		value, ok := valueOf(found[3])
		if !ok {
			return nil, errFilter
		}
		terms = append(terms, Term{Attribute: bare(found[1]), Value: value})
		if text = text[len(found[0]):]; text == "" {
			break
		}
		and := andPattern.FindString(text)
		if text = text[len(and):]; and == "" || text == "" {
			return nil, errFilter
		}
	}
	return terms, nil
}

var errFilter = invalid(
	"invalidFilter",
	`Use attribute eq "value", such as userName eq "ana@example.com", or up to ten of them joined by and.`,
)

func valueOf(raw string) (string, bool) {
	if word := strings.ToLower(raw); word == "true" || word == "false" {
		return word, true
	}
	var text string
	return text, json.Unmarshal([]byte(raw), &text) == nil && raw[0] == '"'
}
