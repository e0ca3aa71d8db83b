package terminal

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// pointerKey begins the annotations of a command that have what its flags and arguments are called in a request.
const pointerKey = "pointer "

// NamePointer says which flag or argument of a command sets the part of a request at a JSON Pointer (RFC 6901). An
// asterisk in it stands for any segment, and "" for the whole request.
func NamePointer(c *cobra.Command, pointer, name string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[pointerKey+pointer] = name
}

// nameOf returns the flag or argument of a command that sets what a JSON Pointer leads to. For what none sets, such as
// a part of a file, it returns a path such as rules[0].path.
func nameOf(c *cobra.Command, pointer string) string {
	best, longest := "", 0
	for key, name := range c.Annotations {
		pattern, isPointer := strings.CutPrefix(key, pointerKey)
		length := 2*strings.Count(pattern, "/") - strings.Count(pattern, "*") // a name says more than an asterisk
		if isPointer && length > longest && leadsInto(pattern, pointer) {
			best, longest = name, length
		}
	}
	if best != "" {
		return best
	}
	var path strings.Builder
	for segment := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		segment = strings.NewReplacer("~1", "/", "~0", "~").Replace(segment)
		switch {
		case segment != "" && strings.Trim(segment, "0123456789") == "":
			path.WriteString("[" + segment + "]")
		case path.Len() > 0:
			path.WriteString("." + segment)
		default:
			path.WriteString(segment)
		}
	}
	return path.String()
}

// namedTwice matches the name of a member in a text of the server that is followed by its flag, as in allow_weak
// (--allow-weak).
var namedTwice = regexp.MustCompile(`\b[a-z_]+ \((--[a-z-]+)\)`)

// FlagsOnly returns a text of the server that names members together with their flags. It keeps only the flags if the
// command has them.
func FlagsOnly(c *cobra.Command, text string) string {
	return namedTwice.ReplaceAllStringFunc(text, func(both string) string {
		flag := namedTwice.FindStringSubmatch(both)[1]
		if c.Flags().Lookup(strings.TrimPrefix(flag, "--")) == nil {
			return both
		}
		return flag
	})
}

// inUnits matches the numbers of a text of the server that is about a member with a number of seconds or milliseconds.
var inUnits = regexp.MustCompile(`Use ([\d,]+)( \([^)]*\))? to ([\d,]+) (milli)?seconds(?: \([^)]*\))?` +
	`(?:(\. The default is )([\d,]+))?`)

// inFlagUnits returns a text of the server about a flag or argument with durations in place of numbers of seconds if it
// is a flag that takes a duration.
func inFlagUnits(c *cobra.Command, name, text string) string {
	flag := c.Flags().Lookup(strings.TrimPrefix(name, "--"))
	if flag == nil || flag.Value.Type() != "duration" {
		return text
	}
	parts := inUnits.FindStringSubmatch(text)
	if parts == nil {
		return strings.Replace(text, ", in seconds", "", 1)
	}
	duration := func(number string) string {
		n, _ := strconv.ParseInt(strings.ReplaceAll(number, ",", ""), 10, 64) // which is digits and commas
		unit := time.Second
		if parts[4] != "" {
			unit = time.Millisecond
		}
		return ShowDuration(time.Duration(n) * unit)
	}
	said := "Use a duration from " + duration(parts[1]) + parts[2] + " to " + duration(parts[3])
	if parts[6] != "" {
		said += parts[5] + duration(parts[6])
	}
	return strings.Replace(text, parts[0], said, 1)
}

// detailOf returns a text of the server about a flag or argument in the words of the command line. For a list with
// commas in a flag that takes one value, it adds the way to give several.
func detailOf(c *cobra.Command, name, text string) string {
	text = inFlagUnits(c, name, text)
	if flag := c.Flags().Lookup(strings.TrimPrefix(name, "--")); flag != nil && hasList(flag) {
		text += " To give several values, repeat " + name + "."
	}
	return text
}

// leadsInto reports whether a pointer is the one of the pattern, or leads to something within it.
func leadsInto(pattern, pointer string) bool {
	want, is := strings.Split(pattern, "/"), strings.Split(pointer, "/")
	if len(is) < len(want) {
		return false
	}
	for i, segment := range want {
		if segment != "*" && segment != is[i] {
			return false
		}
	}
	return true
}
