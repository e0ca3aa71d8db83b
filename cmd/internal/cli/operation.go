// Package cli makes commands of the operations of the API. It owns their arguments and flags, which it derives from
// package contract, the server and the credential that a request is sent with, and what several commands print. It
// leaves requests to package client, and each noun's own output to the packages of the commands.
package cli

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// OperationCommand returns the command of an operation of the contract: its arguments and flags are the members
// of the request. show prints the answer, unless it is printed as JSON.
func OperationCommand[In, Out any](
	t terminal.Terminal, as As, op contract.Op[In, Out], show func(in In, out Out) error,
) *cobra.Command {
	var in In
	var none Out
	_, silent := any(none).(contract.None)
	command := RequestCommand(t, as, op.Operation, &in, func(c *cobra.Command, api *client.Client) error {
		out, err := client.Do(c.Context(), api, op, in)
		if err != nil {
			return err
		}
		if !silent && terminal.WantsJSON(c) {
			return terminal.PrintJSON(t.Out, out)
		}
		return show(in, out)
	})
	if !silent {
		terminal.AddJSONFlag(command)
	}
	return command
}

// Short gives a command another summary than that of its operation.
func Short(summary string, c *cobra.Command) *cobra.Command {
	c.Short = summary
	return c
}

// FactsCommand is OperationCommand for an answer that is printed as names and values.
func FactsCommand[In, Out any](
	t terminal.Terminal, as As, op contract.Op[In, Out], facts func(Out) [][2]string,
) *cobra.Command {
	return OperationCommand(t, as, op, func(_ In, out Out) error { return PrintFacts(t, facts(out)) })
}

// PrintFacts prints names and values.
func PrintFacts(t terminal.Terminal, facts [][2]string) error {
	return terminal.Details(t.Out, func(row func(...string)) {
		for _, fact := range facts {
			row(fact[0], fact[1])
		}
	})
}

// DoneCommand returns the command of an operation without an answer. Its message names the last argument.
func DoneCommand[In any](t terminal.Terminal, as As, op contract.Op[In, contract.None], said string) *cobra.Command {
	var in In
	return RequestCommand(t, as, op.Operation, &in, func(c *cobra.Command, api *client.Client) error {
		if _, err := client.Do(c.Context(), api, op, in); err != nil {
			return err
		}
		_, err := fmt.Fprintf(t.Out, said+"\n", terminal.Printable(c.Flags().Arg(c.Flags().NArg()-1)))
		return err
	})
}

// ListCommand is OperationCommand for a list, all of which is printed: the row of each item below the headings.
func ListCommand[In, Item any](
	t terminal.Terminal, as As, op contract.Op[In, contract.List[Item]], headings []string, cells func(Item) []string,
) *cobra.Command {
	var in In
	command := RequestCommand(t, as, op.Operation, &in, func(c *cobra.Command, api *client.Client) error {
		items, err := Collect(client.Each(c.Context(), api, op, in))
		if err != nil {
			return err
		}
		if terminal.WantsJSON(c) {
			return terminal.PrintJSONList(t.Out, items)
		}
		return terminal.Table(t.Out, func(row func(...string)) {
			row(headings...)
			for _, item := range items {
				row(cells(item)...)
			}
		})
	})
	terminal.AddJSONFlag(command)
	return command
}

// RequestCommand returns a command that fills in the request of an operation and runs with one of the credentials.
func RequestCommand[In any](
	t terminal.Terminal, as As, op contract.Operation, in *In, run func(c *cobra.Command, api *client.Client) error,
) *cobra.Command {
	words, arguments := op.Words()
	into, members := reflect.ValueOf(in).Elem(), contract.MembersOf(reflect.TypeFor[In]())
	if body := into.FieldByName("Body"); body.IsValid() && body.Kind() == reflect.Pointer {
		body.Set(reflect.New(body.Type().Elem())) // for its flags
	}
	command := &cobra.Command{
		Use:   strings.Join(append(words[len(words)-1:], arguments...), " "),
		Short: op.Summary,
		Args:  terminal.Exactly(arguments...),
	}
	if op.Example != "" {
		command.Example = "  postern " + op.Example
	}
	given := map[string]reflect.Value{}
	var flags, required []string
	for _, m := range members {
		if slices.Contains(arguments, m.Argument()) {
			given[m.Argument()] = into.FieldByIndex(m.Index)
		} else if m.Flag != "" {
			if m.Form == fileForm {
				command.Flags().Var(&secretFlag{t, into.FieldByIndex(m.Index)}, m.Flag, usageOf(m))
			} else {
				addMemberFlag(command, m, into.FieldByIndex(m.Index))
			}
			flags = append(flags, "--"+m.Flag)
			if m.Required {
				required = append(required, m.Flag)
				command.Use += " --" + m.Flag + " " + m.Argument()
			}
		}
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		for i, name := range arguments {
			given[name].SetString(args[i])
		}
		if op.Method == http.MethodPatch && !changesSomething(into) {
			return terminal.UsageError("nothing to change: give " + english.WordSeries(flags, "or"))
		}
		for _, name := range required {
			if flag := c.Flag(name); !flag.Changed {
				return terminal.UsageError("--" + name + " is missing: " + flag.Usage)
			}
		}
		return as(t, c, func(api *client.Client) error { return run(c, api) })
	}
	AddServerFlag(command)
	return command
}

// changesSomething reports whether a request to change something has a member to change.
func changesSomething(request reflect.Value) bool {
	body := request.FieldByName("Body")
	return body.Kind() == reflect.Struct && !body.IsZero()
}

// FilledCommand is OperationCommand for a request with members that have no flags of their own: fill sets them from
// other flags, before the request is checked and sent.
func FilledCommand[In, Out any](
	t terminal.Terminal, as As, op contract.Op[In, Out], in *In, fill func() error, show func(Out) error,
) *cobra.Command {
	command := RequestCommand(t, as, op.Operation, in, func(c *cobra.Command, api *client.Client) error {
		out, err := client.Do(c.Context(), api, op, *in)
		if err != nil {
			return err
		}
		if terminal.WantsJSON(c) {
			return terminal.PrintJSON(t.Out, out)
		}
		return show(out)
	})
	send := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		if err := fill(); err != nil {
			return err
		}
		return send(c, args)
	}
	terminal.AddJSONFlag(command)
	return command
}

// Collect returns the values of a sequence up to its first error.
func Collect[T any](items func(func(T, error) bool)) ([]T, error) {
	var list []T
	for item, err := range items {
		if err != nil {
			return list, err
		}
		list = append(list, item)
	}
	return list, nil
}
