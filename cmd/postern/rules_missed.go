package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

// missReasons say what an answer had, by the reason of the API.
var missReasons = map[string]string{
	"not_json":      "no JSON",
	"encoded":       "compressed otherwise than by gzip",
	"too_large":     "over 1 MB",
	"no_body":       "no body",
	"incomplete":    "broken off",
	"no_value":      "nothing at the place that the rule names",
	"unusable":      "no text and no whole number at the place, or a long one",
	"too_many_wait": "too many waited for the database",
}

// missedRule is a rule with what was missed of its answers.
type missedRule struct {
	client.RelationMiss

	Route string `json:"route,omitempty"` // "": the rule was removed
}

func newRulesMissed(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "missed PROJECT VERSION",
		Short: "List the answers of the last 30 days in which rules found no object to remember or forget",
		Args:  exactly("PROJECT", "VERSION"),
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		s, err := openSession(t, c)
		if err != nil {
			return err
		}
		found, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) ([]missedRule, error) {
			return missedRules(ctx, api, args[0], args[1])
		})
		if err != nil {
			return err
		}
		if wantsJSON(c) {
			return printJSON(t.out, found)
		}
		if len(found) == 0 {
			_, err := fmt.Fprintln(t.out, "Rules found an object in every answer.")
			return err
		}
		return table(t.out, func(row func(...string)) {
			row("ROUTE", "RULE", "ANSWERS", "REASON", "LAST")
			for _, one := range found {
				row(cmp.Or(one.Route, "removed"), one.Rule, strconv.FormatInt(one.Calls, 10),
					cmp.Or(missReasons[one.Reason], one.Reason), one.LastAt.Format("2006-01-02 15:04"))
			}
		})
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func missedRules(ctx context.Context, api caller, project, version string) ([]missedRule, error) {
	missed, err := api.RelationMisses(ctx, project, version)
	if err != nil {
		return nil, err
	}
	rules, err := client.Do(ctx, api.Client, contract.GetRules, contract.VersionPath{
		ProjectPath: contract.ProjectPath{Project: project}, Version: version,
	})
	if err != nil {
		return nil, err
	}
	routes := map[string]string{}
	for _, rule := range rules.List {
		routes[rule.ID] = strings.Join(rule.Methods, ",") + " " + rule.Path
	}
	out := []missedRule{}
	for _, one := range missed {
		out = append(out, missedRule{one, routes[one.Rule]})
	}
	return out, nil
}
