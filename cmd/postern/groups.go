package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"postern/core/contract"
)

func newGroups(t terminal) *cobra.Command {
	return family("groups", "List and change the groups of tenants",
		listCommand(t, asHolder, contract.ListGroups, []string{"ID", "NAME", "DISPLAY NAME", "MEMBERS"},
			func(g contract.Group) []string {
				return []string{g.ID, g.Name, g.DisplayName, strconv.FormatInt(g.Members, 10)}
			}),
		factsCommand(t, asHolder, contract.CreateGroup, groupFacts),
		factsCommand(t, asHolder, contract.GetGroup, groupFacts),
		factsCommand(t, asHolder, contract.UpdateGroup, groupFacts),
		doneCommand(t, asHolder, contract.DeleteGroup, "%s is deleted."),
		family("members", "List and change the direct members of a group",
			listCommand(t, asHolder, contract.ListGroupMembers, []string{"USER", "E-MAIL", "NAME", "STATE", "ROLE"},
				func(m contract.GroupMember) []string {
					return []string{m.User, m.Email, m.Name, m.State, m.Role}
				}),
			factsCommand(t, asHolder, contract.SetGroupMember, groupFacts),
			doneCommand(t, asHolder, contract.RemoveGroupMember, "%s is no longer in the group.")),
		factsCommand(t, asHolder, contract.NestGroup, groupFacts),
		doneCommand(t, asHolder, contract.UnnestGroup, "%s is no longer in it."),
	)
}

func groupFacts(g contract.Group) [][2]string {
	facts := [][2]string{
		{"Group", g.Name},
		{"Id", g.ID},
		{"Shown as", g.DisplayName},
		{"Members", strconv.FormatInt(g.Members, 10)},
	}
	for _, child := range g.Children {
		facts = append(facts, [2]string{"Contains", child.Name + " (" + child.ID + ")"})
	}
	for _, parent := range g.Parents {
		facts = append(facts, [2]string{"Is in", parent.Name + " (" + parent.ID + ")"})
	}
	return facts
}
