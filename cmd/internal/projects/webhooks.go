package projects

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newWebhooks(t terminal.Terminal) *cobra.Command {
	shown := func(_ contract.WebhookPath, w contract.Webhook) error { return printWebhook(t, w) }
	return terminal.Family("webhooks",
		"Manage webhooks",
		cli.ListCommand(t, cli.AsPerson, contract.ListWebhooks, []string{"ID", "STATE", "URL", "EVENTS", "DESCRIPTION"},
			func(w contract.Webhook) []string {
				return []string{w.ID, webhookState(w), w.URL, eventsOf(w), w.Description}
			}),
		cli.OperationCommand(t, cli.AsPerson, contract.CreateWebhook,
			func(_ contract.WebhookCreation, w contract.WebhookWithSecret) error {
				return printWebhookSecret(t, w)
			}),
		cli.OperationCommand(t, cli.AsPerson, contract.GetWebhook, shown),
		cli.OperationCommand(t, cli.AsPerson, contract.UpdateWebhook,
			func(_ contract.WebhookUpdate, w contract.Webhook) error {
				fmt.Fprintf(t.Out, "%s is %s.\n", w.ID, webhookState(w))
				return nil
			}),
		cli.OperationCommand(t, cli.AsPerson, contract.RotateWebhook,
			func(_ contract.WebhookRotation, w contract.WebhookWithSecret) error {
				return printWebhookSecret(t, w)
			}),
		cli.OperationCommand(t, cli.AsPerson, contract.DeleteWebhook,
			func(in contract.WebhookPath, _ contract.None) error {
				fmt.Fprintf(t.Out, "Deleted %s.\n", in.Webhook)
				return nil
			},
		),
		newWebhooksTest(t),
		cli.ListCommand(t, cli.AsPerson, contract.ListDeliveries,
			[]string{"ID", "TIME", "EVENT", "STATE", "ATTEMPTS", "STATUS", "WHY"},
			func(d contract.Delivery) []string {
				return []string{d.ID, terminal.When(&d.CreatedAt), d.Event, d.State, fmt.Sprint(d.Attempts),
					statusOf(d),
					orEmpty(d.LastError),
				}
			}),
		cli.OperationCommand(t, cli.AsPerson, contract.GetDelivery,
			func(_ contract.DeliveryPath, d contract.Delivery) error {
				return printDelivery(t, d)
			},
		),
		cli.OperationCommand(t, cli.AsPerson, contract.Redeliver,
			func(_ contract.DeliveryPath, d contract.Delivery) error {
				fmt.Fprintf(t.Out, "Sent %s again.\n", d.ID)
				return nil
			},
		),
	)
}

func eventsOf(w contract.Webhook) string {
	if w.HasAllEvents() {
		return "all"
	}
	return strings.Join(w.Events, ", ")
}

func webhookState(w contract.Webhook) string {
	switch {
	case w.DisabledReason != nil:
		return "off: " + *w.DisabledReason
	case !w.Enabled:
		return "off"
	case w.FailingSince != nil:
		return "failing since " + terminal.When(w.FailingSince)
	}
	return "on"
}

func printWebhook(t terminal.Terminal, w contract.Webhook) error {
	return terminal.Details(t.Out, func(row func(...string)) {
		row("Webhook", w.ID)
		row("URL", w.URL)
		row("State", webhookState(w))
		row("Events", eventsOf(w))
		row("Description", w.Description)
		row("Team", w.Team)
		row("Created", terminal.When(&w.CreatedAt))
		if w.OldSecretExpiresAt != nil {
			row("Old secret", "also signs deliveries until "+terminal.When(w.OldSecretExpiresAt))
		}
	})
}

func printWebhookSecret(t terminal.Terminal, w contract.WebhookWithSecret) error {
	events := english.WordSeries(w.Events, "and")
	if w.HasAllEvents() {
		events = "all events"
	}
	fmt.Fprintf(t.Out, "%s sends %s to %s.\n\n  %s\n\nThis secret signs the deliveries (Standard Webhooks). "+
		"Copy it now. You won't see it again.\n",
		w.ID, events, terminal.Printable(w.URL), w.Secret.Reveal())
	if w.OldSecretExpiresAt != nil {
		fmt.Fprintf(t.Out, "The old secret also signs deliveries until %s.\n", terminal.When(w.OldSecretExpiresAt))
	}
	fmt.Fprintf(t.Out, "To send a test event, run:\n  postern webhooks test %s\n", w.ID)
	return nil
}

// testWait is how long webhooks test waits for the outcome: longer than one attempt may take.
const testWait = 15 * time.Second

func newWebhooksTest(t terminal.Terminal) *cobra.Command {
	var in contract.WebhookPath
	op := contract.TestWebhook.Operation
	op.Summary = "Send a test event and show the response"
	op.Doc = "Queues a webhook.test event, which the receiver can ignore, and waits up to 15 seconds for its " +
		"delivery. The exit code is 1 if the delivery fails."
	command := cli.RequestCommand(t, cli.AsPerson, op, &in, func(c *cobra.Command, api *client.Client) error {
		d, err := client.Do(c.Context(), api, contract.TestWebhook, in)
		if err != nil {
			return err
		}
		if d, err = awaitDelivery(c.Context(), api, d); err != nil {
			return err
		}
		if terminal.WantsJSON(c) {
			err = terminal.PrintJSON(t.Out, d)
		} else {
			err = printDelivery(t, d)
		}
		if err == nil && d.State == contract.DeliveryFailed {
			err = fmt.Errorf("the test event wasn't delivered: %s", orEmpty(d.LastError))
		}
		return err
	})
	terminal.AddJSONFlag(command)
	return command
}

// awaitDelivery returns a delivery once it has finished, or as it is after testWait.
func awaitDelivery(ctx context.Context, api *client.Client, d contract.Delivery) (contract.Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, testWait)
	defer cancel()
	path := contract.DeliveryPath{WebhookPath: contract.WebhookPath{Webhook: d.Webhook}, Delivery: d.ID}
	for d.State == contract.DeliveryPending {
		select {
		case <-ctx.Done():
			return d, nil
		case <-time.After(200 * time.Millisecond):
		}
		now, err := client.Do(ctx, api, contract.GetDelivery, path)
		if ctx.Err() != nil {
			return d, nil
		}
		if err != nil {
			return d, err
		}
		d = now
	}
	return d, nil
}

func printDelivery(t terminal.Terminal, d contract.Delivery) error {
	return terminal.Details(t.Out, func(row func(...string)) {
		row("Delivery", d.ID)
		row("Event", d.Event)
		row("State", d.State)
		row("Attempts", fmt.Sprint(d.Attempts))
		if d.NextAttemptAt != nil {
			row("Next attempt", terminal.When(d.NextAttemptAt))
		}
		row("Payload", string(d.Payload))
		row("Status", statusOf(d))
		if d.LastError != nil {
			row("Error", *d.LastError)
		}
		row("Response", strings.TrimSpace(d.LastAnswer))
	})
}

func statusOf(d contract.Delivery) string {
	if d.LastStatus == nil {
		return "-"
	}
	return fmt.Sprint(*d.LastStatus)
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
