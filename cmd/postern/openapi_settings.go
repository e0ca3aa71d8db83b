package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

func newOpenAPISettings(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "settings PROJECT VERSION",
		Short: "Show or change whether requests are validated, and whether the gateway publishes the document",
		Long: "Show or change whether requests are validated against the OpenAPI document of a version, and whether " +
			"the\ngateway publishes the document as openapi.json. What no flag names stays as it is.",
		Example: "  postern openapi settings shop 1.0.0 --validation report\n" +
			"  postern openapi settings shop 1.0.0 --validation enforce --publication public",
		Args: exactly("PROJECT", "VERSION"),
	}
	replace := valueFlags[contract.OpenAPISettings](command)
	command.RunE = func(c *cobra.Command, args []string) error {
		return asProject(t, c, func(api *client.Client) error {
			path := contract.VersionPath{ProjectPath: contract.ProjectPath{Project: args[0]}, Version: args[1]}
			found, err := client.Do(c.Context(), api, contract.GetOpenAPISettings, path)
			if err == nil && replace(&found.OpenAPISettings) == nil { // some flag is given
				found, err = client.Do(c.Context(), api, contract.SetOpenAPISettings, contract.OpenAPISettingsUpdate{
					VersionPath: path, Condition: contract.Condition{IfMatch: found.ETag}, Body: found.OpenAPISettings,
				})
			}
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, found)
			}
			return printOpenAPISettings(t, found)
		})
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func printOpenAPISettings(t terminal, found contract.SavedOpenAPISettings) error {
	validation, _ := found.Validation.MarshalText()
	publication, _ := found.Publication.MarshalText()
	err := table(t.out, func(row func(...string)) {
		row("Validation", string(validation))
		row("Publication", string(publication))
	})
	if err != nil || len(found.Unchecked) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(t.out, "\nRequests are not checked against:"); err != nil {
		return err
	}
	return table(t.out, func(row func(...string)) {
		for _, one := range found.Unchecked {
			row(one.At, one.Reason)
		}
	})
}

func newOpenAPIInvalid(t terminal) *cobra.Command {
	command := operationCommand(t, asProject, contract.ListInvalidRequests,
		func(_ contract.VersionPath, found contract.List[contract.InvalidRequest]) error {
			if len(found.Items) == 0 {
				_, err := fmt.Fprintln(t.out, "Validation would have refused no call.")
				return err
			}
			return table(t.out, func(row func(...string)) {
				row("OPERATION", "CALLS", "LAST", "WHY")
				for _, one := range found.Items {
					row(one.Operation, strconv.FormatInt(one.Calls, 10), one.LastAt.Format("2006-01-02 15:04"),
						one.Problem)
				}
			})
		})
	command.Short = "List the calls of the last 30 days that did not match the document and were forwarded"
	return command
}
