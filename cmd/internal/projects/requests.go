package projects

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// The sizes of a page of the live log: without --limit, and of the largest one.
const (
	shownRequests = 50
	maxRequests   = 200
)

func newRequests(t terminal.Terminal) *cobra.Command {
	return terminal.Family("requests", "List or follow the latest calls to a project",
		newRequestsList(t),
		cli.FactsCommand(t, cli.AsProject, contract.GetRequest, requestFacts),
	)
}

func newRequestsList(t terminal.Terminal) *cobra.Command {
	var in contract.RequestList
	var follow bool
	var found contract.Requests
	var reader *client.Client
	command := cli.RequestCommand(t, cli.AsProject, contract.ListRequests.Operation, &in,
		func(c *cobra.Command, api *client.Client) (err error) {
			reader = api
			found, err = client.Do(c.Context(), api, contract.ListRequests, in)
			return err
		})
	list := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		if err := list(c, args); err != nil {
			return err
		}
		if found.NoGateway {
			fmt.Fprintln(t.Err, "This server has no gateway, so its log is always empty. Each gateway keeps a log of "+
				"its own calls. Ask the operator for the access log of the gateways.")
		}
		switch {
		case follow:
			return followRequests(c.Context(), t, reader, found, in, terminal.WantsJSON(c))
		case terminal.WantsJSON(c):
			return terminal.Paged(t, func() error { return terminal.PrintJSON(t.Out, found) })
		}
		return terminal.Paged(t, func() error { return printRequests(t, found.Items) })
	}
	command.Short = "List or follow the latest calls to a project"
	command.Long = `List the latest calls to a project, oldest first. The server that handles the command
returns its own log of roughly the last 1,000 calls, without query strings, headers
or bodies.

With --follow, the command shows new calls until you press Ctrl-C. With --json, each
call is a JSON object on its own line.`
	command.Example = "  postern requests list shop --follow\n" + command.Example
	command.Flags().BoolVarP(&follow, "follow", "f", false, "show new calls as they arrive")
	cli.PageFlags(command, &in.Page, shownRequests, maxRequests)
	terminal.AddJSONFlag(command)
	return command
}

func printRequests(t terminal.Terminal, newestFirst []contract.Request) error {
	return terminal.Table(t.Out, func(row func(...string)) {
		row("ID", "TIME", "STATUS", "STEP", "CODE", "METHOD", "PATH", "MS", "ENVIRONMENT", "OWNER", "ADDRESS")
		for _, r := range slices.Backward(newestFirst) {
			row(requestCells(r)...)
		}
	})
}

func requestCells(r contract.Request) []string {
	return []string{
		r.ID,
		r.Time.Local().Format("15:04:05.000"),
		strconv.Itoa(r.Status),
		r.Step,
		terminal.OrDash(r.Code),
		r.Method,
		r.Path,
		milliseconds(r.DurationMS),
		r.Version + "/" + r.Environment,
		terminal.OrDash(r.Owner),
		r.RemoteIP,
	}
}

func requestFacts(r contract.RequestDetail) [][2]string {
	facts := [][2]string{
		{"ID", r.ID},
		{"Time", r.Time.Local().Format("2006-01-02 15:04:05.000")},
		{"Call", r.Method + " " + r.Path},
		{"Status", strings.TrimSuffix(strconv.Itoa(r.Status)+" "+terminal.OrDash(r.Code), " -")},
		{"Took", milliseconds(r.DurationMS) + " ms"},
		{"Route", r.Route},
		{"Environment", r.Version + "/" + r.Environment},
		{"Custom domain", terminal.OrDash(r.Host)},
		{"Owner", terminal.OrDash(r.Owner)},
		{"Key", terminal.OrDash(r.Key)},
		{"Address", r.RemoteIP},
		{"Bytes in, out", fmt.Sprintf("%d, %d", r.BytesIn, r.BytesOut)},
	}
	if r.Tries > 1 {
		facts = append(facts, [2]string{"Attempts", strconv.Itoa(r.Tries)})
	}
	if r.Target != nil {
		facts = append(facts, [2]string{"Target", *r.Target})
	}
	for _, step := range r.Steps {
		facts = append(facts, [2]string{"Step " + step.Step, strings.ReplaceAll(step.Outcome, "_", " ")})
	}
	for _, header := range r.UpstreamHeaders {
		facts = append(facts, [2]string{header.Name, header.Value})
	}
	return facts
}

func followRequests(
	ctx context.Context, t terminal.Terminal, api *client.Client, found contract.Requests, in contract.RequestList,
	asJSON bool,
) error {
	show := func(r contract.Request) error {
		if asJSON {
			out := json.NewEncoder(t.Out)
			out.SetEscapeHTML(false)
			return out.Encode(r)
		}
		return printRequestLine(t, r)
	}
	// Not an id of the server, which therefore starts with the oldest call.
	after := "none"
	for _, r := range slices.Backward(found.Items) {
		if err := show(r); err != nil {
			return err
		}
		after = r.ID
	}
	in.Page = contract.Page{} // a stream has no pages
	for next, err := range api.FollowRequests(ctx, in, after) {
		if err != nil {
			return err
		}
		if next.Missed > 0 {
			fmt.Fprintf(t.Err, "%d calls arrived too fast to be shown.\n", next.Missed)
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
func printRequestLine(t terminal.Terminal, r contract.Request) error {
	_, err := fmt.Fprintf(
		t.Out, "%s  %d  %-7s  %-20s  %8.1f ms  %s %s  %s\n", r.Time.Local().Format("15:04:05.000"), r.Status,
		r.Step, terminal.OrDash(r.Code), r.DurationMS, terminal.Printable(r.Method), terminal.Printable(r.Path),
		terminal.Printable(terminal.OrDash(r.Owner)),
	)
	return err
}
