package projects

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// Access returns the commands that say who may call what in a project.
func Access(t terminal.Terminal) []*cobra.Command {
	return []*cobra.Command{newRules(t), newRelations(t), newExplain(t)}
}

func newRules(t terminal.Terminal) *cobra.Command {
	return terminal.Family("rules", "Manage the scopes, groups and owners that routes require",
		newRulesShow(t), newRulesSet(t), newRulesAdd(t), newRulesRemove(t), newRulesShadow(t),
		newRulesMissed(t))
}

func newRulesShow(t terminal.Terminal) *cobra.Command {
	return cli.OperationCommand(t, cli.AsProject, contract.GetRules,
		func(_ contract.VersionPath, found contract.SavedRules) error { return printRules(t, found) })
}

func newRulesSet(t terminal.Terminal) *cobra.Command {
	var file string
	command := &cobra.Command{
		Use:   "set PROJECT VERSION",
		Short: "Change the default or the mode, or replace all rules with those in a file",
		Example: "  postern rules set shop 1.0.0 --default deny --mode shadow\n" +
			"  postern rules show shop 1.0.0 --json > rules.json && postern rules set shop 2.0.0 --file rules.json",
	}
	command.Flags().StringVar(&file, "file", "", "JSON file as printed by rules show --json, or - for standard input. "+
		"Fields that the file omits don't change")
	flags, replace := cli.ValueFlags[contract.Rules](t, command)
	command.PreRunE = func(*cobra.Command, []string) error {
		if file == "" && !replace(&contract.Rules{}) {
			return cli.NothingToChange(append([]string{"--file"}, flags...)...)
		}
		return nil
	}
	return onRules(t, command, func(now contract.Rules, _ []string) (contract.Rules, error) {
		if file != "" {
			in := contract.SavedRules{Rules: now}
			if err := terminal.ReadJSON(command.InOrStdin(), "file", file, &in); err != nil {
				return now, err
			}
			now = in.Rules // the ETag is of the version that the file was read from
		}
		replace(&now)
		return now, nil
	}, "PROJECT", "VERSION")
}

func newRulesAdd(t terminal.Terminal) *cobra.Command {
	var one contract.Rule
	command := &cobra.Command{
		Use:   "add PROJECT VERSION METHODS PATH",
		Short: "Add a rule",
		Long: "Add a rule to a version. If several rules match a call, the rule with the most\n" +
			"specific path applies.",
		Example: "  postern rules add shop 1.0.0 GET '/orders/{id}' --scope orders:read\n" +
			"  postern rules add shop 1.0.0 POST,DELETE /staff --group staff --role admin --mode shadow\n" +
			"  postern rules add shop 1.0.0 '*' '/admin/**' --group staff\n" +
			"  postern rules add shop 1.0.0 POST /orders --remember 'order:{response.id}'\n" +
			"  postern rules add shop 1.0.0 GET,PUT '/orders/{id}' --owner 'order:{id}'",
	}
	read := cli.MemberFlags(t, command, &one)
	cli.NameMembers(command, &one, "/rules/*")
	terminal.NamePointer(command, "/rules/*/methods", "METHODS")
	terminal.NamePointer(command, "/rules/*/path", "PATH")
	return terminal.Described(onRules(t, command, func(now contract.Rules, args []string) (contract.Rules, error) {
		if _, err := read(); err != nil {
			return now, err
		}
		one.Methods, one.Path = strings.Split(args[2], ","), args[3]
		now.List = append(now.List, one)
		return now, nil
	}, "PROJECT", "VERSION", "METHODS", "PATH"),
		[2]string{"METHODS", "HTTP methods, separated by commas. GET includes HEAD, and * means all"},
		[2]string{"PATH", "path under the environment's URL. A name in braces matches a segment or part of one. ** " +
			"at the end matches the path before it and everything under it"})
}

func newRulesRemove(t terminal.Terminal) *cobra.Command {
	return terminal.Described(onRules(t, &cobra.Command{
		Use:     "remove PROJECT VERSION RULE",
		Short:   "Remove a rule",
		Example: "  postern rules remove shop 1.0.0 rul_…",
	}, func(now contract.Rules, args []string) (contract.Rules, error) {
		left := slices.DeleteFunc(slices.Clone(now.List), func(r contract.Rule) bool { return r.ID == args[2] })
		if len(left) == len(now.List) {
			return now, fmt.Errorf("the version has no rule %s: run `postern rules show` to see its rules", args[2])
		}
		now.List = left
		return now, nil
	}, "PROJECT", "VERSION", "RULE"), [2]string{"RULE", "ID of the rule"})
}

// onRules completes a command that changes the rules of a version. names are those of its arguments.
func onRules(
	t terminal.Terminal, command *cobra.Command, change func(now contract.Rules, args []string) (contract.Rules, error),
	names ...string,
) *cobra.Command {
	edit := func(path contract.VersionPath, now contract.SavedRules, args []string) (*contract.RulesUpdate, error) {
		rules, err := change(now.Rules, args)
		return &contract.RulesUpdate{
			VersionPath: path, Condition: contract.Condition{IfMatch: now.ETag}, Body: rules,
		}, err
	}
	return cli.EditCommand(t, command, cli.VersionOf, contract.GetRules, edit, contract.SetRules,
		func(saved contract.SavedRules) error { return printRules(t, saved) }, names...)
}

func printRules(t terminal.Terminal, found contract.SavedRules) error {
	defer cli.PrintWarnings(t.Out, found.Warnings)
	scopes := "not required"
	if found.ReadWriteScopes {
		scopes = "required for keys if no rule with scopes applies"
	}
	if _, err := fmt.Fprintf(t.Out, "Routes without a rule: %s\nMode: %s\nScopes read and write: %s\n", found.Default,
		found.Mode, scopes); err != nil {
		return err
	}
	if len(found.List) == 0 {
		_, err := fmt.Fprintln(t.Out, "No rules.")
		return err
	}
	return terminal.WholeTable(t.Out, func(row func(...string)) {
		row("RULE", "METHODS", "PATH", "SCOPES", "GROUPS", "OBJECTS", "MODE")
		for _, one := range found.List {
			groups := strings.Join(one.Groups, ",")
			if one.Role != "" {
				groups += " (" + one.Role + ")"
			}
			row(one.ID, strings.Join(one.Methods, ","), one.Path, strings.Join(one.Scopes, ","), groups,
				objectsOf(one), string(cmp.Or(one.Mode, found.Mode)))
		}
	})
}

// objectsOf says what a rule does with owners of objects.
func objectsOf(one contract.Rule) string {
	var out []string
	for _, object := range []struct{ name, text string }{
		{"owner", one.Owner}, {"remember", one.Remember}, {"forget", one.Forget},
	} {
		if object.text != "" {
			out = append(out, object.name+"="+object.text)
		}
	}
	return strings.Join(out, " ")
}

func newRulesShadow(t terminal.Terminal) *cobra.Command {
	return cli.OperationCommand(t, cli.AsProject, contract.ListShadowRefusals,
		func(_ contract.VersionPath, found contract.List[contract.ShadowRefusal]) error {
			if len(found.Items) == 0 {
				_, err := fmt.Fprintln(t.Out, "Shadow rules wouldn't have refused any calls.")
				return err
			}
			return terminal.Table(t.Out, func(row func(...string)) {
				row("RULE", "REFUSAL", "CALLS", "LAST")
				for _, one := range found.Items {
					row(one.Rule, one.Code, strconv.FormatInt(one.Calls, 10), one.LastAt.Format("2006-01-02 15:04"))
				}
			})
		})
}

// missReasons say what an answer had, by the reason of the API.
var missReasons = map[string]string{
	"not_json":      "not JSON",
	"encoded":       "compression other than gzip",
	"too_large":     "over 1 MB",
	"no_body":       "no body",
	"incomplete":    "an incomplete body",
	"no_value":      "no value where the rule looks for one",
	"unusable":      "not a string or an integer, or too long",
	"too_many_wait": "too many responses were waiting for the database",
}

func newRulesMissed(t terminal.Terminal) *cobra.Command {
	var in contract.VersionPath
	command := cli.RequestCommand(t, cli.AsProject, contract.ListRelationMisses.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			found, err := client.Do(c.Context(), api, contract.ListRelationMisses, in)
			if err != nil {
				return err
			}
			if terminal.WantsJSON(c) {
				return terminal.PrintJSON(t.Out, found)
			}
			rules, err := client.Do(c.Context(), api, contract.GetRules, in)
			if err != nil {
				return err
			}
			return printMissed(t, found.Items, rules.List)
		})
	terminal.AddJSONFlag(command)
	return command
}

func printMissed(t terminal.Terminal, missed []contract.RelationMiss, rules []contract.Rule) error {
	if len(missed) == 0 {
		_, err := fmt.Fprintln(t.Out, "Rules found an object in every response.")
		return err
	}
	routes := map[string]string{}
	for _, rule := range rules {
		routes[rule.ID] = strings.Join(rule.Methods, ",") + " " + rule.Path
	}
	return terminal.Table(t.Out, func(row func(...string)) {
		row("ROUTE", "RULE", "RESPONSES", "REASON", "LAST")
		for _, one := range missed {
			row(cmp.Or(routes[one.Rule], "removed"), one.Rule, strconv.FormatInt(one.Calls, 10),
				cmp.Or(missReasons[one.Reason], one.Reason), one.LastAt.Format("2006-01-02 15:04"))
		}
	})
}
