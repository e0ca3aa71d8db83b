package keyfile

// A value can be guessed from its hash if it is shorter, or has fewer different characters. [spec 10]
const (
	strongLength     = 16
	strongCharacters = 8
)

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
