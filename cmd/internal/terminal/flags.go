package terminal

import (
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sliceValue is a flag with several values, under the name that help has for each of them.
type sliceValue struct {
	pflag.Value
	pflag.SliceValue
	name string
}

// Type implements pflag.Value.
func (v sliceValue) Type() string { return v.name }

// filledValue is a flag that refuses an empty value. A script that expands an unset variable would otherwise create
// something without the limit or the requirement that the flag is about.
type filledValue struct{ pflag.Value }

// Set implements pflag.Value.
func (v filledValue) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errEmpty
	}
	return v.Value.Set(text)
}

// errEmpty is the error of a flag with an empty value; see flagError.
var errEmpty = errors.New("the value is empty")

// emptyKey is the annotation of a flag that takes an empty value even though its help doesn't say so.
const emptyKey = "takes an empty value"

// AllowEmpty has a flag take an empty value. It is for a flag that changes something that exists, which "" clears.
func AllowEmpty(f *pflag.Flag) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[emptyKey] = nil
}

// takesEmpty reports whether a flag takes an empty value: because AllowEmpty was called for it, because its help says
// so, or because it is a setting of the server, which has a variable that can be empty too.
func takesEmpty(f *pflag.Flag) bool {
	_, allowed := f.Annotations[emptyKey]
	return allowed || strings.Contains(f.Usage, `""`) || strings.Contains(f.Usage, "If empty,") ||
		strings.Contains(f.Usage, "(POSTERN_")
}

// RefuseEmpty has the flags of a command and its subcommands refuse an empty value, except for those that take one.
// Call it after NameTypes.
func RefuseEmpty(c *cobra.Command) {
	for _, below := range c.Commands() {
		RefuseEmpty(below)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" || takesEmpty(f) {
			return
		}
		if several, ok := f.Value.(sliceValue); ok {
			several.Value = filledValue{several.Value}
			f.Value = several
			return
		}
		f.Value = filledValue{f.Value}
	})
}

// repeatedValue is a flag that is given once for each value. It remembers in an annotation that one looks like a list.
type repeatedValue struct {
	pflag.Value
	of *pflag.Flag
}

// listKey is the annotation of a flag one of whose values looks like a list.
const listKey = "has a list"

// simpleList matches several simple values with commas between them.
var simpleList = regexp.MustCompile(`^[\w.:*@/=-]+(, ?[\w.:*@/=-]+)+$`)

// Set implements pflag.Value.
func (v repeatedValue) Set(text string) error {
	if simpleList.MatchString(text) {
		if v.of.Annotations == nil {
			v.of.Annotations = map[string][]string{}
		}
		v.of.Annotations[listKey] = nil
	}
	return v.Value.Set(text)
}

// hasList reports whether a flag that is given once for each value has one that looks like a list.
func hasList(f *pflag.Flag) bool {
	_, has := f.Annotations[listKey]
	return has
}

// NoteLists has errors about the flags of a command and its subcommands that are given once for each value explain this
// if a value looks like a list. Call it after NameTypes.
func NoteLists(c *cobra.Command) {
	for _, below := range c.Commands() {
		NoteLists(below)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !strings.HasSuffix(f.Usage, "(repeatable)") {
			return
		}
		if several, ok := f.Value.(sliceValue); ok {
			several.Value = repeatedValue{several.Value, f}
			f.Value = several
			return
		}
		f.Value = repeatedValue{f.Value, f}
	})
}

// switchValue is a flag that is off unless it's set. Without it, package pflag shows a switch as --json[=true|false].
type switchValue struct{ pflag.Value }

// sayDefault says the default of a flag as the descriptions of other flags do: in a sentence, instead of in the
// parentheses of package pflag. Settings of the server, which have a variable too, keep those.
func sayDefault(f *pflag.Flag) {
	none := map[string]string{"string": "", "int": "0"}
	zero, simple := none[f.Value.Type()]
	if !simple || f.DefValue == "" || f.DefValue == zero || strings.Contains(f.Usage, "(POSTERN_") {
		return
	}
	f.Usage += ". Defaults to " + f.DefValue
	f.DefValue = zero
}

// NameTypes changes how the help of a command and its subcommands shows flags. A flag with several values is a list, or
// a string that can be repeated. A switch has no value.
func NameTypes(c *cobra.Command) {
	for _, below := range c.Commands() {
		NameTypes(below)
	}
	c.InitDefaultHelpFlag()
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" && f.DefValue == "false" {
			f.Value = switchValue{f.Value}
			return
		}
		sayDefault(f)
		several, ok := f.Value.(pflag.SliceValue)
		if !ok {
			return
		}
		name := "list"
		if strings.HasSuffix(f.Usage, "(repeatable)") {
			name = "string"
		}
		if f.DefValue == "[]" { // which help would print for a type that pflag doesn't know
			f.DefValue = ""
		}
		f.Value = sliceValue{f.Value, several, name}
	})
}
