package main

import (
	"strings"

	"github.com/spf13/cobra"

	"postern/core/contract"
)

func newSignup(t terminal) *cobra.Command {
	return family("signup", "Show and change who may sign in to a tenant for the first time",
		factsCommand(t, asHolder, contract.GetSignupPolicy, signupFacts),
		factsCommand(t, asHolder, contract.UpdateSignupPolicy, signupFacts),
		family("approvals", "List and change the approvals of a tenant, which let users sign up",
			listCommand(t, asHolder, contract.ListApprovals, []string{"ID", "KIND", "VALUE", "GROUPS"},
				func(a contract.Approval) []string {
					return []string{a.ID, a.Kind, a.Value, strings.Join(a.Groups, ", ")}
				}),
			factsCommand(t, asHolder, contract.CreateApproval, approvalFacts),
			factsCommand(t, asHolder, contract.GetApproval, approvalFacts),
			factsCommand(t, asHolder, contract.UpdateApproval, approvalFacts),
			doneCommand(t, asHolder, contract.DeleteApproval, "%s is deleted."),
		),
	)
}

func signupFacts(p contract.SignupPolicy) [][2]string {
	who := "all users of its providers"
	if p.InviteOnly {
		who = "invited and approved users only"
	}
	return [][2]string{{"May sign up", who}}
}

func approvalFacts(a contract.Approval) [][2]string {
	return [][2]string{
		{"Approved", a.Value},
		{"Kind", a.Kind},
		{"Id", a.ID},
		{"Groups", strings.Join(a.Groups, " ")},
	}
}
