package projects

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newRelations(t terminal.Terminal) *cobra.Command {
	return terminal.Family("relations", "Manage relations (object owners)",
		cli.ListCommand(t, cli.AsProject, contract.ListRelations, []string{"TENANT", "USER", "RELATION", "OBJECT"},
			func(r contract.Relation) []string { return []string{r.Tenant, r.User, r.Relation, r.Object} }),
		newRelationsAdd(t),
		newRelationsRemove(t),
		newRelationsImport(t),
	)
}

func newRelationsAdd(t terminal.Terminal) *cobra.Command {
	var one contract.NewRelation
	command := &cobra.Command{
		Use:     "add PROJECT USER OBJECT",
		Short:   "Make a user the owner of an object",
		Example: "  postern relations add shop billing-service order:42",
	}
	cli.TakeArguments(t, command, contract.AddRelations, "PROJECT", "USER", "OBJECT")
	terminal.Described(command,
		[2]string{"USER", "ID of a user, name of an app that owns keys, or subject and issuer of a token, as in " +
			"'ana (https://id.example.com)'"},
		[2]string{"OBJECT", "object, such as order:42"})
	for member, name := range map[string]string{"user": "USER", "object": "OBJECT", "tenant": "--tenant"} {
		terminal.NamePointer(command, "/"+member, name)
	}
	command.Flags().StringVar(&one.Tenant, "tenant", "", "name of the tenant. Defaults to the project's own tenant")
	cli.CompleteNames(t, command, "tenant")
	command.RunE = func(c *cobra.Command, args []string) error {
		one.User, one.Object = args[1], args[2]
		return cli.OfProject(t, c, func(api *client.Client) error {
			done, err := client.Do(c.Context(), api, contract.AddRelations, contract.RelationsOf(args[0], one))
			if err != nil {
				return err
			}
			return printAdded(t, done)
		})
	}
	cli.AddServerFlag(command)
	return command
}

func printAdded(t terminal.Terminal, done contract.AddedRelations) error {
	_, err := fmt.Fprintf(t.Out, "Added: %d. Already existed: %d.\n", done.Added, done.Existing)
	return err
}

func newRelationsRemove(t terminal.Terminal) *cobra.Command {
	command := cli.OperationCommand(t, cli.AsProject, contract.RemoveRelations,
		func(_ contract.RelationRemoval, done contract.RemovedRelations) error {
			_, err := fmt.Fprintf(t.Out, "Removed: %d.\n", done.Removed)
			return err
		})
	remove := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		if !c.Flags().Changed("user") && !c.Flags().Changed("object") {
			return terminal.UsageError("nothing to remove: use --user or --object")
		}
		return remove(c, args)
	}
	return command
}

// importBatch is how many relations a request of relations import has. A failed request adds none of
// its own, and importing again is harmless.
const importBatch = 5000

func newRelationsImport(t terminal.Terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "import PROJECT FILE",
		Short: "Add relations from a file with one JSON object per line",
		Example: `  echo '{"user": "billing-service", "object": "order:42"}' | postern relations import shop -
  postern relations list shop --json | jq -c '.items[]' | postern relations import other -`,
	}
	cli.TakeArguments(t, command, contract.AddRelations, "PROJECT", "FILE")
	terminal.Described(command, [2]string{"FILE", "file with relations, or - for standard input"})
	command.RunE = func(c *cobra.Command, args []string) error {
		in := c.InOrStdin()
		if args[1] != "-" {
			file, err := os.Open(args[1])
			if err != nil {
				return terminal.CannotRead(err)
			}
			defer func() { _ = file.Close() }()
			in = file
		}
		var sum contract.AddedRelations
		shown := terminal.NewProgress(t.Err)
		defer shown.End()
		lines := relationLines{json: json.NewDecoder(in), file: args[1]}
		for {
			batch, err := lines.next()
			if err != nil {
				return err
			}
			if len(batch) == 0 {
				shown.End()
				return printAdded(t, sum)
			}
			shown.Say(fmt.Sprintf("Adding relations %d to %d", lines.read-len(batch)+1, lines.read))
			err = cli.OfProject(t, c, func(api *client.Client) error {
				done, err := client.Do(c.Context(), api, contract.AddRelations, contract.RelationsOf(args[0], batch...))
				sum.Added, sum.Existing = sum.Added+done.Added, sum.Existing+done.Existing
				return err
			})
			if err != nil {
				return fmt.Errorf("relations %d to %d: %w", lines.read-len(batch)+1, lines.read, err)
			}
		}
	}
	cli.AddServerFlag(command)
	return command
}

// relationLines reads relations from a file with one on each line.
type relationLines struct {
	json *json.Decoder
	file string
	read int
}

// next returns the next relations, none after the last.
func (l *relationLines) next() (batch []contract.NewRelation, err error) {
	for len(batch) < importBatch {
		var one struct {
			contract.NewRelation
			CreatedAt json.RawMessage `json:"created_at"` // of a list; the new one is created now
		}
		var text json.RawMessage
		err := l.json.Decode(&text)
		if errors.Is(err, io.EOF) {
			break
		}
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			return nil, terminal.CannotRead(err)
		}
		var wrong string
		if err != nil {
			wrong = "it isn't valid JSON. Check its commas, quotes and brackets"
		} else if found := terminal.DecodeJSON(text, &one); found != nil {
			wrong = found.Detail
		}
		if wrong != "" {
			return nil, terminal.UsageError(fmt.Sprintf("FILE: relation %d of %s: %s", l.read+1, l.file, wrong))
		}
		batch, l.read = append(batch, one.NewRelation), l.read+1
	}
	return batch, nil
}
