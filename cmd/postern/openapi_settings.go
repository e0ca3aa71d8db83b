package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"postern/client"
)

func newOpenAPISettings(t terminal) *cobra.Command {
	var validate, publish string
	command := &cobra.Command{
		Use:   "settings PROJECT VERSION",
		Short: "Show or change whether requests are validated, and whether the gateway publishes the document",
		Long: "Show or change whether requests are validated against the OpenAPI document of a version, and whether " +
			"the\ngateway publishes the document as openapi.json. What no flag names stays as it is.",
		Example: "  postern openapi settings shop 1.0.0 --validate report\n" +
			"  postern openapi settings shop 1.0.0 --validate enforce --publish public",
		Args: exactly("PROJECT", "VERSION"),
	}
	command.Flags().StringVar(&validate, "validate", "", "off; report: count and forward requests that do not match; "+
		"enforce: answer them with 422")
	command.Flags().StringVar(&publish, "publish", "",
		"off; callers: for who may call openapi.json; public: for everyone")
	return onDocument(t, command,
		func(c *cobra.Command, args []string) func(context.Context, caller) (client.OpenAPISettings, error) {
			return func(ctx context.Context, api caller) (client.OpenAPISettings, error) {
				found, err := api.OpenAPISettings(ctx, args[0], args[1])
				if err != nil || !c.Flags().Changed("validate") && !c.Flags().Changed("publish") {
					return found, err
				}
				if c.Flags().Changed("validate") {
					found.Validation = validate
				}
				if c.Flags().Changed("publish") {
					found.Publication = publish
				}
				return api.SetOpenAPISettings(ctx, args[0], args[1], found)
			}
		}, func(found client.OpenAPISettings) error { return printOpenAPISettings(t, found) })
}

func printOpenAPISettings(t terminal, found client.OpenAPISettings) error {
	err := table(t.out, func(row func(...string)) {
		row("Validation", found.Validation)
		row("Publication", found.Publication)
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
	return onDocument(t, &cobra.Command{
		Use:   "invalid PROJECT VERSION",
		Short: "List the calls of the last 30 days that did not match the document and were forwarded",
		Args:  exactly("PROJECT", "VERSION"),
	}, func(_ *cobra.Command, args []string) func(context.Context, caller) ([]client.InvalidRequest, error) {
		return func(ctx context.Context, api caller) ([]client.InvalidRequest, error) {
			return api.InvalidRequests(ctx, args[0], args[1])
		}
	}, func(found []client.InvalidRequest) error {
		if len(found) == 0 {
			_, err := fmt.Fprintln(t.out, "Validation would have refused no call.")
			return err
		}
		return table(t.out, func(row func(...string)) {
			row("OPERATION", "CALLS", "LAST", "WHY")
			for _, one := range found {
				row(one.Operation, strconv.FormatInt(one.Calls, 10), one.LastAt.Format("2006-01-02 15:04"), one.Problem)
			}
		})
	})
}
