package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
)

// testWait is how long webhooks test waits for the outcome: longer than one attempt may take.
const testWait = 15 * time.Second

func newWebhooksTest(t terminal) *cobra.Command {
	command := webhooksCommand(
		t,
		"test WEBHOOK",
		"Send a test event and print what the receiver answers",
		exactly("WEBHOOK"),
		func(c *cobra.Command, api caller, args []string) error {
			d, err := api.TestWebhook(c.Context(), args[0])
			if err != nil {
				return err
			}
			if d, err = awaitDelivery(c.Context(), api, d); err != nil {
				return err
			}
			if err := printDelivery(t, c, d); err != nil {
				return err
			}
			if d.State == "failed" {
				return fmt.Errorf("the test event was not delivered: %s", orEmpty(d.LastError))
			}
			return nil
		},
	)
	addJSONFlag(command)
	return command
}

// awaitDelivery returns a delivery once it has finished, or as it is after testWait.
func awaitDelivery(ctx context.Context, api caller, d client.Delivery) (client.Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, testWait)
	defer cancel()
	for d.State == "pending" {
		select {
		case <-ctx.Done():
			return d, nil
		case <-time.After(200 * time.Millisecond):
		}
		now, err := api.Delivery(ctx, d.Webhook, d.ID)
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

func newWebhooksDelivery(t terminal) *cobra.Command {
	command := webhooksCommand(
		t,
		"delivery WEBHOOK DELIVERY",
		"Show what was sent and what the receiver answered",
		exactly("WEBHOOK", "DELIVERY"),
		func(c *cobra.Command, api caller, args []string) error {
			d, err := api.Delivery(c.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			return printDelivery(t, c, d)
		},
	)
	addJSONFlag(command)
	return command
}

func printDelivery(t terminal, c *cobra.Command, d client.Delivery) error {
	if wantsJSON(c) {
		return printJSON(t.out, d)
	}
	return details(t.out, func(row func(...string)) {
		row("Delivery", d.ID)
		row("Event", d.Event)
		row("State", d.State)
		row("Attempts", fmt.Sprint(d.Attempts))
		if d.NextAttempt != nil {
			row("Next attempt", when(d.NextAttempt))
		}
		row("Payload", string(d.Payload))
		row("Status", statusOf(d))
		if d.LastError != nil {
			row("Error", *d.LastError)
		}
		row("Answer", strings.TrimSpace(d.LastAnswer))
	})
}

func newWebhooksDeliveries(t terminal) *cobra.Command {
	var options client.ListOptions
	command := webhooksCommand(
		t,
		"deliveries WEBHOOK",
		"List a webhook's deliveries, newest first",
		exactly("WEBHOOK"),
		func(c *cobra.Command, api caller, args []string) error {
			list, err := collect(api.Deliveries(c.Context(), args[0], options))
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSONList(t.out, list)
			}
			return table(t.out, func(row func(...string)) {
				row("ID", "TIME", "EVENT", "STATE", "ATTEMPTS", "STATUS", "WHY")
				for _, d := range list {
					row(
						d.ID, when(&d.CreatedAt), d.Event, d.State, fmt.Sprint(d.Attempts), statusOf(d),
						orEmpty(d.LastError),
					)
				}
			})
		},
	)
	sortFlag(command, &options.Sort, "created")
	command.Flags().StringVar(&options.State, "state", "", "only those that are pending, delivered or failed")
	command.Flags().StringVar(&options.Event, "event", "", "only those of this event, such as key.frozen")
	addJSONFlag(command)
	return command
}

func statusOf(d client.Delivery) string {
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

func newWebhooksRedeliver(t terminal) *cobra.Command {
	return webhooksCommand(
		t,
		"redeliver WEBHOOK DELIVERY",
		"Send an event again",
		exactly("WEBHOOK", "DELIVERY"),
		func(c *cobra.Command, api caller, args []string) error {
			d, err := api.Redeliver(c.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			fmt.Fprintf(t.out, "%s is sent again.\n", d.ID)
			return nil
		},
	)
}
