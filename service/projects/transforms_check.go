package projects

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/platform/fault"
)

// CheckTransforms returns the mistakes in transforms, below a pointer. It removes spaces around names and values, and
// types that have no effect.
func CheckTransforms(prefix string, in *snapshot.Transforms) []fault.Field {
	header := func(fixed func(string) bool) checkEntry {
		return func(operation, name, value string) (code, detail string) {
			return wrongChange(operation, name, value, fixed)
		}
	}
	fixedRequest := policy.FixedRequestHeader
	if !in.RequestBody.None() { // which bodies are changed depends on it
		fixedRequest = func(name string) bool {
			return policy.FixedRequestHeader(name) || strings.EqualFold(name, "Content-Type")
		}
	}
	return slices.Concat(
		checkChanges(prefix+"/request/%s/headers", &in.Request, strings.ToLower, header(fixedRequest)),
		checkChanges(prefix+"/request/%s/query", &in.Query, strings.Clone, wrongArgument),
		checkChanges(prefix+"/request/%s/body", &in.RequestBody, strings.Clone, wrongMember),
		checkChanges(prefix+"/response/%s/headers", &in.Response, strings.ToLower, header(policy.FixedResponseHeader)),
		checkBody(prefix+"/response/%s/body", &in.ResponseBody),
	)
}

// checkBody returns the mistakes in changes of response bodies.
func checkBody(at string, in *snapshot.BodyChanges) []fault.Field {
	wrong := checkChanges(at, &in.Changes, strings.Clone, func(operation, name, value string) (code, detail string) {
		code, detail = wrongMember(operation, name, value)
		if code == "" && strings.Contains(value, `\`) {
			code, detail = "invalid_value", "Kong would double backslashes. Use a value without a backslash."
		}
		return code, detail
	})
	for _, one := range []struct {
		operation string
		list      []string
		types     *[]string
	}{
		{"replace", in.Replace, &in.Types.Replace}, {"add", in.Add, &in.Types.Add},
		{"append", in.Append, &in.Types.Append},
	} {
		at := fmt.Sprintf(at, one.operation)
		if n := len(*one.types); n > 0 && n != len(one.list) {
			wrong = append(wrong, fault.Field{Pointer: at + "_types", Code: "invalid_type",
				Detail: "Set the type of each entry of body, or leave out body_types if all are strings."})
			continue
		}
		for i, kind := range *one.types {
			_, value := policy.SplitChange(one.list[i])
			if code, detail := wrongTyped(kind, value); code != "" {
				wrong = append(wrong, fault.Field{Pointer: fmt.Sprintf("%s_types/%d", at, i), Code: code,
					Detail: detail})
			}
		}
		if !slices.ContainsFunc(*one.types, func(kind string) bool { return kind != snapshot.JSONString }) {
			*one.types = nil
		}
	}
	return wrong
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

// mostDigits is the number of digits with which Kong writes numbers.
const mostDigits = 14

// wrongTyped returns the mistake in a value of a type, "" for none.
func wrongTyped(kind, value string) (code, detail string) {
	switch kind {
	case snapshot.JSONString:
	case snapshot.JSONBoolean:
		if value != "true" && value != "false" {
			return "invalid_value", "A boolean must be true or false, not " + value + "."
		}
	case snapshot.JSONNumber:
		mantissa, _, _ := strings.Cut(strings.ToLower(value), "e")
		digits := strings.TrimLeft(strings.NewReplacer(".", "", "-", "").Replace(mantissa), "0")
		if _, err := strconv.ParseFloat(value, 64); err != nil || !jsonNumber.MatchString(value) ||
			len(digits) > mostDigits {
			return "invalid_value", fmt.Sprintf("Use a JSON number of at most %d digits, not %s.", mostDigits, value)
		}
	default:
		return "invalid_type", "Use string, number or boolean, not " + kind + "."
	}
	return "", ""
}

// wrongMember returns the mistake in an entry for bodies, "" for none.
func wrongMember(operation, name, value string) (code, detail string) {
	wrongName := func(text string) bool {
		return text == "" || len(text) > maxChangedHeader || strings.ContainsAny(text, ` :"\`) ||
			strings.Contains(text, "$(") || !isPlainText(text)
	}
	switch {
	case wrongName(name) || operation == "rename" && value != "" && wrongName(value):
		return "invalid_member", fmt.Sprintf("Use the unescaped name of a member of the object or form, of at most "+
			"%d bytes, without spaces, colons, quotes or backslashes.", maxChangedHeader)
	case operation == "remove" && value != "":
		return "invalid_member", "Use only the name of the member, such as " + name + "."
	case operation == "remove":
		return "", ""
	case value == "":
		return "required", "Use a name and a value separated by a colon, such as " + name + ":value."
	case operation == "rename" && name == value:
		return "invalid_member", "The new name is the same as the old one. Use a different name, or leave this out."
	case !isPlainText(value):
		return "invalid_value", "Use printable characters."
	}
	return wrongLiteral(value)
}

func isPlainText(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// checkEntry returns the mistake in an entry of an operation, "" for none.
type checkEntry func(operation, name, value string) (code, detail string)

// checkChanges returns the mistakes in changes. at is the pointer of an operation's list; names are the same if what
// same returns for them is.
func checkChanges(at string, in *snapshot.Changes, same func(string) string, check checkEntry) (wrong []fault.Field) {
	for _, operation := range []struct {
		name string
		list []string
	}{
		{"remove", in.Remove}, {"rename", in.Rename}, {"replace", in.Replace}, {"add", in.Add}, {"append", in.Append},
	} {
		at := fmt.Sprintf(at, operation.name)
		if len(operation.list) > maxHeaderChanges {
			wrong = append(wrong, fault.Field{Pointer: at, Code: "too_many",
				Detail: fmt.Sprintf("Use at most %d entries in an operation.", maxHeaderChanges)})
			continue
		}
		seen := map[string]bool{}
		for i, entry := range operation.list {
			name, value := policy.SplitChange(entry)
			code, detail := check(operation.name, name, value)
			if code == "" && seen[same(name)] && operation.name != "append" {
				code, detail = "duplicate", "This name is listed twice in the operation. Remove one."
			}
			seen[same(name)] = true
			if code != "" {
				wrong = append(wrong, fault.Field{Pointer: fmt.Sprintf("%s/%d", at, i), Code: code, Detail: detail})
			}
			operation.list[i] = name
			if value != "" {
				operation.list[i] += ":" + value
			}
		}
	}
	return wrong
}

var changedHeader = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// wrongChange returns the mistake in an entry of an operation, "" for none.
func wrongChange(operation, name, value string, fixed func(string) bool) (code, detail string) {
	code, detail = wrongChangedHeader(name, fixed)
	switch {
	case code != "":
		return code, detail
	case policy.IsCookieHeader(name) && operation != "remove":
		return "fixed_header", "Cookies can only be removed. Leave " + name + " out."
	case operation == "remove" && value != "":
		return "invalid_header", "Use only the name of the header, such as " + name + "."
	case operation == "remove":
		return "", ""
	case value == "":
		return "required", "Use a header and a value separated by a colon, such as " + name + ":value."
	case operation != "rename":
		return wrongHeaderValue(value)
	case strings.EqualFold(name, value):
		return "invalid_header", "The new name is the same as the old one, because header names aren't " +
			"case-sensitive. Use a different name, or leave this out."
	case policy.IsCookieHeader(value):
		return "fixed_header", "Cookies can only be removed. Leave " + value + " out."
	}
	return wrongChangedHeader(value, fixed)
}

func wrongChangedHeader(name string, fixed func(string) bool) (code, detail string) {
	if !changedHeader.MatchString(name) || len(name) > maxChangedHeader {
		return "invalid_header", fmt.Sprintf("Use a header name of at most %d letters, digits or hyphens.",
			maxChangedHeader)
	}
	if fixed(name) {
		return "fixed_header", "Transforms can't change " + name + ", because the gateway sets it or the message " +
			"depends on it. For upstream credentials, use the upstream headers of an environment."
	}
	return "", ""
}

// wrongArgument returns the mistake in an entry for the query, "" for none.
func wrongArgument(operation, name, value string) (code, detail string) {
	wrongName := func(text string) bool {
		return text == "" || len(text) > maxChangedHeader || strings.Contains(text, "$(") ||
			strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }) >= 0
	}
	switch {
	case wrongName(name) || operation == "rename" && value != "" && wrongName(value):
		return "invalid_argument", fmt.Sprintf("Use the unescaped name of a query parameter: at most %d printable "+
			"ASCII "+
			"characters without spaces or colons.", maxChangedHeader)
	case operation == "remove" && value != "":
		return "invalid_argument", "Use only the name of the query parameter, such as " + name + "."
	case operation == "remove":
		return "", ""
	case value == "":
		return "required", "Use a name and a value separated by a colon, such as " + name + ":value."
	case operation == "rename" && name == value:
		return "invalid_argument", "The new name is the same as the old one. Use a different name, or leave this out."
	}
	return wrongHeaderValue(value)
}

func wrongHeaderValue(value string) (code, detail string) {
	if strings.IndexFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
		return "invalid_value", "Use printable ASCII characters."
	}
	return wrongLiteral(value)
}

// wrongLiteral returns the mistake in a value whose characters are allowed.
func wrongLiteral(value string) (code, detail string) {
	switch {
	case len(value) > maxTransformValue:
		return "too_long", fmt.Sprintf("Use a value of at most %s bytes.", humanize.Comma(maxTransformValue))
	case strings.Contains(value, "$("):
		return "invalid_value", "Kong would treat $( as the start of a template. Use a value without $(."
	case value[0] == ':':
		return "invalid_value", "Kong doesn't support a colon at the start of a value. Start with another character."
	}
	return "", ""
}
