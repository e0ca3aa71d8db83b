package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
)

func newWebhooks(t terminal) *cobra.Command {
	return family("webhooks", "List and change webhooks for a team's projects, keys, exports, users and groups",
		newWebhooksList(t), newWebhooksCreate(t), newWebhooksChange(t), newWebhooksRotate(t), newWebhooksDelete(t),
		newWebhooksTest(t), newWebhooksDeliveries(t), newWebhooksDelivery(t), newWebhooksRedeliver(t))
}

// webhooksCommand returns a command that acts for an account: workspace keys have no
// webhooks.
func webhooksCommand(
	t terminal, use, short string, args cobra.PositionalArgs,
	run func(c *cobra.Command, api caller, args []string) error,
) *cobra.Command {
	command := &cobra.Command{Use: use, Short: short, Args: args, RunE: func(c *cobra.Command, args []string) error {
		s, who, err := signedIn(t, c)
		if err != nil {
			return err
		}
		return s.loginOver(who, run(c, *who, args))
	}}
	addServerFlag(command)
	return command
}

func newWebhooksList(t terminal) *cobra.Command {
	var options client.ListOptions
	command := webhooksCommand(
		t,
		"list",
		"List webhooks, newest first",
		cobra.NoArgs,
		func(c *cobra.Command, api caller, _ []string) error {
			list, err := collect(api.Webhooks(c.Context(), options))
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSONList(t.out, list)
			}
			return table(t.out, func(row func(...string)) {
				row("ID", "STATE", "URL", "EVENTS", "DESCRIPTION")
				for _, w := range list {
					row(w.ID, webhookState(w), w.URL, strings.Join(w.Events, ", "), w.Description)
				}
			})
		},
	)
	listFlags(command, &options, "URL or description", "created", "url")
	command.Flags().StringVar(&options.State, "state", "", "only those that are on, off or failing")
	addJSONFlag(command)
	return command
}

func webhookState(w client.Webhook) string {
	switch {
	case w.DisabledReason != nil:
		return "off: " + *w.DisabledReason
	case !w.Enabled:
		return "off"
	case w.FailingSince != nil:
		return "failing since " + when(w.FailingSince)
	}
	return "on"
}

func newWebhooksCreate(t terminal) *cobra.Command {
	var in client.NewWebhook
	command := webhooksCommand(
		t,
		"create URL",
		"Add a webhook and print its secret",
		exactly("URL"),
		func(c *cobra.Command, api caller, args []string) error {
			in.URL = args[0]
			w, err := api.CreateWebhook(c.Context(), in)
			if err != nil {
				return err
			}
			return printSecret(t, c, w)
		},
	)
	command.Example = "  postern webhooks create https://hooks.example.com/postern --event key.created --event " +
		"key.revoked"
	command.Flags().StringArrayVar(
		&in.Events, "event", nil, "event to send, repeatable (default: all)",
	)
	command.Flags().StringVar(&in.Description, "description", "", "description of the webhook")
	teamFlag(command, &in.Team)
	addJSONFlag(command)
	return command
}

func printSecret(t terminal, c *cobra.Command, w client.Webhook) error {
	if wantsJSON(c) {
		return printJSON(t.out, w)
	}
	fmt.Fprintf(t.out, "%s is told of %s.\n\n  %s\n\nThat is its secret, which signs what is sent (Standard "+
		"Webhooks). Write it down: it is not shown again.\n",
		printable(w.URL), strings.Join(w.Events, ", "), w.Secret)
	if w.OldSecretExpiresAt != nil {
		fmt.Fprintf(t.out, "The old one signs beside it until %s.\n", when(w.OldSecretExpiresAt))
	}
	return nil
}

func newWebhooksChange(t terminal) *cobra.Command {
	var url, description string
	var events []string
	var on, off bool
	command := webhooksCommand(
		t,
		"change WEBHOOK",
		"Change a webhook, or turn it on or off",
		exactly("WEBHOOK"),
		func(c *cobra.Command, api caller, args []string) error {
			var change client.WebhookChange
			if c.Flags().Changed("url") {
				change.URL = &url
			}
			if c.Flags().Changed("description") {
				change.Description = &description
			}
			if c.Flags().Changed("event") {
				change.Events = &events
			}
			switch {
			case on && off:
				return usageError{"--on and --off contradict each other"}
			case on || off:
				change.Enabled = &on
			}
			if change == (client.WebhookChange{}) {
				return usageError{"nothing to change: give --url, --description, --event, --on or --off"}
			}
			w, err := api.UpdateWebhook(c.Context(), args[0], change)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, w)
			}
			fmt.Fprintf(t.out, "%s is %s.\n", w.ID, webhookState(w))
			return nil
		},
	)
	command.Flags().StringVar(&url, "url", "", "URL that receives the events")
	command.Flags().StringVar(&description, "description", "", "description of the webhook")
	command.Flags().StringArrayVar(
		&events, "event", nil, "event to send, repeatable; replaces the earlier ones",
	)
	command.Flags().BoolVar(&on, "on", false, "turn it on")
	command.Flags().BoolVar(&off, "off", false, "turn it off")
	addJSONFlag(command)
	return command
}

func newWebhooksRotate(t terminal) *cobra.Command {
	var overlap string
	command := webhooksCommand(
		t,
		"rotate WEBHOOK",
		"Rotate a webhook's secret",
		exactly("WEBHOOK"),
		func(c *cobra.Command, api caller, args []string) error {
			rotate := func(ctx context.Context) (client.Webhook, error) { return api.RotateWebhook(ctx, args[0], nil) }
			if c.Flags().Changed("overlap") {
				d, err := readDuration(overlap)
				if err != nil {
					return usageError{fmt.Sprintf("--overlap %q is not a duration such as 24h, 7d or 0", overlap)}
				}
				rotate = func(ctx context.Context) (client.Webhook, error) {
					return api.RotateWebhook(ctx, args[0], &d)
				}
			}
			w, err := rotate(c.Context())
			if err != nil {
				return err
			}
			return printSecret(t, c, w)
		},
	)
	command.Flags().StringVar(&overlap, "overlap", "", "how long messages carry a signature of the old secret too: 0, "+
		"or up to 30d (default: 24h)")
	addJSONFlag(command)
	return command
}

func newWebhooksDelete(t terminal) *cobra.Command {
	return webhooksCommand(
		t,
		"delete WEBHOOK",
		"Delete a webhook",
		exactly("WEBHOOK"),
		func(c *cobra.Command, api caller, args []string) error {
			if err := api.DeleteWebhook(c.Context(), args[0]); err != nil {
				return err
			}
			fmt.Fprintf(t.out, "%s is deleted.\n", args[0])
			return nil
		},
	)
}
