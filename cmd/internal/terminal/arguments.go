package terminal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// describedKey is the annotation of a command that has a line for each of its arguments: its name and what it is.
const describedKey = "described arguments"

// Described says what arguments of a command are, by name and text, and returns the command. A later text for the same
// name replaces an earlier one, and "" removes it. ListArguments adds the texts to the command's help, in the order of
// the first ones.
func Described(c *cobra.Command, arguments ...[2]string) *cobra.Command {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	for _, one := range arguments {
		all := DescribedArguments(c)
		if at := slices.IndexFunc(all, func(is [2]string) bool { return is[0] == one[0] }); at >= 0 {
			all[at] = one
		} else {
			all = append(all, one)
		}
		var lines strings.Builder
		for _, line := range all {
			if line[1] != "" {
				lines.WriteString(line[0] + "\t" + line[1] + "\n")
			}
		}
		c.Annotations[describedKey] = lines.String()
	}
	return c
}

// DescribedArguments returns the names and texts of the arguments that Described was called for.
func DescribedArguments(c *cobra.Command) (all [][2]string) {
	for line := range strings.Lines(c.Annotations[describedKey]) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		all = append(all, [2]string{name, text})
	}
	return all
}

// ListArguments adds a section with the arguments to the help of a command and of those below it. A command without a
// longer text begins with its summary, as a sentence.
func ListArguments(c *cobra.Command) {
	for _, below := range c.Commands() {
		ListArguments(below)
	}
	if c.Short != "" {
		c.Long = cmp.Or(c.Long, c.Short+".")
	}
	all, width := DescribedArguments(c), 0
	for _, one := range all {
		width = max(width, len(one[0]))
	}
	for i, one := range all {
		if i == 0 {
			c.Long += "\n\nArguments:"
		}
		c.Long += fmt.Sprintf("\n  %-*s   %s", width, one[0], one[1])
	}
}
