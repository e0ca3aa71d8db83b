package main

import (
	"cmp"
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

func newRulesMissed(t terminal) *cobra.Command {
	var in contract.VersionPath
	command := requestCommand(t, asProject, contract.ListRelationMisses.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			found, err := client.Do(c.Context(), api, contract.ListRelationMisses, in)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, found)
			}
			rules, err := client.Do(c.Context(), api, contract.GetRules, in)
			if err != nil {
				return err
			}
			return printMissed(t, found.Items, rules.List)
		})
	command.Short = "List the answers of the last 30 days in which rules found no object to remember or forget"
	addJSONFlag(command)
	return command
}

func printMissed(t terminal, missed []contract.RelationMiss, rules []contract.Rule) error {
	if len(missed) == 0 {
		_, err := fmt.Fprintln(t.out, "Rules found an object in every answer.")
		return err
	}
	routes := map[string]string{}
	for _, rule := range rules {
		routes[rule.ID] = strings.Join(rule.Methods, ",") + " " + rule.Path
	}
	return table(t.out, func(row func(...string)) {
		row("ROUTE", "RULE", "ANSWERS", "REASON", "LAST")
		for _, one := range missed {
			row(cmp.Or(routes[one.Rule], "removed"), one.Rule, strconv.FormatInt(one.Calls, 10),
				cmp.Or(missReasons[one.Reason], one.Reason), one.LastAt.Format("2006-01-02 15:04"))
		}
	})
}
