// Package ascii compares email addresses, domains and user names without the case of ASCII letters, and of no others.
//
// It exists because strings.ToLower and strings.EqualFold go further: they make U+212A (KELVIN SIGN) a k, and U+0130 an
// i with a dot, so that a provider could verify one person's address for another's. It leaves everything else about
// these texts to its callers.
package ascii

import "strings"

// Lower returns the text with A to Z in lowercase.
func Lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, text)
}
