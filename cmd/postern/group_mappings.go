package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"postern/client"
)

func newGroupMappings(t terminal) *cobra.Command {
	return family("group-mappings", "List and change by which claims of a provider users are in groups",
		newGroupMappingsList(t), newGroupMappingsAdd(t), newGroupMappingsRemove(t))
}

func newGroupMappingsList(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use: "list PROVIDER", Short: "List the rules of a provider", Args: exactly("PROVIDER"),
		RunE: func(c *cobra.Command, args []string) error {
			found, err := onLogin(t, c, args[0], func(ctx context.Context, api caller) (client.GroupMappings, error) {
				return api.GroupMappings(ctx, args[0])
			})
			if err != nil {
				return err
			}
			return printGroupMappings(t, c, found)
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newGroupMappingsAdd(t terminal) *cobra.Command {
	return changingGroupMappings(t, &cobra.Command{
		Use:   "add PROVIDER CLAIM VALUE GROUP",
		Short: "Put users whose claim has the value into a group, at their next sign-in",
		Example: "  postern group-mappings add idp_… groups /billing billing\n" +
			"  postern group-mappings add idp_… realm_access.roles admin- admins --prefix\n" +
			"  postern group-mappings add idp_… teams acme/sre on-call",
	}, func(list []client.GroupMapping, one client.GroupMapping) ([]client.GroupMapping, error) {
		return append(list, one), nil
	})
}

func newGroupMappingsRemove(t terminal) *cobra.Command {
	return changingGroupMappings(t, &cobra.Command{
		Use:   "remove PROVIDER CLAIM VALUE GROUP",
		Short: "Remove a rule; with the last one of a group, users whom rules put there leave it at once",
	}, func(list []client.GroupMapping, one client.GroupMapping) ([]client.GroupMapping, error) {
		left := slices.DeleteFunc(slices.Clone(list), func(is client.GroupMapping) bool {
			return is.Claim == one.Claim && is.Value == one.Value && is.Match == one.Match &&
				(is.Group == one.Group || is.GroupName == one.Group)
		})
		if len(left) == len(list) {
			return nil, fmt.Errorf("the provider has no such rule: see postern group-mappings list")
		}
		return left, nil
	})
}

// changingGroupMappings completes a command that changes the list of rules by one.
func changingGroupMappings(
	t terminal, command *cobra.Command,
	change func([]client.GroupMapping, client.GroupMapping) ([]client.GroupMapping, error),
) *cobra.Command {
	var prefix bool
	command.Args = exactly("PROVIDER", "CLAIM", "VALUE", "GROUP")
	command.RunE = func(c *cobra.Command, args []string) error {
		one := client.GroupMapping{Claim: args[1], Value: args[2], Match: "exact", Group: args[3]}
		if prefix {
			one.Match = "prefix"
		}
		set := func(ctx context.Context, api caller) (client.GroupMappings, error) {
			now, err := api.GroupMappings(ctx, args[0])
			if err != nil {
				return now, err
			}
			if now.Mappings, err = change(now.Mappings, one); err != nil {
				return now, err
			}
			return api.SetGroupMappings(ctx, args[0], now)
		}
		found, err := onLogin(t, c, args[0], set)
		if err != nil {
			return err
		}
		return printGroupMappings(t, c, found)
	}
	command.Flags().BoolVar(&prefix, "prefix", false, "the value is how the claim's value begins")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func printGroupMappings(t terminal, c *cobra.Command, found client.GroupMappings) error {
	if wantsJSON(c) {
		return printJSON(t.out, found)
	}
	if len(found.Mappings) == 0 {
		_, err := fmt.Fprintln(t.out, "No rules: claims of this provider put users into no group.")
		return err
	}
	return table(t.out, func(row func(...string)) {
		row("CLAIM", "MATCH", "VALUE", "GROUP")
		for _, one := range found.Mappings {
			row(one.Claim, one.Match, one.Value, cmp.Or(one.GroupName, one.Group))
		}
	})
}
