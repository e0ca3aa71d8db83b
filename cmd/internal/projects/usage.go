package projects

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newUsage(t terminal.Terminal) *cobra.Command {
	show := cli.OperationCommand(t, cli.AsProject, contract.GetUsage,
		func(_ contract.UsageQuery, u contract.Usage) error { return printUsage(t, u) })
	show.Long = `Show a project's usage over a period, by default the last 24 hours. The period is
extended to whole hours. Bytes are the sizes of request and response bodies. P50 and P95
are latencies in milliseconds, measured to the end of the response. They are available
unless you group by owner, key, status_class or tenant.`
	show.Example += "\n  postern usage show shop --group-by route --from 30d"
	return terminal.Family("usage", "Show a project's usage", show)
}

func printUsage(t terminal.Terminal, u contract.Usage) error {
	fmt.Fprintf(t.Out, "From %s to %s (UTC)\n\n", inUTC(u.From), inUTC(u.To))
	return terminal.Table(t.Out, func(row func(...string)) {
		var head []string
		for _, by := range u.GroupBy {
			head = append(head, strings.ToUpper(strings.ReplaceAll(by, "_", " ")))
		}
		head = append(head, "CALLS", "BYTES IN", "BYTES OUT")
		measured := slices.ContainsFunc(u.Items, func(g contract.UsageGroup) bool { return g.Latency != nil })
		if measured {
			head = append(head, "P50 MS", "P95 MS")
		}
		row(head...)
		for _, g := range u.Items {
			var cells []string
			for _, by := range u.GroupBy {
				cells = append(cells, groupCell(by, g))
			}
			cells = append(cells, sumCells(g.UsageSums)...)
			if measured {
				cells = append(cells, latencyCells(g.Latency)...)
			}
			row(cells...)
		}
		if len(u.GroupBy) > 0 {
			row(append(append([]string{"total"}, make([]string, len(u.GroupBy)-1)...), sumCells(u.Total)...)...)
		}
	})
}

// inUTC formats a time like the days of usage, which are in UTC.
func inUTC(at time.Time) string { return at.UTC().Format("2006-01-02 15:04") }

func latencyCells(l *contract.UsageLatency) []string {
	if l == nil {
		return []string{"-", "-"}
	}
	return []string{milliseconds(l.Total.P50), milliseconds(l.Total.P95)}
}

func milliseconds(ms contract.Milliseconds) string {
	return strconv.FormatFloat(float64(ms), 'f', 1, 64)
}

func sumCells(s contract.UsageSums) []string {
	return []string{humanize.Comma(s.Calls), humanize.Comma(s.BytesIn), humanize.Comma(s.BytesOut)}
}

// groupCell formats the value that a group has in common, "-" for none.
func groupCell(by string, g contract.UsageGroup) string {
	switch by {
	case contract.ByHour:
		return inUTC(*g.Hour)
	case contract.ByDay:
		return terminal.OrDash(g.Day)
	case contract.ByEnvironment:
		return strings.TrimSpace(g.Environment.Version + " " + g.Environment.Name)
	case contract.ByOwner:
		return terminal.OrDash(g.Owner)
	case contract.ByKey:
		return terminal.OrDash(g.Key)
	case contract.ByRoute:
		return terminal.OrDash(g.Route)
	case contract.ByTenant:
		return terminal.OrDash(&g.Tenant.Name)
	}
	return terminal.OrDash(g.StatusClass)
}
