package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"postern/client"
)

// maxRequests is the size of the largest page of the live log.
const maxRequests = 200

func newRequests(t terminal) *cobra.Command {
	var limit int
	var follow bool
	var filter client.RequestFilter
	command := &cobra.Command{
		Use:   "requests PROJECT",
		Short: "Show the latest calls of a project, or follow them",
		Long: `Show the latest calls of a project, newest last. Queries, headers and bodies are
not logged. The log holds about the last 1000 calls of the server process that
answers.

With --follow, new calls are shown as they arrive until you press Ctrl-C; with
--json too, as one JSON object per line.`,
		Example: `  postern requests shop --follow
  postern requests shop --status 4xx --path /orders`,
		Args: exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			if limit < 1 || limit > maxRequests {
				return usageError{fmt.Sprintf("--limit is 1 to %d", maxRequests)}
			}
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			found, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (seen, error) {
				list, err := api.RecentRequests(ctx, args[0], filter, "", limit)
				return seen{list, api}, err
			})
			if err == nil && found.NoGateway {
				fmt.Fprintln(t.err, "This server has no gateway, and its log stays empty: each gateway keeps the log "+
					"of its own calls. The operator has the gateways' access log.")
			}
			switch {
			case err != nil:
				return err
			case follow:
				return followRequests(c.Context(), t, found, args[0], filter, wantsJSON(c))
			case wantsJSON(c):
				return printJSON(t.out, found.Requests)
			}
			return table(t.out, func(row func(...string)) {
				row("TIME", "STATUS", "STEP", "CODE", "METHOD", "PATH", "MS", "ENVIRONMENT", "OWNER", "ADDRESS")
				for _, r := range slices.Backward(found.Items) {
					row(requestCells(r)...)
				}
			})
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.BoolVarP(&follow, "follow", "f", false, "show new calls as they arrive")
	flags.IntVar(&limit, "limit", 50, "number of calls to show")
	flags.StringVar(&filter.Status, "status", "", "only calls with this status, such as 404, or class, such as 4xx")
	flags.StringVar(&filter.Owner, "owner", "", "only calls of this owner")
	flags.StringVar(&filter.Path, "path", "", "only calls whose path contains this")
	flags.StringVar(&filter.Code, "code", "", "only calls that the gateway answered with this code")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// seen is the live log and the credential that may read it.
type seen struct {
	client.Requests
	by caller
}

func requestCells(r client.Request) []string {
	return []string{
		r.Time.Local().Format("15:04:05.000"),
		strconv.Itoa(r.Status),
		r.Step,
		orDash(r.Code),
		r.Method,
		r.Path,
		strconv.FormatFloat(r.DurationMS, 'f', 1, 64),
		r.Version + "/" + r.Environment,
		orDash(r.Owner),
		r.RemoteIP,
	}
}

func followRequests(
	ctx context.Context, t terminal, from seen, project string, filter client.RequestFilter, asJSON bool,
) error {
	show := func(r client.Request) error {
		if asJSON {
			out := json.NewEncoder(t.out)
			out.SetEscapeHTML(false)
			return out.Encode(r)
		}
		return printRequestLine(t, r)
	}
	// Not an id of the server, which therefore starts with the oldest call.
	after := "none"
	for _, r := range slices.Backward(from.Items) {
		if err := show(r); err != nil {
			return err
		}
		after = r.ID
	}
	for next, err := range from.by.FollowRequests(ctx, project, filter, after) {
		if err != nil {
			return err
		}
		if next.Missed > 0 {
			fmt.Fprintf(t.err, "%d calls came too fast to be shown.\n", next.Missed)
		}
		if next.Request == nil {
			continue
		}
		if err := show(*next.Request); err != nil {
			return err
		}
	}
	return nil
}

// printRequestLine uses fixed column widths, since later lines are not known yet.
func printRequestLine(t terminal, r client.Request) error {
	_, err := fmt.Fprintf(
		t.out, "%s  %d  %-7s  %-20s  %8.1f ms  %s %s  %s\n", r.Time.Local().Format("15:04:05.000"), r.Status,
		r.Step, orDash(r.Code), r.DurationMS, printable(r.Method), printable(r.Path),
		printable(orDash(r.Owner)),
	)
	return err
}
