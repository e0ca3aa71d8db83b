package contract

import (
	"regexp"
	"strings"
)

var (
	namePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,38}[a-z0-9]$`)
	notInNames  = regexp.MustCompile(`[^a-z0-9]+`)
	plainText   = strings.NewReplacer(plainLetters()...)
)

// plainLetters pairs letters of Western European languages with those that names have for them. The preview of a name
// in static/js/forms.js has the same.
func plainLetters() (pairs []string) {
	for plain, letters := range map[string]string{
		"a": "àáâãäå", "c": "ç", "e": "èéêë", "i": "ìíîï", "n": "ñ", "o": "òóôõöø", "u": "ùúûü", "y": "ýÿ", "ss": "ß",
	} {
		for _, letter := range letters {
			pairs = append(pairs, string(letter), plain)
		}
	}
	return pairs
}

// maxName is the number of characters that a name can have.
const maxName = 40

// IsName reports whether a text can be the name of a project, a tenant, an environment, a product or an app client.
func IsName(text string) bool { return namePattern.MatchString(text) }

// Slug returns the name that pages derive from a text that a person typed: "My Shop API" becomes my-shop-api. A valid
// name is returned unchanged. So is a text without any letter, which the rule for names then refuses. The API accepts
// names only.
func Slug(text string) string {
	if IsName(text) {
		return text
	}
	name := notInNames.ReplaceAllString(plainText.Replace(strings.ToLower(text)), "-")
	name = strings.TrimLeft(name, "-0123456789") // a name begins with a letter
	name = strings.TrimRight(name[:min(len(name), maxName)], "-")
	if name == "" {
		return text
	}
	return name
}
