// Package cli makes commands of the operations of the API. It owns their arguments and flags, which it derives from
// package contract, the server and the credential that a request is sent with, and what several commands print. It
// leaves requests to package client, and each noun's own output to the packages of the commands.
package cli

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"postern/client"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// OperationCommand returns the command of an operation of the contract: its arguments and flags are the members
// of the request. show prints the answer, unless it is printed as JSON.
func OperationCommand[In, Out any](
	t terminal.Terminal, as As, op *contract.Op[In, Out], show func(in In, out Out) error,
) *cobra.Command {
	in, out := new(In), new(Out)
	return answerCommand(t, as, op.Operation, in, out, func(c *cobra.Command, api *client.Client) (err error) {
		*out, err = client.Do(c.Context(), api, op, *in)
		return err
	}, func() error { return show(*in, *out) })
}

// answerCommand is RequestCommand for a request whose answer is kept in out and then printed as JSON or shown. It
// isn't generic, because that would be compiled for each operation.
func answerCommand(
	t terminal.Terminal, as As, op contract.Operation, in, out any,
	send func(*cobra.Command, *client.Client) error, show func() error,
) *cobra.Command {
	_, silent := out.(*contract.None)
	command := RequestCommand(t, as, op, in, func(c *cobra.Command, api *client.Client) error {
		if err := send(c, api); err != nil {
			return err
		}
		if !silent && terminal.WantsJSON(c) {
			return terminal.PrintJSON(t.Out, out)
		}
		return show()
	})
	if !silent {
		terminal.AddJSONFlag(command)
	}
	return command
}

// FactsCommand is OperationCommand for an answer that is printed as names and values.
func FactsCommand[In, Out any](
	t terminal.Terminal, as As, op *contract.Op[In, Out], facts func(Out) [][2]string,
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
func DoneCommand[In any](t terminal.Terminal, as As, op *contract.Op[In, contract.None], said string) *cobra.Command {
	in := new(In)
	return RequestCommand(t, as, op.Operation, in, func(c *cobra.Command, api *client.Client) error {
		if _, err := client.Do(c.Context(), api, op, *in); err != nil {
			return err
		}
		_, err := fmt.Fprintf(t.Out, said+"\n", terminal.Printable(last(ArgumentsOf(c))))
		return err
	})
}

func last(arguments []string) string { return arguments[len(arguments)-1] }

// ListCommand is OperationCommand for a list, which is printed up to --limit: the row of each item below the headings.
func ListCommand[In, Item any](
	t terminal.Terminal, as As, op *contract.Op[In, contract.List[Item]], headings []string, cells func(Item) []string,
) *cobra.Command {
	var in In
	var most int
	command := RequestCommand(t, as, op.Operation, &in, func(c *cobra.Command, api *client.Client) error {
		found, more, err := client.First(c.Context(), api, op, in, most)
		if err == nil && len(found.Items) == 0 {
			err = checkFilters(c, api, referencesOf(c, op.Operation, op.Members(), reflect.ValueOf(&in).Elem()))
		}
		if err != nil {
			return err
		}
		if terminal.WantsJSON(c) {
			return terminal.PrintJSON(t.Out, found)
		}
		if len(found.Items) == 0 {
			_, err := fmt.Fprintln(t.Out, "No "+listedNoun(op.Operation)+".")
			return err
		}
		err = terminal.Table(t.Out, func(row func(...string)) {
			row(headings...)
			for _, item := range found.Items {
				row(cells(item)...)
			}
		})
		if err == nil && more {
			SayMore(t, most, "")
		}
		return err
	})
	LimitFlag(command, &most)
	terminal.AddJSONFlag(command)
	return command
}

// listedNoun returns what the command of an operation lists, such as app clients.
func listedNoun(op contract.Operation) string {
	words, _ := op.Words()
	if len(words) > 1 && words[len(words)-1] == "list" {
		words = words[:len(words)-1]
	}
	return strings.ReplaceAll(strings.ReplaceAll(last(words), "-", " "), "api ", "API ")
}

// defaultText is what a description of a flag says about commands without that flag.
var defaultText = regexp.MustCompile(`\. Defaults to .*?(\. | \(repeatable\)|$)`)

// RequestCommand returns a command that fills in the request of an operation and runs with one of the credentials. in
// points to the request. The function isn't generic, because that would be compiled for each operation.
func RequestCommand(
	t terminal.Terminal, as As, op contract.Operation, in any, run func(c *cobra.Command, api *client.Client) error,
) *cobra.Command {
	words, arguments := op.Words()
	into := reflect.ValueOf(in).Elem()
	members := contract.MembersOf(into.Type())
	if body := into.FieldByName("Body"); body.IsValid() && body.Kind() == reflect.Pointer {
		body.Set(reflect.New(body.Type().Elem())) // for its flags
	}
	command := &cobra.Command{
		Use:   strings.Join(append(words[len(words)-1:], arguments...), " "),
		Short: shown(op.Summary),
		Long:  described(op, members),
	}
	takeArguments(t, command, op, members, arguments)
	confirm := confirmation(t, command, op)
	if op.Example != "" {
		command.Example = "  postern " + op.Example
	}
	given := map[string]reflect.Value{}
	var flags, required []string
	var files []*fileFlag
	for _, m := range members {
		if slices.Contains(arguments, m.Argument()) {
			given[m.Argument()] = into.FieldByIndex(m.Index)
			terminal.NamePointer(command, "/"+m.Name, m.Argument())
		} else if m.Flag != "" {
			var flag *pflag.Flag
			if m.Form == fileForm {
				file := &fileFlag{t: t, name: m.Flag, into: into.FieldByIndex(m.Index)}
				flag = command.Flags().VarPF(file, m.Flag, "", usageOf(m))
				files = append(files, file)
			} else {
				flag = addMemberFlag(t, command, m, into.FieldByIndex(m.Index))
			}
			if op.Method == http.MethodPatch {
				flag.Usage = defaultText.ReplaceAllString(flag.Usage, "$1") // without the flag, nothing changes
				if m.Elem() != reflect.TypeFor[contract.Secret]() {
					terminal.AllowEmpty(flag)
				}
			}
			NameMember(command, m)
			flags = append(flags, "--"+m.Flag)
			if m.Required {
				required = append(required, m.Flag)
				command.Use += " --" + m.Flag + " " + m.Argument()
			}
		}
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		args, err := WholeArguments(t, c, args)
		if err != nil {
			return err
		}
		for i, name := range arguments {
			given[name].SetString(args[i])
		}
		for _, file := range files {
			if err := file.read(); err != nil {
				return err
			}
		}
		if op.Method == http.MethodPatch && !changesSomething(into) {
			return NothingToChange(flags...)
		}
		if err := requireFlags(c, required); err != nil {
			return err
		}
		if !t.Asks() { // without --yes, nothing is looked up
			if err := confirm(args); err != nil {
				return err
			}
		}
		names := namesIn(c, members, arguments, into)
		if err := useIDs(t, c, names); err != nil {
			return err
		}
		if t.Asks() {
			if err := confirm(withIDs(args, arguments, names)); err != nil {
				return err
			}
		}
		err = as(t, c, func(api *client.Client) error {
			if op.Method == http.MethodGet {
				return terminal.Paged(t, func() error { return run(c, api) })
			}
			return run(c, api)
		})
		return nameAbsent(err, asGiven(referencesOf(c, op, members, into), names), func(path string) error {
			return as(t, c, func(api *client.Client) error { return client.Check(c.Context(), api, path) })
		})
	}
	AddServerFlag(command)
	return command
}

func requireFlags(c *cobra.Command, names []string) error {
	for _, name := range names {
		if flag := c.Flag(name); !flag.Changed {
			return terminal.UsageError("--" + name + " is missing: " + flag.Usage)
		}
	}
	return nil
}

// confirmation has the command of an operation that deletes something ask first. It returns the question, which is
// about the last of the arguments. The commands that show what else is deleted ask themselves, once they know it: they
// clear Deletes.
func confirmation(t terminal.Terminal, command *cobra.Command, op contract.Operation) func(arguments []string) error {
	if op.Deletes == "" {
		return func([]string) error { return nil }
	}
	var yes bool
	terminal.AddYesFlag(command, &yes)
	command.Use += " [--yes]"
	command.Long += "\n\n" + AsksHelp
	return func(arguments []string) error { return ConfirmDeletion(t, op.Deletes, last(arguments), yes) }
}

// AsksHelp says in help that a command asks for confirmation.
const AsksHelp = "The command asks for confirmation. Without a terminal, use --yes."

// shown is a summary in the words of the command line, whose verb for reading one thing is show.
func shown(summary string) string {
	if rest, ok := strings.CutPrefix(summary, "Get "); ok {
		return "Show " + rest
	}
	return summary
}

// describeArguments has help say what those arguments of a command are that are members of its operation.
func describeArguments(c *cobra.Command, members []contract.Member, names []string) {
	left := mayBeLeftOut(names)
	for _, name := range names {
		i := slices.IndexFunc(members, func(m contract.Member) bool { return m.Argument() == name })
		if i < 0 || members[i].Doc == "" {
			continue
		}
		text, _, _ := strings.Cut(lowerFirst(cmp.Or(members[i].Help, members[i].Doc)), ". Defaults to ")
		if text == "name or ID" || text == "ID" { // which says enough only in the reference of the API
			text += " of the " + strings.ReplaceAll(members[i].Name, "_", " ")
		}
		text = withName(members[i].IDOf, text)
		if slices.Contains(left, name) {
			text += ". Optional if there is only one"
		}
		terminal.Described(c, [2]string{name, text})
	}
}

// commandTexts are pairs of what only the API says of an operation, and the words of the command line.
var commandTexts = []string{
	"set both durations to 0 to", "use --signs-in 0 and --grace 0 to",
	"The response ", "The output ", "the response ", "the output ",
	"Returns 404 ", "Fails with 404 ", "Returns ", "Prints ",
	"with enabled set to false", "with --enabled=false",
	"Setting confidential to true ", "--confidential ",
	"from directory_url,", "from the printed URL,",
}

var inCommands = strings.NewReplacer(commandTexts...)

// helpWidth is the largest width of a line of help, in characters.
const helpWidth = 85

// described returns the summary of an operation and what its callers should know, in lines for help.
func described(op contract.Operation, members []contract.Member) string {
	const everyUpdate = "Changes only the fields you send."
	doc := inCommands.Replace(op.Doc)
	if slices.ContainsFunc(members, func(m contract.Member) bool { return m.Flag != "" && repeatable(m) }) {
		const ofFlags = "Repeatable flags replace the existing list."
		doc = strings.Replace(doc, "A list replaces the existing one.", ofFlags, 1)
	}
	about := shown(op.Summary) + ". " + strings.TrimPrefix(doc, everyUpdate)
	if rest, ok := strings.CutPrefix(doc, "Lists "); ok {
		about = "List " + rest
	}
	var text strings.Builder
	width := 0
	for _, word := range strings.Fields(about) {
		switch length := utf8.RuneCountInString(word); {
		case width == 0:
			width = length
		case width+1+length > helpWidth:
			text.WriteByte('\n')
			width = length
		default:
			text.WriteByte(' ')
			width += 1 + length
		}
		text.WriteString(word)
	}
	return text.String()
}

// changesSomething reports whether a request to change something has a member to change.
func changesSomething(request reflect.Value) bool {
	body := request.FieldByName("Body")
	return body.Kind() == reflect.Struct && !body.IsZero()
}

// FilledCommand is OperationCommand for a request with members that have no flags of their own: fill sets them from
// other flags, before the request is checked and sent.
func FilledCommand[In, Out any](
	t terminal.Terminal, as As, op *contract.Op[In, Out], in *In, fill func() error, show func(Out) error,
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

// EditCommand completes a command that reads a value of a project, edits it, and writes it back unless it was changed
// since. edit returns nil to leave the value unchanged. names are those of the arguments.
func EditCommand[Path, Saved, Update any](
	t terminal.Terminal, command *cobra.Command, path func(args []string) Path,
	get *contract.Op[Path, Saved], edit func(path Path, now Saved, args []string) (*Update, error),
	set *contract.Op[Update, Saved], show func(Saved) error, names ...string,
) *cobra.Command {
	TakeArguments(t, command, get, names...)
	command.RunE = func(c *cobra.Command, args []string) error {
		args, err := WholeArguments(t, c, args)
		if err != nil {
			return err
		}
		return AsProject(t, c, func(api *client.Client) error {
			at := path(args)
			now, err := client.Do(c.Context(), api, get, at)
			if err == nil {
				var update *Update
				if update, err = edit(at, now, args); err == nil && update != nil {
					now, err = client.Do(c.Context(), api, set, *update)
				}
			}
			if err != nil {
				return err
			}
			if terminal.WantsJSON(c) {
				return terminal.PrintJSON(t.Out, now)
			}
			return show(now)
		})
	}
	terminal.AddJSONFlag(command)
	AddServerFlag(command)
	return command
}

// ProjectOf is the path of a project in the first argument.
func ProjectOf(args []string) contract.ProjectPath { return contract.ProjectPath{Project: args[0]} }

// VersionOf is the path of a version in the first two arguments.
func VersionOf(args []string) contract.VersionPath {
	return contract.VersionPath{ProjectPath: ProjectOf(args), Version: args[1]}
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
