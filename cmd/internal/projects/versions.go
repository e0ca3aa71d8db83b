package projects

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/fault"
)

func newVersions(t terminal.Terminal) *cobra.Command {
	return terminal.Family("versions", "List, add, change, delete and test the versions of a project",
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
	named := func() error {
		in.Body.Environments = map[string]contract.EnvironmentTarget{}
		for _, pair := range environments {
			name, target, ok := strings.Cut(pair, "=")
			if !ok {
				return terminal.UsageError(fmt.Sprintf("--environment %q is not NAME=URL", pair))
			}
			in.Body.Environments[name] = contract.EnvironmentTarget{Target: target}
		}
		return nil
	}
	command := cli.FilledCommand(t, cli.AsProject, contract.CreateVersion, &in, named,
		func(v contract.Version) error { return printVersion(t, v) })
	command.Long = "Add a version as a copy of another one. " + contract.CreateVersion.Doc
	command.Flags().StringArrayVar(&environments, "environment", nil, "environment of the new version, as NAME=URL; "+
		"replaces those of the copied version")
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
	command.Flags().StringArrayVar(&issuers, "token-issuer", nil, tokenIssuerHelp)
	command.Flags().StringVar(&endpoint, "introspection", "", introspectionHelp)
	command.Flags().StringVar(&secretFile, "introspection-secret-file", "", introspectionSecretHelp)
	return command
}

func printVersion(t terminal.Terminal, v contract.Version) error {
	return terminal.Details(t.Out, func(row func(...string)) { versionRows(row, v) })
}

const removalHelp = `What called it in the last hour is shown first, by owner. API keys that are valid
for nothing else are revoked. If there are such calls or keys, the command asks
before it continues; without a terminal it needs --yes.`

func newVersionsDelete(t terminal.Terminal) *cobra.Command {
	var in contract.VersionRemoval
	var yes bool
	op := contract.DeleteVersion.Operation
	command := cli.RequestCommand(t, cli.AsProject, op, &in, func(c *cobra.Command, api *client.Client) error {
		stops, err := client.Do(c.Context(), api, contract.GetVersionCallers, in.VersionPath)
		if err != nil {
			return err
		}
		if in.Confirm, err = confirmRemoval(t, stops, yes); err != nil {
			return err
		}
		if _, err := client.Do(c.Context(), api, contract.DeleteVersion, in); err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.Out, "Version %s of %s is deleted.\n", terminal.Printable(in.Version),
			terminal.Printable(in.Project))
		return err
	})
	command.Long = command.Short + ".\n\n" + removalHelp
	terminal.AddYesFlag(command, &yes)
	return command
}

func newEnvironments(t terminal.Terminal) *cobra.Command {
	answers := func(e contract.Environment) error {
		_, err := fmt.Fprintf(t.Out, "%s answers at %s and forwards to %s.\n", e.Name, e.URL, e.Target)
		return err
	}
	return terminal.Family("environments", "List, add, change and delete the environments of a version",
		cli.ListCommand(t, cli.AsProject, contract.ListEnvironments, []string{"ENVIRONMENT", "ADDRESS", "FORWARDS TO"},
			func(e contract.Environment) []string { return []string{e.Name, e.URL, e.Target} }),
		cli.OperationCommand(t, cli.AsProject, contract.CreateEnvironment,
			func(_ contract.EnvironmentCreation, e contract.Environment) error { return answers(e) }),
		cli.FactsCommand(t, cli.AsProject, contract.GetEnvironment, func(e contract.Environment) [][2]string {
			return [][2]string{{"Environment", e.Name}, {"Id", e.ID}, {"Address", e.URL}, {"Forwards to", e.Target}}
		}),
		cli.OperationCommand(t, cli.AsProject, contract.UpdateEnvironment,
			func(_ contract.EnvironmentUpdate, e contract.Environment) error { return answers(e) }),
		newEnvironmentsDelete(t))
}

func newEnvironmentsDelete(t terminal.Terminal) *cobra.Command {
	var in contract.EnvironmentRemoval
	var yes bool
	op := contract.DeleteEnvironment.Operation
	command := cli.RequestCommand(t, cli.AsProject, op, &in, func(c *cobra.Command, api *client.Client) error {
		stops, err := client.Do(c.Context(), api, contract.GetEnvironmentCallers, in.EnvironmentPath)
		if err != nil {
			return err
		}
		if in.Confirm, err = confirmRemoval(t, stops, yes); err != nil {
			return err
		}
		if _, err := client.Do(c.Context(), api, contract.DeleteEnvironment, in); err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.Out, "Environment %s of version %s of %s is deleted.\n",
			terminal.Printable(in.Environment),
			terminal.Printable(in.Version),
			terminal.Printable(in.Project),
		)
		return err
	})
	command.Long = command.Short + ".\n\n" + removalHelp
	terminal.AddYesFlag(command, &yes)
	return command
}

// confirmRemoval shows what a removal stops, and asks if it stops anything. It reports
// whether the removal is confirmed.
func confirmRemoval(t terminal.Terminal, stops contract.Callers, yes bool) (bool, error) {
	if stops.Idle() {
		return yes, nil
	}
	if err := printCallers(t, stops); err != nil || yes {
		return yes, err
	}
	if !t.Asks() {
		return false, fault.New(fault.Conflict, "still_called", "not deleted: give --yes to delete it anyway")
	}
	if !terminal.Answered(t, "Delete it? [y/N] ", "y") {
		return false, fault.New(fault.Conflict, "still_called", "not deleted")
	}
	return true, nil
}

func printCallers(t terminal.Terminal, found contract.Callers) error {
	if found.Keys > 0 {
		fmt.Fprintf(t.Err, "API keys that are valid for nothing else and are revoked: %d\n", found.Keys)
	}
	if len(found.Hosts) > 0 {
		fmt.Fprintf(t.Err, "Custom domains that end: %s\n", strings.Join(found.Hosts, ", "))
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
