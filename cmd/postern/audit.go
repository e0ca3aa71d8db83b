package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
)

// maxAudit is the size of the largest page of the audit log.
const maxAudit = 200

func newAudit(t terminal) *cobra.Command {
	command := newAuditList(t)
	command.Use = "audit"
	command.Short = "List and verify the audit log: what was done and what was refused"
	list := newAuditList(t)
	command.AddCommand(list, newAuditVerify(t))
	return command
}

func newAuditList(t terminal) *cobra.Command {
	var q client.AuditQuery
	var from, to string
	var limit int
	command := &cobra.Command{
		Use:   "list",
		Short: "Show what was done and what was refused, newest first",
		Long: `Show what was done and what was refused in a team, newest first. Values of secrets
are not logged.`,
		Example: `  postern audit --project shop
  postern audit --outcome refused --from 7d
  postern audit --search ana@example.com --sort created
  postern audit --object key_01… --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 1 || limit > maxAudit {
				return usageError{fmt.Sprintf("--limit is 1 to %d", maxAudit)}
			}
			if q.Outcome != "" && q.Outcome != "done" && q.Outcome != "refused" {
				return usageError{fmt.Sprintf("--outcome %q is neither done nor refused", q.Outcome)}
			}
			var err error
			if q.From, err = readPast("from", from, time.Now()); err != nil {
				return err
			}
			if q.To, err = readPast("to", to, time.Now()); err != nil {
				return err
			}
			cursor := c.Flag("cursor").Value.String()
			found, err := onTeam(c, t, q.Project, func(ctx context.Context, api caller) (client.AuditPage, error) {
				return readAudit(ctx, api, q, cursor, limit)
			})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, found)
			}
			return printAudit(t, found)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&q.Project, "project", "", "only of this project, by name or id")
	flags.StringVar(&q.Team, "team", "", "team, by id; operators can select installation: entries without a team")
	flags.StringVar(&q.Actor, "actor", "", "only by this account, by e-mail address or id, or by another actor")
	flags.StringVar(&q.Action, "action", "", "only this action, such as key.change")
	flags.StringVar(&q.Object, "object", "", "only entries about the object with this id")
	flags.StringVar(&q.Outcome, "outcome", "", "only what was done, or only what was refused")
	flags.StringVar(&from, "from", "", "begin: a time such as 2030-01-31T12:00:00Z, or how long ago, such as 7d")
	flags.StringVar(&to, "to", "", "end, in the same forms as --from")
	flags.StringVar(&q.Text, "search", "", "only entries whose ids, action, address, e-mail address or details "+
		"contain this text")
	sortFlag(command, &q.Sort, "created")
	flags.IntVar(&limit, "limit", 50, "how many to show")
	flags.String("cursor", "", "next_cursor of an earlier page")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// readAudit fills a page. A search looks at some of the entries at a time, and can have found none so far.
func readAudit(
	ctx context.Context, api caller, q client.AuditQuery, cursor string, limit int,
) (client.AuditPage, error) {
	page := client.AuditPage{Items: []client.AuditEntry{}}
	for {
		part, err := api.Audit(ctx, q, cursor, limit-len(page.Items))
		if err != nil {
			return page, err
		}
		page.Items, page.NextCursor = append(page.Items, part.Items...), part.NextCursor
		if len(page.Items) == limit || part.NextCursor == nil {
			return page, nil
		}
		cursor = *part.NextCursor
	}
}

// onTeam tries a call with each credential that may be valid for a project, or without a
// project with the only credential.
func onTeam[T any](
	c *cobra.Command, t terminal, project string, call func(context.Context, caller) (T, error),
) (T, error) {
	var none T
	s, err := openSession(t, c)
	if err != nil {
		return none, err
	}
	if project != "" {
		return onProject(c.Context(), s, project, call)
	}
	callers, err := s.callers()
	if err != nil {
		return none, err
	}
	if len(callers) > 1 && c.Flag("team").Value.String() == "" {
		return none, usageError{"several workspaces are stored on this machine: choose one with --team"}
	}
	return first(c.Context(), callers, call)
}

func printAudit(t terminal, page client.AuditPage) error {
	err := table(t.out, func(row func(...string)) {
		row("TIME", "OUTCOME", "ACTION", "OBJECT", "BY", "ADDRESS", "WHAT")
		for _, e := range page.Items {
			by := e.Actor.ID
			if e.Actor.Email != nil {
				by = *e.Actor.Email
			}
			row(when(&e.Time), e.Outcome, e.Action, e.Object, by, e.Address, strings.Join(factsOf(e), ", "))
		}
	})
	if err == nil && page.NextCursor != nil {
		_, err = fmt.Fprintf(t.err, "There are more: --cursor %s\n", *page.NextCursor)
	}
	return err
}

func factsOf(e client.AuditEntry) []string {
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
