package keyfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// peeked is how much of a file its format is guessed from, in bytes.
const peeked = 64 << 10

// binaries are formats of files that begin with these bytes, and what to do with them.
var binaries = []struct{ magic, name, fix string }{
	{"\x1f\x8b", "compressed with gzip", "Unpack it first, for example with gunzip."},
	{"PK\x03\x04", "a zip or an Excel workbook",
		"If it is a zip, unpack it first. In Excel, choose Save As and CSV UTF-8 (Comma delimited)."},
	{"\x28\xb5\x2f\xfd", "compressed with zstd", "Unpack it first, for example with unzstd."},
	{"BZh", "compressed with bzip2", "Unpack it first, for example with bunzip2."},
	{"\xfd7zXZ\x00", "compressed with xz", "Unpack it first, for example with unxz."},
	{"\xd0\xcf\x11\xe0", "an Excel workbook", "In Excel, choose Save As and CSV UTF-8 (Comma delimited)."},
	{"SQLite format 3\x00", "an SQLite database", "Export the table of keys as CSV or JSON."},
	{"%PDF", "a PDF document", "Export the keys as CSV or JSON."},
	{"\xff\xfe", "UTF-16", utf8Fix("UTF-16")},
	{"\xfe\xff", "UTF-16", utf8Fix("UTF-16")},
}

func utf8Fix(from string) string {
	return "Save it as UTF-8, for example with iconv -f " + from + " -t UTF-8, or as CSV UTF-8 in Excel."
}

// yamlLine is a line that YAML has, and neither JSON nor the header of a CSV file.
var yamlLine = regexp.MustCompile(`^(---|[A-Za-z_][A-Za-z0-9_]*:( [^,;\t]*)?|- [A-Za-z_]+:.*)$`)

// textOf returns the reader of a text in UTF-8 after its byte order mark, with its beginning.
func textOf(file io.Reader) (*bufio.Reader, []byte, error) {
	in := bufio.NewReaderSize(file, peeked)
	begin, err := in.Peek(peeked)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if rest, found := bytes.CutPrefix(begin, []byte("\ufeff")); found {
		_, _ = in.Discard(len(begin) - len(rest)) // it was peeked
		begin = rest
	}
	for _, b := range binaries {
		if bytes.HasPrefix(begin, []byte(b.magic)) {
			return nil, nil, &Error{Code: CodeFormat, Detail: "The file is " + b.name + ". " + b.fix}
		}
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(begin, " \t\r\n"), []byte("\n"))
	first = bytes.TrimRight(first, " \r")
	switch {
	case len(first) == 0:
		return nil, nil, &Error{Code: CodeNoKeys, Detail: "The file is empty. Send a file with at least one key."}
	case bytes.Count(begin, []byte{0}) > len(begin)/3: // ASCII in UTF-16 without a mark
		return nil, nil, &Error{Code: CodeFormat, Detail: "The file is UTF-16. " + utf8Fix("UTF-16")}
	case yamlLine.Match(first):
		return nil, nil, &Error{Code: CodeFormat, Detail: "Keys can't be imported from YAML. Convert the file to " +
			"JSON, for example with yq -o=json."}
	}
	return in, begin, nil
}

// brokenText returns the reason why the characters of a row are invalid, "" if they are valid.
func brokenText(row []byte) string {
	switch {
	case bytes.IndexByte(row, 0) >= 0:
		return "The row contains a NUL character. Export the file again."
	case !utf8.Valid(row):
		return "The row isn't UTF-8; it may be Latin-1 or Windows-1252. " + utf8Fix("WINDOWS-1252")
	}
	return ""
}

// nameLike matches texts that look like the name of a column. Errors don't repeat other texts: without a header, they
// are keys.
var nameLike = regexp.MustCompile(`^[A-Za-z_@][A-Za-z0-9_ .:/@()\[\]-]{0,59}$`)

// isName reports whether the name of a column may be repeated in errors: without long words that are random.
func isName(name string) bool { return nameLike.MatchString(name) && !MayBeKey(name) }

// MayBeKey reports whether a text has a long word that is random, so that it may be a key: a wrong mapping reads keys
// as owners or names.
func MayBeKey(text string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool {
		return strings.ContainsRune("_ .:/@()[]-", r)
	}), isRandom)
}

// isRandom reports whether a word of letters and digits is likely a part of a key. Words that people write have few
// digits, a vowel in four letters, and a capital in six.
func isRandom(word string) bool {
	lower := strings.ToLower(word)
	for _, function := range []string{"sha256", "sha512", "base64"} {
		lower = strings.ReplaceAll(lower, function, "")
	}
	digits, vowels, capitals := 0, 0, 0
	for i, c := range lower {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case strings.ContainsRune("aeiou", c):
			vowels++
		}
		if i > 0 && i < len(word) && word[i] >= 'A' && word[i] <= 'Z' && word[i-1] >= 'a' && word[i-1] <= 'z' {
			capitals++
		}
	}
	n := len(lower)
	return n >= 10 && digits >= 3 || n >= 16 && (vowels*4 < n || capitals*6 > n)
}
