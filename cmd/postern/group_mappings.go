package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

func newGroupMappings(t terminal) *cobra.Command {
	return family("group-mappings", "List and change by which claims of a provider users are in groups",
		operationCommand(t, asLogin, contract.GetGroupMappings,
			func(_ contract.ProviderPath, found contract.GroupMappings) error {
				return printGroupMappings(t, found)
			}),
		newGroupMappingsAdd(t), newGroupMappingsRemove(t))
}

func newGroupMappingsAdd(t terminal) *cobra.Command {
	return changingGroupMappings(t, &cobra.Command{
		Use:   "add PROVIDER CLAIM VALUE GROUP",
		Short: "Put users whose claim has the value into a group, at their next sign-in",
		Example: "  postern group-mappings add idp_… groups /billing billing\n" +
			"  postern group-mappings add idp_… realm_access.roles admin- admins --prefix\n" +
			"  postern group-mappings add idp_… teams acme/sre on-call",
	}, func(now contract.GroupMappings, one contract.GroupMapping) ([]contract.GroupMapping, error) {
		return append(now.Rules(), one), nil
	})
}

func newGroupMappingsRemove(t terminal) *cobra.Command {
	return changingGroupMappings(t, &cobra.Command{
		Use:   "remove PROVIDER CLAIM VALUE GROUP",
		Short: "Remove a rule; with the last one of a group, users whom rules put there leave it at once",
	}, func(now contract.GroupMappings, one contract.GroupMapping) ([]contract.GroupMapping, error) {
		rules := len(now.Mappings)
		now.Mappings = slices.DeleteFunc(now.Mappings, func(is contract.NamedGroupMapping) bool {
			return is.Claim == one.Claim && is.Value == one.Value && is.Match == one.Match &&
				(is.Group == one.Group || is.GroupName == one.Group)
		})
		if len(now.Mappings) == rules {
			return nil, fmt.Errorf("the provider has no such rule: see postern group-mappings list")
		}
		return now.Rules(), nil
	})
}

// changingGroupMappings completes a command that changes the list of rules by one.
func changingGroupMappings(
	t terminal, command *cobra.Command,
	change func(contract.GroupMappings, contract.GroupMapping) ([]contract.GroupMapping, error),
) *cobra.Command {
	var prefix bool
	command.Args = exactly("PROVIDER", "CLAIM", "VALUE", "GROUP")
	command.RunE = func(c *cobra.Command, args []string) error {
		one := contract.GroupMapping{Claim: args[1], Value: args[2], Match: contract.MatchExact, Group: args[3]}
		if prefix {
			one.Match = contract.MatchPrefix
		}
		return asLogin(t, c, func(api *client.Client) error {
			in := contract.GroupMappingsUpdate{ProviderPath: contract.ProviderPath{Provider: args[0]}}
			now, err := client.Do(c.Context(), api, contract.GetGroupMappings, in.ProviderPath)
			if err != nil {
				return err
			}
			in.IfMatch = now.ETag
			if in.Body.Mappings, err = change(now, one); err != nil {
				return err
			}
			if now, err = client.Do(c.Context(), api, contract.SetGroupMappings, in); err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, now)
			}
			return printGroupMappings(t, now)
		})
	}
	command.Flags().BoolVar(&prefix, "prefix", false, "the value is how the claim's value begins")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func printGroupMappings(t terminal, found contract.GroupMappings) error {
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
