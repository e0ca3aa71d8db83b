package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"postern/client"
)

func newRelations(t terminal) *cobra.Command {
	return family("relations", "Show and change who owns which object, for rules that ask for owners",
		newRelationsList(t), newRelationsAdd(t), newRelationsRemove(t), newRelationsImport(t))
}

func relationFlags(command *cobra.Command, f *client.RelationFilter) {
	flags := command.Flags()
	flags.StringVar(&f.Tenant, "tenant", "", "name of a tenant")
	flags.StringVar(&f.User, "user", "", "usr_…, the owner of keys, or subject and issuer of a token")
	flags.StringVar(&f.Object, "object", "", "such as order:42")
}

func newRelationsList(t terminal) *cobra.Command {
	var f client.RelationFilter
	var options client.ListOptions
	command := &cobra.Command{
		Use:     "list PROJECT",
		Short:   "List who owns which object",
		Example: "  postern relations list shop --search invoice: --sort -created",
		Args:    exactly("PROJECT"),
	}
	relationFlags(command, &f)
	listFlags(command, &options, "object or user", "object", "user", "created")
	command.RunE = func(c *cobra.Command, args []string) error {
		s, err := openSession(t, c)
		if err != nil {
			return err
		}
		found, err := onProject(c.Context(), s, args[0],
			func(ctx context.Context, api caller) ([]client.Relation, error) {
				list := []client.Relation{}
				for one, err := range api.Relations(ctx, args[0], f, options) {
					if err != nil {
						return nil, err
					}
					list = append(list, one)
				}
				return list, nil
			})
		if err != nil {
			return err
		}
		if wantsJSON(c) {
			return printJSON(t.out, found)
		}
		return table(t.out, func(row func(...string)) {
			row("TENANT", "USER", "RELATION", "OBJECT")
			for _, one := range found {
				row(one.Tenant, one.User, one.Relation, one.Object)
			}
		})
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newRelationsAdd(t terminal) *cobra.Command {
	var tenant string
	command := &cobra.Command{
		Use:     "add PROJECT USER OBJECT",
		Short:   "Make a user the owner of an object",
		Example: "  postern relations add shop billing-service order:42",
		Args:    exactly("PROJECT", "USER", "OBJECT"),
	}
	command.Flags().StringVar(&tenant, "tenant", "", "name of the tenant; without it the project's own")
	return changesRelations(t, command, func(ctx context.Context, api caller, args []string) (string, error) {
		done, err := api.AddRelations(ctx, args[0], []client.Relation{{Tenant: tenant, User: args[1], Object: args[2]}})
		return addedText(done), err
	})
}

func addedText(done client.RelationsAdded) string {
	return fmt.Sprintf("%d added, %d existed already.", done.Added, done.Existing)
}

func newRelationsRemove(t terminal) *cobra.Command {
	var f client.RelationFilter
	command := &cobra.Command{
		Use:     "remove PROJECT",
		Short:   "Remove the relations of a user, an object or both",
		Example: "  postern relations remove shop --object order:42",
		Args:    exactly("PROJECT"),
	}
	relationFlags(command, &f)
	return changesRelations(t, command, func(ctx context.Context, api caller, args []string) (string, error) {
		if f.User == "" && f.Object == "" {
			return "", usageError{"nothing to remove: give --user or --object"}
		}
		removed, err := api.RemoveRelations(ctx, args[0], f)
		return fmt.Sprintf("%d removed.", removed), err
	})
}

// importBatch is how many relations a request of relations import has. A failed request adds none of
// its own, and importing again is harmless.
const importBatch = 5000

func newRelationsImport(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "import PROJECT FILE",
		Short: "Add relations from a file with one JSON object a line; - for standard input",
		Example: "  echo '{\"user\": \"billing-service\", \"object\": \"order:42\"}' | postern relations import shop " +
			"-\n  postern relations list shop --json | jq -c '.[]' | postern relations import other -",
		Args: exactly("PROJECT", "FILE"),
	}
	return changesRelations(t, command, func(ctx context.Context, api caller, args []string) (string, error) {
		in := command.InOrStdin()
		if args[1] != "-" {
			file, err := os.Open(args[1])
			if err != nil {
				return "", fmt.Errorf("read the relations: %w", err)
			}
			defer func() { _ = file.Close() }()
			in = file
		}
		var sum client.RelationsAdded
		lines := json.NewDecoder(in)
		lines.DisallowUnknownFields()
		for read := 0; ; {
			var batch []client.Relation
			for len(batch) < importBatch {
				var one client.Relation
				err := lines.Decode(&one)
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					return "", fmt.Errorf("read relation %d of %s: %w", read+1, args[1], err)
				}
				one.CreatedAt = nil
				batch, read = append(batch, one), read+1
			}
			if len(batch) == 0 {
				return addedText(sum), nil
			}
			done, err := api.AddRelations(ctx, args[0], batch)
			if err != nil {
				return "", fmt.Errorf("relations %d to %d: %w", read-len(batch)+1, read, err)
			}
			sum.Added, sum.Existing = sum.Added+done.Added, sum.Existing+done.Existing
		}
	})
}

func changesRelations(
	t terminal, command *cobra.Command, change func(ctx context.Context, api caller, args []string) (string, error),
) *cobra.Command {
	command.RunE = func(c *cobra.Command, args []string) error {
		s, err := openSession(t, c)
		if err != nil {
			return err
		}
		said, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (string, error) {
			return change(ctx, api, args)
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(t.out, said)
		return err
	}
	addServerFlag(command)
	return command
}
