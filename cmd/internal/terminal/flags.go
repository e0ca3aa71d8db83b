package terminal

import (
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

// switchValue is a flag that is off unless it's set. Without it, package pflag shows a switch as --json[=true|false].
type switchValue struct{ pflag.Value }

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
