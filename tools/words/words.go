package main

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A rule is a word or phrase that is not used, and what to write instead.
type rule struct {
	word, advice string
	pattern      *regexp.Regexp
}

var rules = []rule{
	newRule("is no", `write "is not a", "isn't" or "there is no"`),
	newRule("is none of", `write "isn't one of" or "isn't"`),
	newRule("has not the", `write "doesn't have the"`),
	newRule("has none", `write "doesn't have one"`),
	newRule("beside", `write "next to" or "with"`),
	newRule("meanwhile", `write "during this time", or name what happened first`),
	newRule("anew", `write "again"`),
	newRule("whoever", `write "anyone who"`),
	newRule("whom", `write "that", or turn the clause around`),
	newRule("likewise", `write "also" or "too"`),
	newRule("takes along", `write "includes" or "moves with"`),
	newRule("answered [0-9]{3}", `write "gets 401" or "returned 401"`),
	newRule("nobody", `write "no one", or name what there is none of`),
	newRule("tells whether", `write "reports whether"`),
}

// usual are phrases that contain one of the words and are fine.
var usual = []*regexp.Regexp{phrase("there is no"), phrase("is no longer")}

// gap is the space between two words of a phrase, which may be broken at the end of a line, in a comment too.
const gap = `(?:[ \t]+|[ \t]*\n[ \t]*(?://|--|[#*>])?[ \t]*)`

func newRule(word, advice string) rule { return rule{word, advice, phrase(word)} }

// phrase matches a phrase as whole words, also at the beginning of a sentence. Parts of names such as http.NoBody don't
// match.
func phrase(words string) *regexp.Regexp {
	first, size := utf8.DecodeRuneInString(words)
	return regexp.MustCompile(fmt.Sprintf(`\b[%c%c]%s\b`, unicode.ToUpper(first), first,
		strings.ReplaceAll(words[size:], " ", gap)))
}

// A hit is a use of a word.
type hit struct {
	rule

	line int
}

// find returns the uses in a file, in their order. It returns none for a file that is not text.
func find(text []byte) []hit {
	if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return nil
	}
	for _, fine := range usual {
		text = fine.ReplaceAllFunc(text, func(found []byte) []byte {
			return bytes.Repeat([]byte("\n"), bytes.Count(found, []byte("\n")))
		})
	}
	var hits []hit
	for _, r := range rules {
		for _, at := range r.pattern.FindAllIndex(text, -1) {
			hits = append(hits, hit{r, 1 + bytes.Count(text[:at[0]], []byte("\n"))})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.line, b.line) })
	return hits
}

// others are folders of what others wrote, and the folder of this list.
var others = []string{
	"core/openapi/validate/testdata/json-schema-test-suite/",
	"static/vendor/",
	"tools/words/",
}

// generated are files that a program writes, by their ends. The text of golden files comes from files that are checked.
var generated = []string{"_templ.go", ".golden", "go.sum", "package-lock.json", "static/css/app.css"}

// isOurs reports whether the text of a file is our own.
func isOurs(name string) bool {
	base := path.Base(name)
	return !strings.HasPrefix(base, "LICENSE") && !strings.HasPrefix(base, "NOTICE") && base != "THIRD_PARTY_NOTICES" &&
		!slices.ContainsFunc(others, func(folder string) bool { return strings.HasPrefix(name, folder) }) &&
		!slices.ContainsFunc(generated, func(end string) bool { return strings.HasSuffix(name, end) })
}

// maxAllowed is how many uses may stay.
const maxAllowed = 30

// An exception lets one file use one word.
type exception struct {
	file, word string
	used       bool
}

type exceptions []*exception

// parseAllowed reads a list of exceptions: a line for each, "file: word: reason". Empty lines and comments, which begin
// with #, are left out.
func parseAllowed(list string) (exceptions, error) {
	var all exceptions
	for n, line := range strings.Split(list, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, ": ", 3)
		if len(parts) < 3 || strings.TrimSpace(parts[2]) == "" {
			return nil, fmt.Errorf("%s:%d: write \"file: word: reason\"", allowedFile, n+1)
		}
		all = append(all, &exception{file: parts[0], word: parts[1]})
	}
	if len(all) > maxAllowed {
		return nil, fmt.Errorf("%s: %d exceptions; at most %d are allowed", allowedFile, len(all), maxAllowed)
	}
	return all, nil
}

// use reports whether a file may use a word, and notes that it does.
func (all exceptions) use(file, word string) bool {
	allowed := false
	for _, one := range all {
		if one.file == file && one.word == word {
			one.used, allowed = true, true
		}
	}
	return allowed
}
