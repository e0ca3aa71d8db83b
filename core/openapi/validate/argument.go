package validate

import (
	"net/url"
	"strings"
	"unicode"
)

// argument is one of a query or a form.
type argument struct {
	name, value            string
	brokenName, brokenText bool // not escaped as it should be; it stays as it is written
}

// readArguments reads a query, without its question mark, or a form. It reads at most a number of arguments, and
// returns false if there are more.
func readArguments(query string, most int) (out []argument, all bool) {
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		if len(out) == most {
			return out, false
		}
		out = append(out, readArgument(pair))
	}
	return out, true
}

func readArgument(pair string) (out argument) {
	name, value, _ := strings.Cut(pair, "=")
	out.name, out.brokenName = unescapeArgument(name)
	out.value, out.brokenText = unescapeArgument(value)
	return out
}

func unescapeArgument(value string) (plain string, broken bool) {
	if strings.IndexByte(value, '%') < 0 && strings.IndexByte(value, '+') < 0 {
		return value, false
	}
	plain, err := url.QueryUnescape(value)
	if err != nil {
		return value, true
	}
	return plain, false
}

// looseNames has the names of the document by what common parsers take for them, and by themselves.
type looseNames map[string]string

func (l looseNames) add(name, loose string) {
	if l[loose] != loose {
		l[loose] = name
	}
	l[name] = name
}

// of returns the name of the document that an upstream may find in the name of an argument; if there is none, the name
// itself.
func (l looseNames) of(name string) string {
	if known, there := l[name]; there {
		return known
	}
	if known, there := l[looseName(name)]; there {
		return known
	}
	if base, rest, bracketed := strings.Cut(name, "["); bracketed {
		if known, there := l[looseName(base)]; there && l[base] == "" {
			return known + "[" + rest
		}
	}
	return name
}

var underscores = strings.NewReplacer(".", "_", " ", "_")

// stepsOfLoose are those of looseName, in addition to the bytes of the name.
const stepsOfLoose = 5

// bytesOfLoose is how many bytes of a name looseName reads in a step.
const bytesOfLoose = 4

// looseName returns what the least strict parsers make of a name. PHP drops spaces in front of it, ends it at NUL, and
// takes a dot, a space and a bracket that is not closed for an underscore; ASP.NET ignores case; others drop control
// characters and what is not UTF-8.
func looseName(name string) string {
	name, _, _ = strings.Cut(name, "\x00")
	name = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && !unicode.IsSpace(c) {
			return -1
		}
		return unicode.ToLower(c)
	}, strings.ToValidUTF8(name, ""))
	name = underscores.Replace(strings.TrimSpace(name))
	if !strings.Contains(name, "]") {
		name = strings.ReplaceAll(name, "[", "_")
	}
	return strings.Clone(name) // without the capacity that Map leaves
}

// loosely returns the arguments of a query or a form as the least strict upstream reads them: a semicolon separates
// them too, as in Rack and earlier versions of Python and Go, names are those of the document that they are taken for,
// and values are without the bytes that aren't UTF-8. differs is false if that is how they are read anyway, or if there
// are more than most, which is a problem.
func (r *run) loosely(query string, names looseNames, most int) (out []argument, differs bool) {
	for pair := range strings.SplitSeq(query, "&") {
		for one := range strings.SplitSeq(pair, ";") {
			if !r.spend(1 + len(one)/bytesOfStep) {
				return nil, false
			}
			if one == "" {
				differs = differs || pair != ""
				continue
			}
			if len(out) == most {
				r.problem("must have at most %d arguments, including those separated by semicolons", most)
				return nil, false
			}
			if !r.work.take(valueMemory + 2*len(one)) {
				return nil, false
			}
			read := readArgument(one)
			name := names.of(read.name)
			value := strings.ToValidUTF8(read.value, "")
			differs = differs || name != read.name || value != read.value || len(one) < len(pair)
			read.name, read.value = name, value
			out = append(out, read)
		}
	}
	return out, differs
}
