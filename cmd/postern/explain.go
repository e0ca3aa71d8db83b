package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/policy"
)

func newExplain(t terminal) *cobra.Command {
	var q client.Question
	command := &cobra.Command{
		Use:   "explain PROJECT METHOD PATH",
		Short: "Explain what the gateway answers to a call, step by step, and what the exported one would",
		Example: "  postern explain shop GET /orders/42 --key key_…\n" +
			"  postern explain shop DELETE /staff --version 1.0.0 --user usr_… --scopes 'openid orders:write'",
		Args: exactly("PROJECT", "METHOD", "PATH"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			q.Method, q.Path = args[1], args[2]
			found, err := onProject(c.Context(), s, args[0],
				func(ctx context.Context, api caller) (client.Explanation, error) {
					return api.Explain(ctx, args[0], q)
				})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, found)
			}
			return printExplanation(t, found)
		},
	}
	flags := command.Flags()
	flags.StringVar(&q.Version, "version", "", "version; without it the only one")
	flags.StringVar(&q.Environment, "env", "", "environment; without it the only one, or prod")
	flags.StringVar(&q.Key, "key", "", "id of the API key that the call has")
	flags.StringVar(&q.User, "user", "", "id of the end user whose token the call has")
	flags.StringVar(&q.Scopes, "scopes", "", "scopes of that token, separated by blanks")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func printExplanation(t terminal, found client.Explanation) error {
	err := details(t.out, func(row func(...string)) {
		row("STEP", "OUTCOME", "DETAIL")
		for _, step := range found.Steps {
			row(step.Step, step.Outcome, step.Detail)
		}
	})
	if err != nil {
		return err
	}
	answer := func(status int, code string) string {
		if code == "" {
			return "the upstream's answer"
		}
		return strconv.Itoa(status) + " " + code
	}
	here := answer(found.Status, found.Code)
	if found.Code == "" && found.DecidedBy == policy.ExplainDocument {
		here = "the OpenAPI document, which the gateway publishes"
	}
	_, err = fmt.Fprintf(t.out, "\nDecision: %s, by %s\nAnswer: %s\nExported gateway: %s\n", found.Decision,
		found.DecidedBy, here, answer(found.OnExport.Status, found.OnExport.Code))
	return err
}
