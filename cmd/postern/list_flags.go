package main

import (
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
)

// sortFlag adds --sort to a command whose list has these orders, the usual one first.
func sortFlag(command *cobra.Command, order *string, orders ...string) {
	last := len(orders) - 1
	named := strings.Join(orders[:last], ", ")
	if named != "" {
		named += " or "
	}
	command.Flags().StringVar(order, "sort", "",
		"order by "+named+orders[last]+"; with - before it the other way round")
}

// listFlags adds --sort, and --search in what is searched for.
func listFlags(command *cobra.Command, o *client.ListOptions, searched string, orders ...string) {
	sortFlag(command, &o.Sort, orders...)
	command.Flags().StringVar(&o.Text, "search", "", "only those whose "+searched+" contains this text")
}
