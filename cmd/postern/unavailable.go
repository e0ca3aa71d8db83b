package main

import (
	"github.com/spf13/cobra"

	"postern/fault"
)

// newUnavailable are the commands that the contract has and this version has
// not: each says so, however it is called, and fails.
func newUnavailable() []*cobra.Command {
	var list []*cobra.Command
	for _, c := range []struct{ name, short string }{
		{"users", "List and change end users"},
		{"groups", "List and change groups"},
	} {
		list = append(list, &cobra.Command{
			Use: c.name, Short: c.short + " (not available yet)", DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error {
				if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
					return cmd.Help()
				}
				return fault.New(fault.Unavailable, "not_available_yet", "%s is not available yet", cmd.Name())
			},
		})
	}
	return list
}
