package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
)

func newVersions(t terminal) *cobra.Command {
	return family("versions", "List, add, change, delete and test the versions of a project",
		listCommand(t, asProject, contract.ListVersions, []string{"VERSION", "ACCESS", "ENVIRONMENTS"},
			func(v contract.Version) []string {
				return []string{v.Name, accessOf(v.RequestsAuth), environmentNames(v)}
			}),
		newVersionsCreate(t),
		operationCommand(t, asProject, contract.GetVersion,
			func(_ contract.VersionPath, v contract.Version) error { return printVersion(t, v) }),
		newVersionsUpdate(t), newVersionsDelete(t), newVersionsTestIssuer(t), newVersionsTestIntrospection(t))
}

func newVersionsCreate(t terminal) *cobra.Command {
	var in contract.VersionCreation
	var environments []string
	named := func() error {
		in.Body.Environments = map[string]contract.EnvironmentTarget{}
		for _, pair := range environments {
			name, target, ok := strings.Cut(pair, "=")
			if !ok {
				return usageError(fmt.Sprintf("--environment %q is not NAME=URL", pair))
			}
			in.Body.Environments[name] = contract.EnvironmentTarget{Target: target}
		}
		return nil
	}
	command := filledCommand(t, asProject, contract.CreateVersion, &in, named,
		func(v contract.Version) error { return printVersion(t, v) })
	command.Long = "Add a version as a copy of another one. " + contract.CreateVersion.Doc
	command.Flags().StringArrayVar(&environments, "environment", nil, "environment of the new version, as NAME=URL; "+
		"replaces those of the copied version")
	return command
}

func newVersionsUpdate(t terminal) *cobra.Command {
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
	command := filledCommand(t, asProject, contract.UpdateVersion, &in, tokens, func(v contract.Version) error {
		err := printVersion(t, v)
		printWarnings(t.out, v.Warnings)
		return err
	})
	command.Flags().StringArrayVar(&issuers, "token-issuer", nil, tokenIssuerHelp)
	command.Flags().StringVar(&endpoint, "introspection", "", introspectionHelp)
	command.Flags().StringVar(&secretFile, "introspection-secret-file", "", introspectionSecretHelp)
	return command
}

func printVersion(t terminal, v contract.Version) error {
	return details(t.out, func(row func(...string)) { versionRows(row, v) })
}

const removalHelp = `What called it in the last hour is shown first, by owner. API keys that are valid
for nothing else are revoked. If there are such calls or keys, the command asks
before it continues; without a terminal it needs --yes.`

func newVersionsDelete(t terminal) *cobra.Command {
	var in contract.VersionRemoval
	var yes bool
	op := contract.DeleteVersion.Operation
	command := requestCommand(t, asProject, op, &in, func(c *cobra.Command, api *client.Client) error {
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
		_, err = fmt.Fprintf(t.out, "Version %s of %s is deleted.\n", printable(in.Version), printable(in.Project))
		return err
	})
	command.Long = command.Short + ".\n\n" + removalHelp
	addYesFlag(command, &yes)
	return command
}

func newEnvironments(t terminal) *cobra.Command {
	answers := func(e contract.Environment) error {
		_, err := fmt.Fprintf(t.out, "%s answers at %s and forwards to %s.\n", e.Name, e.URL, e.Target)
		return err
	}
	return family("environments", "List, add, change and delete the environments of a version",
		listCommand(t, asProject, contract.ListEnvironments, []string{"ENVIRONMENT", "ADDRESS", "FORWARDS TO"},
			func(e contract.Environment) []string { return []string{e.Name, e.URL, e.Target} }),
		operationCommand(t, asProject, contract.CreateEnvironment,
			func(_ contract.EnvironmentCreation, e contract.Environment) error { return answers(e) }),
		factsCommand(t, asProject, contract.GetEnvironment, func(e contract.Environment) [][2]string {
			return [][2]string{{"Environment", e.Name}, {"Id", e.ID}, {"Address", e.URL}, {"Forwards to", e.Target}}
		}),
		operationCommand(t, asProject, contract.UpdateEnvironment,
			func(_ contract.EnvironmentUpdate, e contract.Environment) error { return answers(e) }),
		newEnvironmentsDelete(t))
}

func newEnvironmentsDelete(t terminal) *cobra.Command {
	var in contract.EnvironmentRemoval
	var yes bool
	op := contract.DeleteEnvironment.Operation
	command := requestCommand(t, asProject, op, &in, func(c *cobra.Command, api *client.Client) error {
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
		_, err = fmt.Fprintf(t.out, "Environment %s of version %s of %s is deleted.\n", printable(in.Environment),
			printable(in.Version), printable(in.Project))
		return err
	})
	command.Long = command.Short + ".\n\n" + removalHelp
	addYesFlag(command, &yes)
	return command
}

func addYesFlag(c *cobra.Command, yes *bool) {
	c.Flags().BoolVar(yes, "yes", false, "do not ask")
}

// confirmRemoval shows what a removal stops, and asks if it stops anything. It reports
// whether the removal is confirmed.
func confirmRemoval(t terminal, stops contract.Callers, yes bool) (bool, error) {
	if stops.Idle() {
		return yes, nil
	}
	if err := printCallers(t, stops); err != nil || yes {
		return yes, err
	}
	if !t.asks() {
		return false, fault.New(fault.Conflict, "still_called", "not deleted: give --yes to delete it anyway")
	}
	if !answered(t, "Delete it? [y/N] ", "y") {
		return false, fault.New(fault.Conflict, "still_called", "not deleted")
	}
	return true, nil
}

func printCallers(t terminal, found contract.Callers) error {
	if found.Keys > 0 {
		fmt.Fprintf(t.err, "API keys that are valid for nothing else and are revoked: %d\n", found.Keys)
	}
	if len(found.Hosts) > 0 {
		fmt.Fprintf(t.err, "Custom domains that end: %s\n", strings.Join(found.Hosts, ", "))
	}
	if found.Calls == 0 {
		return nil
	}
	fmt.Fprintf(t.err, "Calls since %s: %d\n", when(&found.Since), found.Calls)
	return table(t.err, func(row func(...string)) {
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
