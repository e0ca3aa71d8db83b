package account

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// The sizes of a page of the audit log: without --limit, which fits into most windows, and of the largest one.
const (
	shownAudit = 20
	maxAudit   = 200
)

// NewAudit returns the commands of the audit log, with verify among them.
func NewAudit(t terminal.Terminal, verify *cobra.Command) *cobra.Command {
	return terminal.Family("audit", "Show and verify the audit log",
		newAuditList(t),
		cli.FactsCommand(t, cli.AsHolder, contract.GetAuditEntry, auditFacts),
		verify,
	)
}

func newAuditList(t terminal.Terminal) *cobra.Command {
	var in contract.AuditList
	command := cli.RequestCommand(t, cli.AsReader(&in.Team, &in.Project), contract.ListAuditEntries.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			found, err := readAudit(c.Context(), api, in)
			if err != nil {
				return err
			}
			if terminal.WantsJSON(c) {
				return terminal.PrintJSON(t.Out, found)
			}
			return printAudit(t, found)
		})
	command.Short = "List audit log entries, newest first"
	command.Long = `List the entries in a team's audit log, newest first. Each entry describes an action
that was performed or refused. Secrets aren't logged.`
	command.Example += `
  postern audit list --outcome refused --from 7d
  postern audit list --search ana@example.com --sort created
  postern audit list --object key_01… --json`
	cli.PageFlags(command, &in.Page, shownAudit, maxAudit)
	terminal.AddJSONFlag(command)
	return command
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

func printAudit(t terminal.Terminal, page contract.List[contract.AuditEntry]) error {
	err := terminal.Table(t.Out, func(row func(...string)) {
		row("ID", "TIME", "OUTCOME", "ACTION", "SUMMARY", "ADDRESS")
		for _, e := range page.Items {
			row(e.ID, terminal.When(&e.Time), e.Outcome, e.Action, e.Summary, e.Address)
		}
	})
	if err == nil && page.NextCursor != nil {
		cli.SayMore(t, len(page.Items), *page.NextCursor)
	}
	return err
}

func auditFacts(e contract.AuditEntry) [][2]string {
	facts := [][2]string{
		{"ID", e.ID},
		{"Time", terminal.When(&e.Time)},
		{"Summary", e.Summary},
		{"Outcome", e.Outcome},
		{"Action", e.Action},
		{"Object", e.Object},
		{"By", actorOf(e)},
		{"Credential", terminal.OrDash(e.Actor.Token)},
		{"Address", e.Address},
		{"Request", e.RequestID},
		{"Number", fmt.Sprint(e.Number)},
		{"Hash", e.Hash},
	}
	return append(facts, changesOf(e)...)
}

func actorOf(e contract.AuditEntry) string {
	if e.Actor.Email != nil {
		return *e.Actor.Email
	}
	return e.Actor.ID
}

// changesOf returns the details of an entry, and the changed fields before and after the change.
func changesOf(e contract.AuditEntry) (facts [][2]string) {
	for _, name := range slices.Sorted(maps.Keys(e.Detail)) {
		facts = append(facts, [2]string{"Detail", name + ": " + e.Detail[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(e.Changes)) {
		change := e.Changes[name]
		facts = append(facts, [2]string{"Change",
			fmt.Sprintf("%s: %s → %s", name, factOf(change.Before), factOf(change.After))})
	}
	return facts
}

func factOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "-"
	case map[string]any, []any, float64: // fmt would write large numbers with an exponent
		text, err := json.Marshal(value)
		if err == nil {
			return string(text)
		}
	}
	return fmt.Sprint(value)
}
