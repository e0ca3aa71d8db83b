package projects

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/core/policy"
)

func newExplain(t terminal.Terminal) *cobra.Command {
	command := cli.OperationCommand(t, cli.OfProject, contract.Explain,
		func(_ contract.Question, found contract.Explanation) error { return printExplanation(t, found) })
	command.Example += `
  postern explain shop DELETE /staff --version 1.0.0 --user ana@example.com --scopes 'openid orders:write'`
	return command
}

func printExplanation(t terminal.Terminal, found contract.Explanation) error {
	err := terminal.Details(t.Out, func(row func(...string)) {
		row("STEP", "OUTCOME", "DETAIL")
		for _, step := range found.Steps {
			row(string(step.Step), step.Outcome, step.Detail)
		}
	})
	if err != nil {
		return err
	}
	answer := func(a contract.GatewayAnswer) string {
		if a.Forwards() {
			return "the upstream's response"
		}
		return strconv.Itoa(a.Status) + " " + a.Code
	}
	here := answer(found.GatewayAnswer)
	if found.Forwards() && found.DecidedBy == policy.ExplainDocument {
		here = "the OpenAPI document that the gateway publishes"
	}
	_, err = fmt.Fprintf(t.Out, "\nDecision: %s\nDecided by: %s\nResponse: %s\nExported gateway: %s\n", found.Decision,
		found.DecidedBy, here, answer(found.OnExport))
	return err
}
