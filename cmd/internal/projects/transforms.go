package projects

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newTransforms(t terminal.Terminal) *cobra.Command {
	return terminal.Family("transforms", "Show and change how a version changes requests and responses",
		newTransformsShow(t), newTransformsSet(t), newTransformsAdd(t), newTransformsRemove(t))
}

func newTransformsShow(t terminal.Terminal) *cobra.Command {
	return onTransforms(t, &cobra.Command{
		Use:   "show PROJECT VERSION",
		Short: "Show the changes to headers, queries and bodies",
		Args:  terminal.Exactly("PROJECT", "VERSION"),
	}, nil)
}

func newTransformsSet(t terminal.Terminal) *cobra.Command {
	var file string
	command := &cobra.Command{
		Use:   "set PROJECT VERSION --file FILE",
		Short: "Replace the changes with those of a file",
		Example: "  postern transforms show shop 1.0.0 --json > transforms.json\n" +
			"  postern transforms set shop 2.0.0 --file transforms.json",
		Args: terminal.Exactly("PROJECT", "VERSION"),
	}
	command.Flags().StringVar(&file, "file", "", "JSON as transforms show --json prints it; - for standard input")
	return onTransforms(t, command, func(c *cobra.Command, now *contract.Transforms, _ []string) error {
		if file == "" {
			return terminal.UsageError("nothing to change: give --file, or use transforms add")
		}
		text, err := os.ReadFile(file)
		if file == "-" {
			text, err = io.ReadAll(c.InOrStdin())
		}
		if err != nil {
			return fmt.Errorf("read the transforms: %w", err)
		}
		var in contract.SavedTransforms // its ETag is of the version that the file was read from
		if err := decodeFile(text, &in); err != nil {
			return fmt.Errorf("read the transforms in %s: %w", file, err)
		}
		*now = in.Transforms
		return nil
	})
}

const changeArguments = "PROJECT VERSION WHAT remove|rename|replace|add|append NAME"

const changeSubjects = "WHAT is request or response for a header, query, request-body or response-body.\n" +
	"Bodies are JSON objects, of requests also forms; NAME is a member of theirs."

// changePlaces are the places of transforms, as commands name them.
var changePlaces = []string{"request", "query", "request-body", "response", "response-body"}

func newTransformsAdd(t terminal.Terminal) *cobra.Command {
	var kind string
	command := &cobra.Command{
		Use:   "add " + changeArguments + "[:VALUE]",
		Short: "Add a change to those that are there",
		Long:  "Add a change to those that are there.\n\n" + changeSubjects,
		Example: "  postern transforms add shop 1.0.0 request add 'X-Source: postern'\n" +
			"  postern transforms add shop 1.0.0 request rename X-Old:X-New\n" +
			"  postern transforms add shop 1.0.0 query add page:1\n" +
			"  postern transforms add shop 1.0.0 request-body add source:shop\n" +
			"  postern transforms add shop 1.0.0 response-body add version:2 --type number\n" +
			"  postern transforms add shop 1.0.0 response remove X-Powered-By",
		Args: terminal.Exactly("PROJECT", "VERSION", "WHAT", "OPERATION", "NAME"),
	}
	command.Flags().StringVar(&kind, "type", "string", "of a value in response-body: string, number or boolean")
	return onTransforms(t, command, func(_ *cobra.Command, now *contract.Transforms, args []string) error {
		list, types, err := changesIn(now, args[2], args[3])
		if err != nil {
			return err
		}
		if kind != "string" && args[2] != "response-body" {
			return terminal.UsageError("--type is for response-body: values elsewhere are strings")
		}
		if kind != "string" || len(*types) > 0 {
			for len(*types) < len(*list) {
				*types = append(*types, "string")
			}
			*types = append(*types, kind)
		}
		*list = append(*list, args[4])
		return nil
	})
}

func newTransformsRemove(t terminal.Terminal) *cobra.Command {
	return onTransforms(t, &cobra.Command{
		Use:   "remove " + changeArguments,
		Short: "Remove the changes to a name from an operation",
		Args:  terminal.Exactly("PROJECT", "VERSION", "WHAT", "OPERATION", "NAME"),
	}, func(_ *cobra.Command, now *contract.Transforms, args []string) error {
		list, types, err := changesIn(now, args[2], args[3])
		if err != nil {
			return err
		}
		inHeader := args[2] == "request" || args[2] == "response"
		var left, leftTypes []string
		for i, entry := range *list {
			name, _, _ := strings.Cut(entry, ":")
			if name == args[4] || inHeader && strings.EqualFold(name, args[4]) {
				continue
			}
			left = append(left, entry)
			if i < len(*types) {
				leftTypes = append(leftTypes, (*types)[i])
			}
		}
		if len(left) == len(*list) {
			return fmt.Errorf("the version does not %s %s in a %s: see postern transforms show", args[3],
				args[4], args[2])
		}
		*list, *types = left, leftTypes
		return nil
	})
}

// changesIn returns the entries of an operation on what, and the types of their values.
func changesIn(now *contract.Transforms, what, operation string) (entries, types *[]string, err error) {
	if !slices.Contains(changePlaces, what) {
		return nil, nil,
			terminal.UsageError("WHAT is request, query, response, request-body or response-body, not " + what)
	}
	in, out, none := &now.Request, &now.Response, new([]string)
	if request := map[string]*contract.RequestChange{
		"remove": &in.Remove, "rename": &in.Rename, "replace": &in.Replace, "add": &in.Add, "append": &in.Append,
	}[operation]; request == nil {
		return nil, nil, terminal.UsageError("OPERATION is remove, rename, replace, add or append, not " + operation)
	} else if list := map[string]*[]string{
		"request": &request.Headers, "query": &request.Query, "request-body": &request.Body,
	}[what]; list != nil {
		return list, none, nil
	}
	var headers, body *[]string
	types = none
	if names := map[string]*contract.ResponseNames{
		"remove": &out.Remove, "rename": &out.Rename,
	}[operation]; names != nil {
		headers, body = &names.Headers, &names.Body
	} else {
		values := map[string]*contract.ResponseValues{
			"replace": &out.Replace, "add": &out.Add, "append": &out.Append,
		}[operation]
		headers, body, types = &values.Headers, &values.Body, &values.BodyTypes
	}
	if what == "response" {
		return headers, none, nil
	}
	return body, types, nil
}

// onTransforms completes a command that shows the transforms of a version, after change has changed
// them; nil changes nothing.
func onTransforms(
	t terminal.Terminal, command *cobra.Command, change func(*cobra.Command, *contract.Transforms, []string) error,
) *cobra.Command {
	command.RunE = func(c *cobra.Command, args []string) error {
		return cli.AsProject(t, c, func(api *client.Client) error {
			path := contract.VersionPath{ProjectPath: contract.ProjectPath{Project: args[0]}, Version: args[1]}
			now, err := client.Do(c.Context(), api, contract.GetTransforms, path)
			if err == nil && change != nil {
				if err = change(c, &now.Transforms, args); err == nil {
					now, err = client.Do(c.Context(), api, contract.SetTransforms, contract.TransformsUpdate{
						VersionPath: path, Condition: contract.Condition{IfMatch: now.ETag}, Body: now.Transforms,
					})
				}
			}
			if err != nil {
				return err
			}
			return printTransforms(t, c, now)
		})
	}
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

func printTransforms(t terminal.Terminal, c *cobra.Command, found contract.SavedTransforms) error {
	if terminal.WantsJSON(c) {
		return terminal.PrintJSON(t.Out, found)
	}
	var rows [][]string
	for _, what := range changePlaces {
		for _, operation := range []string{"remove", "rename", "replace", "add", "append"} {
			list, types, err := changesIn(&found.Transforms, what, operation)
			if err != nil {
				return err
			}
			for i, entry := range *list {
				name, value, _ := strings.Cut(entry, ":")
				if i < len(*types) && (*types)[i] != "string" {
					value += " (" + (*types)[i] + ")"
				}
				rows = append(rows, []string{what, operation, name, value})
			}
		}
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(t.Out, "Nothing is changed.")
		return err
	}
	return terminal.Table(t.Out, func(row func(...string)) {
		row("WHAT", "OPERATION", "NAME", "VALUE")
		for _, one := range rows {
			row(one...)
		}
	})
}
