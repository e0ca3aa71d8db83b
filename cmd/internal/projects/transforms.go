package projects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newTransforms(t terminal.Terminal) *cobra.Command {
	return terminal.Family("transforms", "Manage changes to requests and responses",
		newTransformsShow(t), newTransformsSet(t), newTransformsAdd(t), newTransformsRemove(t))
}

func newTransformsShow(t terminal.Terminal) *cobra.Command {
	return cli.OperationCommand(t, cli.AsProject, contract.GetTransforms,
		func(_ contract.VersionPath, found contract.SavedTransforms) error { return printTransforms(t, found) })
}

func newTransformsSet(t terminal.Terminal) *cobra.Command {
	var file string
	command := &cobra.Command{
		Use:   "set PROJECT VERSION --file FILE",
		Short: "Replace the transforms with the contents of a file",
		Example: "  postern transforms show shop 1.0.0 --json > transforms.json\n" +
			"  postern transforms set shop 2.0.0 --file transforms.json",
	}
	command.Flags().StringVar(&file, "file", "", "JSON file as printed by transforms show --json, or - for standard "+
		"input. Fields that the file omits don't change")
	command.PreRunE = func(*cobra.Command, []string) error {
		if file == "" {
			return terminal.UsageError("nothing to change: use --file FILE, or run `postern transforms add`")
		}
		return nil
	}
	return onTransforms(t, command, func(now *contract.Transforms, _ []string) error {
		in := contract.SavedTransforms{Transforms: *now}
		if err := terminal.ReadJSON(command.InOrStdin(), "file", file, &in); err != nil {
			return err
		}
		*now = in.Transforms // the ETag is of the version that the file was read from
		return nil
	}, "PROJECT", "VERSION")
}

const changeArguments = "PROJECT VERSION WHAT OPERATION NAME"

// changeNames are the names of these arguments.
var changeNames = []string{"PROJECT", "VERSION", "WHAT", "OPERATION", "NAME"}

// describeChange describes the arguments of a command about one transform.
func describeChange(command *cobra.Command, name string) *cobra.Command {
	return terminal.Described(command,
		[2]string{"WHAT", "request or response for a header, query for a query parameter, or request-body or " +
			"response-body for a member of a JSON object. request-body also changes form fields"},
		[2]string{"OPERATION", "remove, rename, replace, add or append"},
		[2]string{"NAME", name})
}

// changePlaces are the places of transforms, as commands name them.
var changePlaces = []string{"request", "query", "request-body", "response", "response-body"}

func newTransformsAdd(t terminal.Terminal) *cobra.Command {
	var kind string
	command := &cobra.Command{
		Use:   "add " + changeArguments + "[:VALUE]",
		Short: "Add a transform",
		Example: "  postern transforms add shop 1.0.0 request add 'X-Source: postern'\n" +
			"  postern transforms add shop 1.0.0 request rename X-Old:X-New\n" +
			"  postern transforms add shop 1.0.0 query add page:1\n" +
			"  postern transforms add shop 1.0.0 request-body add source:shop\n" +
			"  postern transforms add shop 1.0.0 response-body add version:2 --type number\n" +
			"  postern transforms add shop 1.0.0 response remove X-Powered-By",
	}
	terminal.NamePointer(command, "/*/*/*", "NAME")
	terminal.NamePointer(command, "/*/*/body_types", "--type")
	command.Flags().StringVar(&kind, "type", "string", "type of VALUE for response-body: string, number or boolean")
	return describeChange(onTransforms(t, command, func(now *contract.Transforms, args []string) error {
		list, types, err := changesIn(now, args[2], args[3])
		if err != nil {
			return err
		}
		if kind != "string" && args[2] != "response-body" {
			return terminal.UsageError("--type requires response-body: all other values are strings")
		}
		if kind != "string" || len(*types) > 0 {
			for len(*types) < len(*list) {
				*types = append(*types, "string")
			}
			*types = append(*types, kind)
		}
		*list = append(*list, args[4])
		return nil
	}, changeNames...), "name of the header, parameter or member. The value follows a colon. For rename, use old:new")
}

func newTransformsRemove(t terminal.Terminal) *cobra.Command {
	return describeChange(onTransforms(t, &cobra.Command{
		Use:   "remove " + changeArguments,
		Short: "Remove a transform",
		Long:  "Remove the transforms that apply OPERATION, such as add, to NAME.",
		Example: "  postern transforms remove shop 1.0.0 request add X-Source\n" +
			"  postern transforms remove shop 1.0.0 response-body add version",
	}, func(now *contract.Transforms, args []string) error {
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
			return fmt.Errorf("the version has no %s transform with the operation %s and the name %s: run "+
				"`postern transforms show` to see its transforms", args[2], args[3], args[4])
		}
		*list, *types = left, leftTypes
		return nil
	}, changeNames...), "name of the header, query parameter or member")
}

// changesIn returns the entries of an operation on what, and the types of their values.
func changesIn(now *contract.Transforms, what, operation string) (entries, types *[]string, err error) {
	if !slices.Contains(changePlaces, what) {
		return nil, nil,
			terminal.UsageError("WHAT must be request, query, response, request-body or response-body, not " + what)
	}
	in, out, none := &now.Request, &now.Response, new([]string)
	if request := map[string]*contract.RequestChange{
		"remove": &in.Remove, "rename": &in.Rename, "replace": &in.Replace, "add": &in.Add, "append": &in.Append,
	}[operation]; request == nil {
		return nil, nil, terminal.UsageError(
			"OPERATION must be remove, rename, replace, add or append, not " + operation)
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

// onTransforms completes a command that changes the transforms of a version. names are those of its arguments.
func onTransforms(
	t terminal.Terminal, command *cobra.Command, change func(now *contract.Transforms, args []string) error,
	names ...string,
) *cobra.Command {
	edit := func(
		path contract.VersionPath, now contract.SavedTransforms, args []string,
	) (*contract.TransformsUpdate, error) {
		err := change(&now.Transforms, args)
		return &contract.TransformsUpdate{
			VersionPath: path, Condition: contract.Condition{IfMatch: now.ETag}, Body: now.Transforms,
		}, err
	}
	return cli.EditCommand(t, command, cli.VersionOf, contract.GetTransforms, edit, contract.SetTransforms,
		func(saved contract.SavedTransforms) error { return printTransforms(t, saved) }, names...)
}

func printTransforms(t terminal.Terminal, found contract.SavedTransforms) error {
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
		_, err := fmt.Fprintln(t.Out, "No transforms.")
		return err
	}
	return terminal.Table(t.Out, func(row func(...string)) {
		row("WHAT", "OPERATION", "NAME", "VALUE")
		for _, one := range rows {
			row(one...)
		}
	})
}
