package projects

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newVersions(t terminal.Terminal) *cobra.Command {
	return terminal.Family("versions", "Manage the versions of a project",
		cli.ListCommand(t, cli.AsProject, contract.ListVersions, []string{"VERSION", "ACCESS", "ENVIRONMENTS"},
			func(v contract.Version) []string {
				return []string{v.Name, accessOf(v.RequestsAuth), environmentNames(v)}
			}),
		newVersionsCreate(t),
		cli.OperationCommand(t, cli.AsProject, contract.GetVersion,
			func(_ contract.VersionPath, v contract.Version) error { return printVersion(t, v) }),
		newVersionsUpdate(t), newVersionsDelete(t), newVersionsTestIssuer(t), newVersionsTestIntrospection(t))
}

func newVersionsCreate(t terminal.Terminal) *cobra.Command {
	var in contract.VersionCreation
	var environments []string
	named := func() (err error) {
		in.Body.Environments, err = environmentTargets(environments)
		return err
	}
	command := cli.FilledCommand(t, cli.AsProject, contract.CreateVersion, &in, named,
		func(v contract.Version) error { return printVersion(t, v) })
	terminal.NamePointer(command, "/environments", "--environment")
	command.Flags().StringArrayVar(&environments, "environment", nil, "environment of the new version, as `NAME=URL`. "+
		"Replaces the copied environments (repeatable)")
	return command
}

func newVersionsUpdate(t terminal.Terminal) *cobra.Command {
	var in contract.VersionUpdate
	var issuers []string
	var endpoint, secretFile string
	tokens := func() (err error) {
		if in.Body.RequestsAuth.JWT, err = tokenIssuers(issuers); err != nil {
			return err
		}
		in.Body.RequestsAuth.Opaque, err = introspection(t, endpoint, secretFile)
		return err
	}
	command := cli.FilledCommand(t, cli.AsProject, contract.UpdateVersion, &in, tokens, func(v contract.Version) error {
		err := printVersion(t, v)
		cli.PrintWarnings(t.Out, v.Warnings)
		return err
	})
	terminal.NamePointer(command, "/requests_auth/jwt", "--token-issuer")
	terminal.NamePointer(command, "/requests_auth/opaque", "--introspection")
	command.Flags().StringArrayVar(&issuers, "token-issuer", nil, tokenIssuerHelp+". Replaces all issuers, "+
		"except the one for the project's own login (repeatable)")
	command.Flags().StringVar(&endpoint, "introspection", "", introspectionHelp)
	command.Flags().StringVar(&secretFile, "introspection-secret-file", "", introspectionSecretHelp)
	return command
}

func printVersion(t terminal.Terminal, v contract.Version) error {
	return terminal.Details(t.Out, func(row func(...string)) { versionRows(row, v) })
}

const removalHelp = `The command first shows the owners that made calls in the last hour or two, and the
number of API keys that will be revoked because they aren't valid anywhere else. It then
asks for confirmation. Without a terminal, use --yes.`

func newVersionsDelete(t terminal.Terminal) *cobra.Command {
	var in contract.VersionRemoval
	var yes bool
	op := contract.DeleteVersion.Operation
	op.Deletes = "" // the command asks itself
	command := cli.RequestCommand(t, cli.AsProject, op, &in, func(c *cobra.Command, api *client.Client) error {
		stops, err := client.Do(c.Context(), api, contract.GetVersionCallers, in.VersionPath)
		if err != nil {
			return err
		}
		project, err := client.Do(c.Context(), api, contract.GetProject, in.ProjectPath)
		if err != nil {
			return err
		}
		if len(project.Versions) > 1 { // the server refuses to delete the only one
			if in.Confirm, err = confirmRemoval(t, stops, "version", in.Version, yes); err != nil {
				return err
			}
		}
		if _, err := client.Do(c.Context(), api, contract.DeleteVersion, in); err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.Out, "Deleted version %s of %s.\n", terminal.Printable(in.Version),
			terminal.Printable(in.Project))
		return err
	})
	command.Use += " [--yes]"
	command.Long = command.Short + ".\n\n" + removalHelp
	command.Example = "  postern versions delete shop 1.0.0"
	terminal.AddYesFlag(command, &yes)
	return command
}

// timeoutTitles are the flags of an environment's timeouts as titles, such as Connect timeout, by their JSON names.
func timeoutTitles() map[string]string {
	titles := map[string]string{}
	for _, m := range contract.UpdateEnvironment.Members() {
		if title := strings.ReplaceAll(m.Flag, "-", " "); title != "" {
			titles[m.Name] = strings.ToUpper(title[:1]) + title[1:]
		}
	}
	return titles
}

// retryFacts show when calls are sent again.
func retryFacts(r contract.UpstreamRetries) (rows [][2]string) {
	if r.Max != nil {
		rows = append(rows, [2]string{"Retries", strconv.Itoa(*r.Max)})
	}
	if r.On != nil && len(*r.On) > 0 {
		conditions := make([]string, len(*r.On))
		for i, c := range *r.On {
			conditions[i] = string(c)
		}
		rows = append(rows, [2]string{"Retry on", strings.Join(conditions, ", ")})
	}
	return rows
}

// targetFacts show several targets, their checks and their breaker, as far as they aren't the defaults.
func targetFacts(u contract.Upstream) (rows [][2]string) {
	for i, one := range u.Targets {
		weight := strconv.Itoa(one.WeightOrDefault())
		rows = append(rows, [2]string{"Target " + strconv.Itoa(i+1), one.URL + " (weight " + weight + ")"})
	}
	if u.Balance != nil && *u.Balance != contract.BalanceRoundRobin {
		rows = append(rows, [2]string{"Balance", string(*u.Balance)})
	}
	if !u.Checks.AreDefaults() {
		if u.Checks.Active() {
			statuses := make([]string, len(u.Checks.Statuses))
			for i, r := range u.Checks.Statuses {
				statuses[i] = string(r)
			}
			rows = append(rows, [2]string{"Check path", *u.Checks.Path},
				[2]string{"Check statuses", strings.Join(statuses, ", ")})
		}
		rows = append(rows, numberFacts("Check", u.Checks.Numbers())...)
	}
	if u.Breaker.Exists() {
		rows = append(rows, numberFacts("Breaker", u.Breaker.Numbers())...)
	}
	return rows
}

func numberFacts(of string, numbers []contract.UpstreamNumber) (rows [][2]string) {
	for _, n := range numbers {
		if n.Value == nil {
			continue
		}
		name, isTime := strings.CutSuffix(n.Name, "_ms")
		value := strconv.Itoa(*n.Value)
		if isTime {
			value = terminal.ShowDuration(time.Duration(*n.Value) * time.Millisecond)
		}
		rows = append(rows, [2]string{of + " " + strings.ReplaceAll(name, "_", " "), value})
	}
	return rows
}

func newEnvironments(t terminal.Terminal) *cobra.Command {
	titles := timeoutTitles()
	facts := func(e contract.Environment) [][2]string {
		rows := [][2]string{{"Environment", e.Name}, {"ID", e.ID}, {"Gateway URL", e.URL}, {"Forwards to", e.Target}}
		for _, one := range e.Upstream.Timeouts.Numbers() {
			if one.Value != nil {
				value := terminal.ShowDuration(time.Duration(*one.Value) * time.Millisecond)
				rows = append(rows, [2]string{titles[one.Name], value})
			}
		}
		rows = slices.Concat(rows, retryFacts(e.Upstream.Retries), targetFacts(e.Upstream))
		if e.Upstream.HTTP != "" {
			rows = append(rows, [2]string{"HTTP version", string(e.Upstream.HTTP)})
		}
		return append(rows, upstreamTLSRows(e.Upstream)...)
	}
	return terminal.Family("environments", "Manage the environments of a version",
		cli.ListCommand(t, cli.AsProject, contract.ListEnvironments,
			[]string{"ENVIRONMENT", "GATEWAY URL", "FORWARDS TO"},
			func(e contract.Environment) []string { return []string{e.Name, e.URL, e.Target} }),
		newEnvironmentsCreate(t, facts),
		cli.FactsCommand(t, cli.AsProject, contract.GetEnvironment, facts),
		cli.FactsCommand(t, cli.AsProject, contract.UpdateEnvironment, facts),
		newEnvironmentsDelete(t))
}

// newEnvironmentsCreate takes several targets instead of TARGET.
func newEnvironmentsCreate(t terminal.Terminal, facts func(contract.Environment) [][2]string) *cobra.Command {
	command := cli.FactsCommand(t, cli.AsProject, contract.CreateEnvironment, facts)
	several := func(c *cobra.Command) bool { return c.Flags().Changed("weighted-target") }
	command.Use = strings.Replace(command.Use, " TARGET", " [TARGET]", 1)
	command.Example += "\n  postern environments create shop 1.0.0 staging --weighted-target https://a.example.com=3 " +
		"--weighted-target https://b.example.com"
	check, run := command.Args, command.RunE
	command.Args = func(c *cobra.Command, args []string) error {
		switch {
		case several(c) && len(args) == 1:
			return errors.New("NAME is missing")
		case several(c) && len(args) > 3:
			return errors.New("TARGET and --weighted-target can't be combined")
		case several(c):
			args = append(args, "")
		}
		return check(c, args)
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		if several(c) {
			args = append(args, "")
		}
		return run(c, args)
	}
	return command
}

func newEnvironmentsDelete(t terminal.Terminal) *cobra.Command {
	var in contract.EnvironmentRemoval
	var yes bool
	op := contract.DeleteEnvironment.Operation
	op.Deletes = "" // the command asks itself
	command := cli.RequestCommand(t, cli.AsProject, op, &in, func(c *cobra.Command, api *client.Client) error {
		stops, err := client.Do(c.Context(), api, contract.GetEnvironmentCallers, in.EnvironmentPath)
		if err != nil {
			return err
		}
		version, err := client.Do(c.Context(), api, contract.GetVersion, in.VersionPath)
		if err != nil {
			return err
		}
		if len(version.Environments) > 1 { // the server refuses to delete the only one
			if in.Confirm, err = confirmRemoval(t, stops, "environment", in.Environment, yes); err != nil {
				return err
			}
		}
		if _, err := client.Do(c.Context(), api, contract.DeleteEnvironment, in); err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.Out, "Deleted environment %s of version %s of %s.\n",
			terminal.Printable(in.Environment),
			terminal.Printable(in.Version),
			terminal.Printable(in.Project),
		)
		return err
	})
	command.Use += " [--yes]"
	command.Long = command.Short + ".\n\n" + removalHelp
	command.Example = "  postern environments delete shop 1.0.0 staging"
	terminal.AddYesFlag(command, &yes)
	return command
}

// confirmRemoval shows what a removal stops, and asks. It reports whether what it stops is confirmed too: calls that
// arrive after the question aren't, unless yes is set.
func confirmRemoval(t terminal.Terminal, stops contract.Callers, noun, name string, yes bool) (bool, error) {
	if !stops.Idle() {
		if err := printCallers(t, stops); err != nil {
			return false, err
		}
	}
	err := cli.ConfirmDeletion(t, noun, name, yes)
	return err == nil && (yes || !stops.Idle()), err
}

func printCallers(t terminal.Terminal, found contract.Callers) error {
	if found.Keys > 0 {
		fmt.Fprintf(t.Err, "API keys that will be revoked because they aren't valid anywhere else: %d\n", found.Keys)
	}
	if len(found.Hosts) > 0 {
		fmt.Fprintf(t.Err, "Custom domains that will be deleted: %s\n", strings.Join(found.Hosts, ", "))
	}
	if found.Calls == 0 {
		return nil
	}
	fmt.Fprintf(t.Err, "Calls since %s: %d\n", terminal.When(&found.Since), found.Calls)
	return terminal.Table(t.Err, func(row func(...string)) {
		row("CALLS", "OWNER")
		for _, one := range found.Items {
			owner := one.Owner
			if owner == "" {
				owner = "(none)"
			}
			row(fmt.Sprint(one.Calls), owner)
		}
		if more := found.Owners - int64(len(found.Items)); more > 0 {
			row("", fmt.Sprintf("and %d more", more))
		}
	})
}
