package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"postern/client"
)

func newGroups(t terminal) *cobra.Command {
	return family("groups", "List and change the groups of tenants",
		newGroupsList(t), newGroupsCreate(t), newGroupsShow(t), newGroupsUpdate(t), newGroupsDelete(t),
		newGroupsMembers(t), newGroupsAdd(t), newGroupsRemove(t), newGroupsNest(t), newGroupsUnnest(t))
}

func newGroupsList(t terminal) *cobra.Command {
	var options client.ListOptions
	command := listing(t, asHolder, "list", "List the groups of a tenant",
		func(ctx context.Context, api *client.Client, args []string) ([]client.Group, error) {
			return collect(api.Groups(ctx, args[0], options))
		},
		[]string{"ID", "NAME", "DISPLAY NAME", "MEMBERS"},
		func(g client.Group) []string {
			return []string{g.ID, g.Name, g.DisplayName, strconv.FormatInt(g.Members, 10)}
		},
		"TENANT")
	listFlags(command, &options, "name or display name", "name", "created")
	return command
}

func newGroupsCreate(t terminal) *cobra.Command {
	var display string
	command := one(t, asHolder, "create", "Create a group", []string{"TENANT", "NAME"},
		func(ctx context.Context, api *client.Client, args []string) (client.Group, error) {
			in := client.GroupInput{Name: &args[1]}
			if display != "" {
				in.DisplayName = &display
			}
			return api.CreateGroup(ctx, args[0], in)
		}, groupLines)
	command.Flags().StringVar(&display, "display-name", "", "display name (default: the name)")
	return command
}

func newGroupsShow(t terminal) *cobra.Command {
	return one(t, asHolder, "show", "Show a group, and the groups it contains or is in", []string{"GROUP"},
		func(ctx context.Context, api *client.Client, args []string) (client.Group, error) {
			return api.Group(ctx, args[0])
		}, groupLines)
}

func newGroupsDelete(t terminal) *cobra.Command {
	return none(t, asHolder, "delete", "Delete a group; its members stay users", []string{"GROUP"},
		func(ctx context.Context, api *client.Client, args []string) error {
			return api.DeleteGroup(ctx, args[0])
		}, "%s is deleted.")
}

func newGroupsMembers(t terminal) *cobra.Command {
	var options client.ListOptions
	command := listing(t, asHolder, "members", "List the direct members of a group",
		func(ctx context.Context, api *client.Client, args []string) ([]client.GroupMember, error) {
			return collect(api.GroupMembers(ctx, args[0], options))
		},
		[]string{"USER", "E-MAIL", "NAME", "STATE", "ROLE"},
		func(m client.GroupMember) []string {
			return []string{m.User, m.Email, m.Name, m.State, m.Role}
		},
		"GROUP")
	listFlags(command, &options, "e-mail address or name", "name", "role")
	return command
}

func newGroupsRemove(t terminal) *cobra.Command {
	return none(t, asHolder, "remove", "Take a user out of a group", []string{"GROUP", "USER"},
		func(ctx context.Context, api *client.Client, args []string) error {
			return api.RemoveGroupMember(ctx, args[0], args[1])
		}, "%s is no longer in the group.")
}

func newGroupsNest(t terminal) *cobra.Command {
	const short = "Put a group into a group: members of the second are members of the first"
	return one(t, asHolder, "nest", short, []string{"GROUP", "CHILD"},
		func(ctx context.Context, api *client.Client, args []string) (client.Group, error) {
			return api.NestGroup(ctx, args[0], args[1])
		}, groupLines)
}

func newGroupsUnnest(t terminal) *cobra.Command {
	return none(t, asHolder, "unnest", "Take a group out of a group", []string{"GROUP", "CHILD"},
		func(ctx context.Context, api *client.Client, args []string) error {
			return api.UnnestGroup(ctx, args[0], args[1])
		}, "%s is no longer in it.")
}

func newGroupsUpdate(t terminal) *cobra.Command {
	var name, display string
	var command *cobra.Command
	command = one(t, asHolder, "update", "Rename a group", []string{"GROUP"},
		func(ctx context.Context, api *client.Client, args []string) (client.Group, error) {
			var in client.GroupInput
			if command.Flags().Changed("name") {
				in.Name = &name
			}
			if command.Flags().Changed("display-name") {
				in.DisplayName = &display
			}
			return api.UpdateGroup(ctx, args[0], in)
		}, groupLines)
	command.Flags().StringVar(&name, "name", "", "name in rules and headers")
	command.Flags().StringVar(&display, "display-name", "", "display name")
	return command
}

func newGroupsAdd(t terminal) *cobra.Command {
	var role string
	command := one(t, asHolder, "add", "Put a user into a group", []string{"GROUP", "USER"},
		func(ctx context.Context, api *client.Client, args []string) (client.Group, error) {
			return api.SetGroupMember(ctx, args[0], args[1], role)
		}, groupLines)
	command.Flags().StringVar(&role, "role", "member", "member or admin, which rules can ask for")
	return command
}

func groupLines(g client.Group) [][2]string {
	lines := [][2]string{
		{"Group", g.Name},
		{"Id", g.ID},
		{"Shown as", g.DisplayName},
		{"Members", strconv.FormatInt(g.Members, 10)},
	}
	for _, child := range g.Children {
		lines = append(lines, [2]string{"Contains", child.Name + " (" + child.ID + ")"})
	}
	for _, parent := range g.Parents {
		lines = append(lines, [2]string{"Is in", parent.Name + " (" + parent.ID + ")"})
	}
	return lines
}
