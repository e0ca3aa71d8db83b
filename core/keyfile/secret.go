package keyfile

import (
	"fmt"
	"regexp"
	"strings"

	"postern/core/policy"
)

// A value can be guessed from its hash if it is shorter, or has fewer different characters. [spec 10]
const (
	strongLength     = 16
	strongCharacters = 8
)

// maxValue is the length of the longest key that servers take in a header.
const maxValue = 4096

// IsWeak reports whether a key's value is so short or so uniform that it can be guessed from its hash.
func IsWeak(value string) bool {
	var seen [256]bool
	different := 0
	for i := range len(value) {
		if !seen[value[i]] {
			seen[value[i]] = true
			different++
		}
	}
	return len(value) < strongLength || different < strongCharacters
}

// placeholder is a text that a template, a shell or a vault was meant to replace.
var placeholder = regexp.MustCompile(`^\$\{?[A-Za-z_][A-Za-z0-9_]*\}?$|\$\{\{|\$\{[A-Za-z_]|\{\{|^\{vault://|` +
	`^__[A-Za-z0-9_]+__$|(?i)^<[^>]*>$|^(replace|change)[-_ ]?me`)

// isPlaceholder looks for the characters of placeholders first: a million keys have none.
func isPlaceholder(s string) bool {
	begins := strings.HasPrefix(s, "__") || hasFold(s, "replace") || hasFold(s, "change")
	return (begins || strings.ContainsAny(s, "${<")) && placeholder.MatchString(s)
}

// hasFold reports whether a text begins with another in any case.
func hasFold(s, begin string) bool {
	return len(s) >= len(begin) && strings.EqualFold(s[:len(begin)], begin)
}

// isMasked reports whether characters of a key are replaced by mask characters.
func isMasked(s string) bool {
	for _, mark := range []string{"***", "…", "•", "...", "xxxxxxxx", "XXXXXXXX"} {
		if strings.Contains(s, mark) {
			return true
		}
	}
	return strings.EqualFold(strings.Trim(s, "[]<>()"), "redacted")
}

// damaged returns what Excel did to a cell, "" for nothing.
func damaged(s string) string {
	switch {
	case strings.HasPrefix(s, "="):
		return "Excel wrote this cell as a formula, such as =\"001\". Export the column as text from its source."
	case strings.Contains(s, "E+") && scientific.MatchString(s):
		return "Excel wrote this cell as a rounded number, such as 1.2E+15, whose digits are lost. Export the column " +
			"as text from its source."
	case s != "" && strings.IndexByte("+@-", s[0]) >= 0 && formula.MatchString(s):
		return "This cell is a formula. Replace it with its text."
	}
	return ""
}

var (
	scientific = regexp.MustCompile(`^[0-9]([.,][0-9]+)?E\+[0-9]+$`)
	formula    = regexp.MustCompile(`^[+@-][A-Za-z][A-Za-z0-9.]*[(!|]`)
)

// checkValue returns why a value can't be a key, and "" if it can.
func checkValue(s string, cell bool) (code, wrong string) {
	if name := passwordHash(s); name != "" {
		return CodeHash, "This is " + name + ", not a key. " + renew
	}
	switch odd := strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }); {
	case isPlaceholder(s):
		return CodePlaceholder, "This is a placeholder, not a key. Fill it in before the import."
	case isMasked(s):
		return CodeUnusable, "This key is masked. Export the keys with their full values."
	case cell && damaged(s) != "":
		return CodeUnusable, damaged(s)
	case strings.TrimSpace(s) != s:
		return CodeUnusable, "The key begins or ends with a space, which is lost in a header. Remove the space if " +
			"callers send the key without it."
	case odd >= 0 && s[odd] < 0x80:
		return CodeUnusable, "The key contains a control character, such as a line break, which can't be sent in a " +
			"header. Issue a new key."
	case odd >= 0:
		return CodeUnusable, "The key contains non-ASCII characters, which can't be sent in a header. Issue a new key."
	case len(s) > maxValue:
		return CodeUnusable, fmt.Sprintf("The key is longer than %d characters, which is too long for a header. Issue "+
			"a new key.", maxValue)
	}
	return "", ""
}

// shownBegin is a beginning that tells the system of a key, such as sk_live_, without any of its secret.
var shownBegin = regexp.MustCompile(`^[a-z][a-z0-9]{1,11}_([a-z]{2,12}_)?`)

// hidden is how many characters of a key may not be shown at least for its beginning to be shown.
const hidden = 16

// shown returns the parts of a key's value that people may see: for keys of our form, those of core/policy; of others
// at most the last four characters and a quarter of the value, and a beginning that isn't secret.
func shown(value string) (prefix, last4 string) {
	if policy.WellFormedKey(value) {
		return policy.DisplayPrefix(value), policy.Last4(value)
	}
	last4 = value[len(value)-min(4, len(value)/4):]
	if !strings.Contains(value, "_") {
		return "", last4
	}
	if prefix = shownBegin.FindString(value); len(value)-len(prefix)-len(last4) < hidden {
		prefix = ""
	}
	return prefix, last4
}
