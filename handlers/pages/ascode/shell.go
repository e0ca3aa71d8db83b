package ascode

import "strings"

// word is one argument of a command. Its value is quoted unless it is shell text already.
type word struct {
	text  string
	shell bool // to be expanded by the shell, such as "$POSTERN_TOKEN" in its quotes
}

func words(texts ...string) []word {
	var out []word
	for _, text := range texts {
		out = append(out, word{text: text})
	}
	return out
}

func (w word) String() string {
	if w.shell {
		return w.text
	}
	return Quote(w.text)
}

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,="

// Quote writes a text so that a shell reads it as one word.
func Quote(text string) string {
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Command is a line of postern with these arguments, for pages that show a single one.
func Command(arguments ...string) string {
	return "postern " + quoted(words(arguments...))
}

func quoted(all []word) string {
	var texts []string
	for _, w := range all {
		texts = append(texts, w.String())
	}
	return strings.Join(texts, " ")
}

// maxLine is how many columns a line may have before its options are put on separate lines.
const maxLine = 60

// line joins groups of words. Groups after the first each begin a line if all together are too long for one.
func line(groups ...[]word) string {
	var parts []string
	length, broken := 0, false
	for _, group := range groups {
		part := quoted(group)
		parts = append(parts, part)
		length += len(part) + 1
		broken = broken || strings.Contains(part, "\n")
	}
	if length > maxLine || broken {
		return strings.Join(parts, " \\\n  ")
	}
	return strings.Join(parts, " ")
}
