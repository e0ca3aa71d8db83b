package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
)

func newKeysUpdate(t terminal) *cobra.Command {
	var description, expires string
	var limits, ranges []string
	var ofType, unlimited, anywhere bool
	command := &cobra.Command{
		Use:   "update KEY",
		Short: "Change a key's type, expiry, limits and address ranges",
		Example: `  postern keys update key_01 --limit minute=200 --limit day=10000
  postern keys update key_01 --type-limits --cidr 203.0.113.0/24 --expires never`,
		Args: exactly("KEY"),
		RunE: func(c *cobra.Command, args []string) error {
			change := client.KeyChange{}
			own, err := readLimits(limits)
			if err != nil {
				return err
			}
			switch {
			case own != nil && (ofType || unlimited), ofType && unlimited:
				return usageError{"--limit, --type-limits and --no-limits contradict each other"}
			case own != nil:
				change["limits"] = own
			case ofType:
				change["limits"] = nil
			case unlimited:
				change["limits"] = map[string]int64{}
			}
			if anywhere && len(ranges) > 0 {
				return usageError{"--cidr and --anywhere contradict each other"}
			}
			if anywhere || len(ranges) > 0 {
				change["allowed_cidrs"] = append([]string{}, ranges...)
			}
			if c.Flags().Changed("description") {
				change["description"] = description
			}
			if c.Flags().Changed("expires") {
				change["expires_at"] = nil
				if expires != "never" {
					if change["expires_at"], err = readExpiry(expires, time.Now()); err != nil {
						return err
					}
				}
			}
			if len(change) == 0 {
				return usageError{"nothing to change: give --limit, --cidr, --expires or --description"}
			}
			return changeKey(t, c, args[0], change)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&limits, "limit", nil, "calls that a window admits, as WINDOW=CALLS; together they replace "+
		"the limits there are")
	flags.BoolVar(&ofType, "type-limits", false, "use the limits of the key type again")
	flags.BoolVar(&unlimited, "no-limits", false, "no limits, even if the key type has some")
	flags.StringSliceVar(&ranges, "cidr", nil, "address range that the key may be used from; together they replace "+
		"the ranges there are")
	flags.BoolVar(&anywhere, "anywhere", false, "remove the address ranges: the key may be used from any address")
	flags.StringVar(&expires, "expires", "", "when the key ends: a time, a time from now such as 90d, or never")
	flags.StringVar(&description, "description", "", "what the key is for")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func changeKey(t terminal, c *cobra.Command, id string, change client.KeyChange) error {
	s, err := openSession(t, c)
	if err != nil {
		return err
	}
	k, err := onKey(c.Context(), s, id, func(ctx context.Context, api caller) (client.Key, error) {
		return api.UpdateKey(ctx, id, "", change)
	})
	if err != nil {
		return err
	}
	if wantsJSON(c) {
		return printJSON(t.out, k)
	}
	_, err = fmt.Fprintf(
		t.out, "%s of %s is changed. Limits: %s (from: %s).\n", k.ID, printable(k.Owner),
		limitsText(k.EffectiveLimits), k.LimitsFrom,
	)
	return err
}
