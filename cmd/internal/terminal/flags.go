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

// NameTypes has the help of a command, and of those below it, say of a flag with several values whether it is given
// once for each of them or with all of them in a list. Without it, help has the names that package pflag uses.
func NameTypes(c *cobra.Command) {
	for _, below := range c.Commands() {
		NameTypes(below)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
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
