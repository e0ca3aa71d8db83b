package projects

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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
	return terminal.Family("rules", "Show and change which scopes, groups and owners the routes of a version require",
		newRulesShow(t), newRulesSet(t), newRulesAdd(t), newRulesRemove(t), newRulesShadow(t),
		newRulesMissed(t))
}

func newRulesShow(t terminal.Terminal) *cobra.Command {
	return onRules(t, &cobra.Command{
		Use:   "show PROJECT VERSION",
		Short: "Show the rules of a version",
		Args:  terminal.Exactly("PROJECT", "VERSION"),
	}, nil)
}

func newRulesSet(t terminal.Terminal) *cobra.Command {
	var file, otherwise, mode string
	var readWrite bool
	command := &cobra.Command{
		Use:   "set PROJECT VERSION",
		Short: "Set what routes without a rule get, the mode, or all rules from a file",
		Example: "  postern rules set shop 1.0.0 --default deny --mode shadow\n" +
			"  postern rules show shop 1.0.0 --json > rules.json && postern rules set shop 2.0.0 --file rules.json",
		Args: terminal.Exactly("PROJECT", "VERSION"),
	}
	flags := command.Flags()
	flags.StringVar(&file, "file", "", "JSON as rules show --json prints it; - for standard input")
	flags.StringVar(&otherwise, "default", "", "what routes without a rule get: allow or deny")
	flags.StringVar(&mode, "mode", "", "off, shadow or enforce, for rules without a mode of their own")
	flags.BoolVar(&readWrite, "read-write-scopes", false, "keys need the scope read for GET, HEAD and OPTIONS, "+
		"write for other methods, where no rule names scopes")
	return onRules(t, command, func(c *cobra.Command, now contract.Rules, _ []string) (contract.Rules, error) {
		if !flags.Changed("file") && !flags.Changed("default") && !flags.Changed("mode") &&
			!flags.Changed("read-write-scopes") {
			return now, terminal.UsageError("nothing to change: give --file, --default, --mode or --read-write-scopes")
		}
		if file != "" {
			in := contract.SavedRules{Rules: now} // what the file leaves out stays
			in.List = nil
			if err := readRules(c, file, &in); err != nil {
				return now, err
			}
			if in.List == nil {
				in.List = now.List
			}
			now = in.Rules // the ETag is of the version that the file was read from
		}
		now.Default = cmp.Or(contract.RuleDefault(otherwise), now.Default)
		now.Mode = cmp.Or(contract.RuleMode(mode), now.Mode)
		if flags.Changed("read-write-scopes") {
			now.ReadWriteScopes = readWrite
		}
		return now, nil
	})
}

// readRules reads rules from a file, or from standard input for "-".
func readRules(c *cobra.Command, file string, in *contract.SavedRules) error {
	text, err := os.ReadFile(file)
	if file == "-" {
		text, err = io.ReadAll(c.InOrStdin())
	}
	if err != nil {
		return fmt.Errorf("read the rules: %w", err)
	}
	if err := decodeFile(text, in); err != nil {
		return fmt.Errorf("read the rules in %s: %w", file, err)
	}
	return nil
}

// decodeFile decodes a JSON file that has one document, of known members alone.
func decodeFile(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("it is not valid: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	return nil
}

func newRulesAdd(t terminal.Terminal) *cobra.Command {
	var one contract.Rule
	command := &cobra.Command{
		Use:   "add PROJECT VERSION METHODS PATH",
		Short: "Add a rule; the most specific path decides",
		Example: "  postern rules add shop 1.0.0 GET '/orders/{id}' --scope orders:read\n" +
			"  postern rules add shop 1.0.0 POST,DELETE /staff --group staff --role admin --mode shadow\n" +
			"  postern rules add shop 1.0.0 '*' '/admin/**' --group staff\n" +
			"  postern rules add shop 1.0.0 POST /orders --remember 'order:{response.id}'\n" +
			"  postern rules add shop 1.0.0 GET,PUT '/orders/{id}' --owner 'order:{id}'",
		Args: terminal.Exactly("PROJECT", "VERSION", "METHODS", "PATH"),
	}
	flags := command.Flags()
	flags.StringSliceVar(&one.Scopes, "scope", nil, "the caller has this scope, repeatable: all of them")
	flags.StringSliceVar(&one.Groups, "group", nil, "the caller is in this group, repeatable: one of them")
	flags.StringVar(&one.Role, "role", "", "admin: as an admin of that group")
	flags.StringVar(&one.Owner, "owner", "", "the caller owns this object, such as order:{id}")
	flags.StringVar(&one.Remember, "remember", "", "after a 2xx answer the caller owns this object, such as "+
		"order:{response.id}")
	flags.StringVar(&one.Forget, "forget", "", "after a 2xx answer the object no longer has an owner")
	flags.StringVar((*string)(&one.Mode), "mode", "", "off, shadow or enforce; default: the mode of the list")
	return onRules(t, command, func(_ *cobra.Command, now contract.Rules, args []string) (contract.Rules, error) {
		one.Methods, one.Path = strings.Split(args[2], ","), args[3]
		now.List = append(now.List, one)
		return now, nil
	})
}

func newRulesRemove(t terminal.Terminal) *cobra.Command {
	return onRules(t, &cobra.Command{
		Use:   "remove PROJECT VERSION RULE",
		Short: "Remove a rule, named by its id",
		Args:  terminal.Exactly("PROJECT", "VERSION", "RULE"),
	}, func(_ *cobra.Command, now contract.Rules, args []string) (contract.Rules, error) {
		left := slices.DeleteFunc(slices.Clone(now.List), func(r contract.Rule) bool { return r.ID == args[2] })
		if len(left) == len(now.List) {
			return now, fmt.Errorf("the version has no rule %s: see postern rules show", args[2])
		}
		now.List = left
		return now, nil
	})
}

// onRules completes a command that shows the rules of a version, after change has changed them; nil
// changes nothing.
func onRules(
	t terminal.Terminal, command *cobra.Command,
	change func(*cobra.Command, contract.Rules, []string) (contract.Rules, error),
) *cobra.Command {
	command.RunE = func(c *cobra.Command, args []string) error {
		return cli.AsProject(t, c, func(api *client.Client) error {
			path := contract.VersionPath{ProjectPath: contract.ProjectPath{Project: args[0]}, Version: args[1]}
			found, err := client.Do(c.Context(), api, contract.GetRules, path)
			if err == nil && change != nil {
				update := contract.RulesUpdate{VersionPath: path, Condition: contract.Condition{IfMatch: found.ETag}}
				if update.Body, err = change(c, found.Rules, args); err == nil {
					found, err = client.Do(c.Context(), api, contract.SetRules, update)
				}
			}
			if err != nil {
				return err
			}
			return printRules(t, c, found)
		})
	}
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

func printRules(t terminal.Terminal, c *cobra.Command, found contract.SavedRules) error {
	if terminal.WantsJSON(c) {
		return terminal.PrintJSON(t.Out, found)
	}
	defer cli.PrintWarnings(t.Out, found.Warnings)
	scopes := "not asked for"
	if found.ReadWriteScopes {
		scopes = "asked of keys where no rule names scopes"
	}
	if _, err := fmt.Fprintf(t.Out, "Routes without a rule: %s\nMode: %s\nScopes read and write: %s\n", found.Default,
		found.Mode, scopes); err != nil {
		return err
	}
	if len(found.List) == 0 {
		_, err := fmt.Fprintln(t.Out, "No rules.")
		return err
	}
	return terminal.Table(t.Out, func(row func(...string)) {
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
	command := cli.OperationCommand(t, cli.AsProject, contract.ListShadowRefusals,
		func(_ contract.VersionPath, found contract.List[contract.ShadowRefusal]) error {
			if len(found.Items) == 0 {
				_, err := fmt.Fprintln(t.Out, "Rules in shadow would have refused no call.")
				return err
			}
			return terminal.Table(t.Out, func(row func(...string)) {
				row("RULE", "WOULD ANSWER", "CALLS", "LAST")
				for _, one := range found.Items {
					row(one.Rule, one.Code, strconv.FormatInt(one.Calls, 10), one.LastAt.Format("2006-01-02 15:04"))
				}
			})
		})
	command.Short = "List the calls of the last 30 days that rules in shadow would have refused"
	return command
}

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
	command.Short = "List the answers of the last 30 days in which rules found no object to remember or forget"
	terminal.AddJSONFlag(command)
	return command
}

func printMissed(t terminal.Terminal, missed []contract.RelationMiss, rules []contract.Rule) error {
	if len(missed) == 0 {
		_, err := fmt.Fprintln(t.Out, "Rules found an object in every answer.")
		return err
	}
	routes := map[string]string{}
	for _, rule := range rules {
		routes[rule.ID] = strings.Join(rule.Methods, ",") + " " + rule.Path
	}
	return terminal.Table(t.Out, func(row func(...string)) {
		row("ROUTE", "RULE", "ANSWERS", "REASON", "LAST")
		for _, one := range missed {
			row(cmp.Or(routes[one.Rule], "removed"), one.Rule, strconv.FormatInt(one.Calls, 10),
				cmp.Or(missReasons[one.Reason], one.Reason), one.LastAt.Format("2006-01-02 15:04"))
		}
	})
}
