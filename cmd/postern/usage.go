package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
)

// groupings are the values of --by. A wrong one is a usage error before a request is sent.
var groupings = []string{"hour", "day", "environment", "owner", "key", "route", "status_class", "tenant"}

func newUsage(t terminal) *cobra.Command {
	var q client.UsageQuery
	var from, to string
	command := &cobra.Command{
		Use:   "usage PROJECT",
		Short: "Sum up the calls of a project",
		Long: `Sum up the calls of a project, by default those of the last 24 hours. Times are
rounded out to whole hours. Bytes are those of bodies. How long half and 95 of 100
calls took is in milliseconds, until the end of the response; it is measured by hour,
day, environment and route.`,
		Example: `  postern usage shop --by owner --by status_class
  postern usage shop --by route --from 30d`,
		Args: exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			for _, by := range q.GroupBy {
				if !slices.Contains(groupings, by) {
					return usageError{fmt.Sprintf("--by %q is none of %s", by, strings.Join(groupings, ", "))}
				}
			}
			var err error
			if q.From, err = readPast("from", from, time.Now()); err != nil {
				return err
			}
			if q.To, err = readPast("to", to, time.Now()); err != nil {
				return err
			}
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			u, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.Usage, error) {
				return api.Usage(ctx, args[0], q)
			})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, u)
			}
			return printUsage(t, u)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&q.GroupBy, "by", nil, "sum up by each "+strings.Join(groupings, ", ")+"; may be repeated")
	flags.StringVar(&from, "from", "", "begin: a time such as 2030-01-31T12:00:00Z, or how long ago, such as 7d (24 "+
		"hours before --to by default)")
	flags.StringVar(&to, "to", "", "end, in the same forms as --from (default: now)")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// readPast parses a time, or a duration before now; it returns the zero time for "".
func readPast(flag, s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, nil
	}
	if d, err := readDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, usageError{fmt.Sprintf("--%s %q is neither a time such as 2030-01-31T12:00:00Z nor how long "+
		"ago, such as 7d", flag, s)}
}

func printUsage(t terminal, u client.Usage) error {
	fmt.Fprintf(t.out, "From %s to %s\n\n", when(&u.From), when(&u.To))
	return table(t.out, func(row func(...string)) {
		var head []string
		for _, by := range u.GroupBy {
			head = append(head, strings.ToUpper(strings.ReplaceAll(by, "_", " ")))
		}
		head = append(head, "CALLS", "BYTES IN", "BYTES OUT")
		measured := slices.ContainsFunc(u.Items, func(g client.UsageGroup) bool { return g.Latency != nil })
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

func latencyCells(l *client.UsageLatency) []string {
	if l == nil {
		return []string{"-", "-"}
	}
	ms := func(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) }
	return []string{ms(l.Total.P50), ms(l.Total.P95)}
}

func sumCells(s client.UsageSums) []string {
	return []string{fmt.Sprint(s.Calls), fmt.Sprint(s.BytesIn), fmt.Sprint(s.BytesOut)}
}

// groupCell formats the value that a group has in common, "-" for none.
func groupCell(by string, g client.UsageGroup) string {
	switch by {
	case "hour":
		return when(g.Hour)
	case "day":
		return orDash(g.Day)
	case "environment":
		return strings.TrimSpace(g.Environment.Version + " " + g.Environment.Name)
	case "owner":
		return orDash(g.Owner)
	case "key":
		return orDash(g.Key)
	case "route":
		return orDash(g.Route)
	case "tenant":
		return orDash(&g.Tenant.Name)
	}
	return orDash(g.StatusClass)
}

func orDash(s *string) string {
	if s == nil || *s == "" {
		return "-"
	}
	return *s
}
