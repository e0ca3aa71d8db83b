package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

// maxAudit is the size of the largest page of the audit log.
const maxAudit = 200

// newAudit returns the commands of the audit log, with verify among them.
func newAudit(t terminal, verify *cobra.Command) *cobra.Command {
	return family("audit", "List and verify the audit log: what was done and what was refused",
		newAuditList(t),
		factsCommand(t, asHolder, contract.GetAuditEntry, auditFacts),
		verify,
	)
}

func newAuditList(t terminal) *cobra.Command {
	var in contract.AuditList
	command := requestCommand(t, asReader(&in.Team, &in.Project), contract.ListAuditEntries.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			found, err := readAudit(c.Context(), api, in)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, found)
			}
			return printAudit(t, found)
		})
	command.Short = "List what was done and what was refused, newest first"
	command.Long = `List what was done and what was refused in a team, newest first. Values of secrets
are not logged.`
	command.Example += `
  postern audit list --outcome refused --from 7d
  postern audit list --search ana@example.com --sort created
  postern audit list --object key_01… --json`
	pageFlags(command, &in.Page, maxAudit)
	addJSONFlag(command)
	return command
}

// pageFlags adds --limit and --cursor to a command that prints one page of a list. most is the size of the largest one.
func pageFlags(c *cobra.Command, page *contract.Page, most int) {
	c.Flags().IntVar(&page.Limit, "limit", 50, "number of entries to list")
	c.Flags().StringVar(&page.Cursor, "cursor", "", "next_cursor of an earlier page")
	c.PreRunE = func(*cobra.Command, []string) error {
		if page.Limit < 1 || page.Limit > most {
			return usageError(fmt.Sprintf("--limit is 1 to %d", most))
		}
		return nil
	}
}

// readAudit fills a page. A search looks at some of the entries at a time, and can have found none so far.
func readAudit(
	ctx context.Context, api *client.Client, in contract.AuditList,
) (contract.List[contract.AuditEntry], error) {
	page, limit := contract.List[contract.AuditEntry]{Items: []contract.AuditEntry{}}, in.Limit
	for {
		in.Limit = limit - len(page.Items)
		part, err := client.Do(ctx, api, contract.ListAuditEntries, in)
		if err != nil {
			return page, err
		}
		page.Items, page.NextCursor = append(page.Items, part.Items...), part.NextCursor
		if len(page.Items) == limit || part.NextCursor == nil {
			return page, nil
		}
		in.Cursor = *part.NextCursor
	}
}

// asReader runs a command about the log of a team with each credential that may be valid for the project, or without a
// project with the only credential.
func asReader(team, project *string) inName {
	return func(t terminal, c *cobra.Command, run func(*client.Client) error) error {
		s, err := openSession(t, c)
		if err != nil {
			return err
		}
		call := func(_ context.Context, api caller) (nothing, error) { return nothing{}, run(api.Client) }
		if *project != "" {
			_, err = onProject(c.Context(), s, *project, call)
			return err
		}
		callers, err := s.callers()
		if err != nil {
			return err
		}
		if len(callers) > 1 && *team == "" {
			return usageError("several workspaces are stored on this machine: choose one with --team")
		}
		_, err = first(c.Context(), callers, call)
		return err
	}
}

func printAudit(t terminal, page contract.List[contract.AuditEntry]) error {
	err := table(t.out, func(row func(...string)) {
		row("ID", "TIME", "OUTCOME", "ACTION", "OBJECT", "BY", "ADDRESS", "WHAT")
		for _, e := range page.Items {
			row(e.ID, when(&e.Time), e.Outcome, e.Action, e.Object, actorOf(e), e.Address,
				strings.Join(changesOf(e), ", "))
		}
	})
	if err == nil && page.NextCursor != nil {
		_, err = fmt.Fprintf(t.err, "There are more: --cursor %s\n", *page.NextCursor)
	}
	return err
}

func auditFacts(e contract.AuditEntry) [][2]string {
	facts := [][2]string{
		{"Id", e.ID},
		{"Time", when(&e.Time)},
		{"Outcome", e.Outcome},
		{"Action", e.Action},
		{"Object", e.Object},
		{"By", actorOf(e)},
		{"Credential", orDash(e.Actor.Token)},
		{"Address", e.Address},
		{"Request", e.RequestID},
		{"Number", fmt.Sprint(e.Number)},
		{"Hash", e.Hash},
	}
	for _, change := range changesOf(e) {
		facts = append(facts, [2]string{"What", change})
	}
	return facts
}

func actorOf(e contract.AuditEntry) string {
	if e.Actor.Email != nil {
		return *e.Actor.Email
	}
	return e.Actor.ID
}

func changesOf(e contract.AuditEntry) []string {
	var facts []string
	for _, name := range slices.Sorted(maps.Keys(e.Detail)) {
		facts = append(facts, name+"="+e.Detail[name])
	}
	for _, name := range slices.Sorted(maps.Keys(e.Changes)) {
		change := e.Changes[name]
		facts = append(facts, fmt.Sprintf("%s: %s → %s", name, factOf(change.Before), factOf(change.After)))
	}
	return facts
}

func factOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "-"
	case map[string]any, []any:
		text, err := json.Marshal(value)
		if err == nil {
			return string(text)
		}
	}
	return fmt.Sprint(value)
}
