// Package exactjson decodes JSON that identity providers and token issuers wrote: discovery documents, key sets,
// tokens, userinfo and introspection.
//
// It owns which texts and names are read, and leaves to its callers what they mean. The plugin of exported gateways
// reads the same (bundle/kong/plugin/json.lua): testdata/texts.txt is tested in both.
package exactjson

import (
	"encoding/hex"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4/json"
)

// maxDepth is how deep values may be nested. Other readers have other limits: Kong's is 1,000.
const maxDepth = 100

// Unmarshal decodes JSON (RFC 8259). Names are compared byte by byte, and a name that an object repeats is an error at
// any depth, also where out has no place for it: another reader could take the other value. encoding/json ignores case,
// and takes the last. Text that isn't Unicode is an error too, instead of U+FFFD, and so are more than 100 levels. An
// error may quote the text.
func Unmarshal(text []byte, out any) error {
	if err := check(text); err != nil {
		return err
	}
	var all any // objects that out has no place for are skipped with their names
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}

// check refuses what the decoder accepts in a text that is otherwise JSON.
func check(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("the text is not UTF-8")
	}
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			size := escapeSize(text[i:])
			if size == 0 {
				return errors.New("a string contains an unpaired surrogate")
			}
			i += size - 1
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("the values are nested deeper than %d levels", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// escapeSize returns how many bytes the escape at the beginning of a text has, a surrogate pair as a whole; 0 for half
// of a pair.
func escapeSize(text []byte) int {
	first, ok := codeUnit(text)
	if !ok || !utf16.IsSurrogate(first) {
		return 2 // also of \u: the digits that follow are like other characters
	}
	if second, ok := codeUnit(text[6:]); ok && utf16.DecodeRune(first, second) != unicode.ReplacementChar {
		return 12
	}
	return 0
}

// codeUnit returns the code unit of an escape such as \ud83d at the beginning of a text.
func codeUnit(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := hex.DecodeString(string(text[2:6]))
	if err != nil {
		return 0, false
	}
	return rune(unit[0])<<8 | rune(unit[1]), true
}
