package main

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
	"postern/core/contract"
)

// accessCommands returns the commands that say who may call what in a project.
func accessCommands(t terminal) []*cobra.Command {
	return []*cobra.Command{newRules(t), newRelations(t), newExplain(t)}
}

func newRules(t terminal) *cobra.Command {
	return family("rules", "Show and change which scopes, groups and owners the routes of a version require",
		newRulesShow(t), newRulesSet(t), newRulesAdd(t), newRulesRemove(t), newRulesShadow(t),
		newRulesMissed(t))
}

func newRulesShow(t terminal) *cobra.Command {
	return onRules(t, &cobra.Command{
		Use:   "show PROJECT VERSION",
		Short: "Show the rules of a version",
		Args:  exactly("PROJECT", "VERSION"),
	}, nil)
}

func newRulesSet(t terminal) *cobra.Command {
	var file, otherwise, mode string
	var readWrite bool
	command := &cobra.Command{
		Use:   "set PROJECT VERSION",
		Short: "Set what routes without a rule get, the mode, or all rules from a file",
		Example: "  postern rules set shop 1.0.0 --default deny --mode shadow\n" +
			"  postern rules show shop 1.0.0 --json > rules.json && postern rules set shop 2.0.0 --file rules.json",
		Args: exactly("PROJECT", "VERSION"),
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
			return now, usageError("nothing to change: give --file, --default, --mode or --read-write-scopes")
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

func newRulesAdd(t terminal) *cobra.Command {
	var one contract.Rule
	command := &cobra.Command{
		Use:   "add PROJECT VERSION METHODS PATH",
		Short: "Add a rule; the most specific path decides",
		Example: "  postern rules add shop 1.0.0 GET '/orders/{id}' --scope orders:read\n" +
			"  postern rules add shop 1.0.0 POST,DELETE /staff --group staff --role admin --mode shadow\n" +
			"  postern rules add shop 1.0.0 '*' '/admin/**' --group staff\n" +
			"  postern rules add shop 1.0.0 POST /orders --remember 'order:{response.id}'\n" +
			"  postern rules add shop 1.0.0 GET,PUT '/orders/{id}' --owner 'order:{id}'",
		Args: exactly("PROJECT", "VERSION", "METHODS", "PATH"),
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

func newRulesRemove(t terminal) *cobra.Command {
	return onRules(t, &cobra.Command{
		Use:   "remove PROJECT VERSION RULE",
		Short: "Remove a rule, named by its id",
		Args:  exactly("PROJECT", "VERSION", "RULE"),
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
	t terminal, command *cobra.Command, change func(*cobra.Command, contract.Rules, []string) (contract.Rules, error),
) *cobra.Command {
	command.RunE = func(c *cobra.Command, args []string) error {
		return asProject(t, c, func(api *client.Client) error {
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
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func printRules(t terminal, c *cobra.Command, found contract.SavedRules) error {
	if wantsJSON(c) {
		return printJSON(t.out, found)
	}
	defer printWarnings(t.out, found.Warnings)
	scopes := "not asked for"
	if found.ReadWriteScopes {
		scopes = "asked of keys where no rule names scopes"
	}
	if _, err := fmt.Fprintf(t.out, "Routes without a rule: %s\nMode: %s\nScopes read and write: %s\n", found.Default,
		found.Mode, scopes); err != nil {
		return err
	}
	if len(found.List) == 0 {
		_, err := fmt.Fprintln(t.out, "No rules.")
		return err
	}
	return table(t.out, func(row func(...string)) {
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

func newRulesShadow(t terminal) *cobra.Command {
	command := operationCommand(t, asProject, contract.ListShadowRefusals,
		func(_ contract.VersionPath, found contract.List[contract.ShadowRefusal]) error {
			if len(found.Items) == 0 {
				_, err := fmt.Fprintln(t.out, "Rules in shadow would have refused no call.")
				return err
			}
			return table(t.out, func(row func(...string)) {
				row("RULE", "WOULD ANSWER", "CALLS", "LAST")
				for _, one := range found.Items {
					row(one.Rule, one.Code, strconv.FormatInt(one.Calls, 10), one.LastAt.Format("2006-01-02 15:04"))
				}
			})
		})
	command.Short = "List the calls of the last 30 days that rules in shadow would have refused"
	return command
}
