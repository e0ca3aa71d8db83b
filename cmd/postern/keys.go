package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
)

func newKeys(t terminal) *cobra.Command {
	return family(
		"keys",
		"List and change API keys",
		newKeysList(t),
		newKeysCreate(t),
		newKeysUpdate(t),
		newKeysRotate(t),
		newKeysChange(
			t, "freeze", "Refuse calls with a key until it is unfrozen", "is frozen: calls with it get 403",
			(*client.Client).FreezeKey,
		),
		newKeysChange(t, "unfreeze", "Unfreeze a key", "works again", (*client.Client).UnfreezeKey),
		newKeysRevoke(t),
	)
}

func newKeysList(t terminal) *cobra.Command {
	var f client.KeyFilter
	command := &cobra.Command{
		Use:     "list PROJECT",
		Short:   "List the API keys that open a project, newest first",
		Example: `  postern keys list shop --owner billing-service --state active`,
		Args:    exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			list, err := onProject(
				c.Context(),
				s,
				args[0],
				func(ctx context.Context, api caller) ([]client.Key, error) {
					return collect(api.Keys(ctx, args[0], f))
				},
			)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSONList(t.out, list)
			}
			return table(t.out, func(row func(...string)) {
				row("ID", "KEY", "STATE", "OWNER", "TYPE", "ENVIRONMENT", "LAST USED", "EXPIRES", "DESCRIPTION")
				for _, k := range list {
					row(
						k.ID, k.Prefix+"…"+k.Last4, k.State, k.Owner, k.KeyType, environmentOf(k),
						orNever(k.LastUsedAt), orNever(k.ExpiresAt), k.Description,
					)
				}
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&f.Owner, "owner", "", "only keys of this owner")
	flags.StringVar(&f.State, "state", "", "only keys that are active, frozen, revoked or expired")
	flags.StringVar(&f.Tenant, "tenant", "", "only keys of this tenant")
	flags.StringVar(&f.KeyType, "type", "", "only keys of this type")
	flags.StringVar(&f.Environment, "env", "", "only keys that open just this environment; all for keys that open all")
	flags.StringVar(&f.Text, "search", "", "only keys whose visible part or description contains this text")
	sortFlag(command, &f.Sort, "created", "owner", "last_used")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func environmentOf(k client.Key) string {
	if k.Environment == nil {
		return "all"
	}
	return *k.Environment
}

func orNever(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return when(t)
}

func newKeysCreate(t terminal) *cobra.Command {
	var in client.NewKey
	var expires string
	var limits []string
	var unlimited bool
	command := &cobra.Command{
		Use:   "create PROJECT --owner OWNER",
		Short: "Create an API key; its secret is shown once",
		Example: `  postern keys create shop --owner billing-service --type read-only --env prod --expires 90d
  postern keys create shop --owner acme --tenant acme --limit minute=100 --limit day=5000 --cidr 203.0.113.0/24`,
		Args: exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			if in.Owner == "" {
				return usageError{"--owner is missing: the owner of the key, such as billing-service"}
			}
			var err error
			if in.ExpiresAt, err = readExpiry(expires, time.Now()); err != nil {
				return err
			}
			if in.Limits, err = readLimits(limits); err != nil {
				return usageError{err.Error()}
			}
			switch {
			case unlimited && in.Limits != nil:
				return usageError{"--limit and --no-limits contradict each other"}
			case unlimited:
				in.Limits = map[string]int64{}
			}
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			k, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.Key, error) {
				return api.CreateKey(ctx, args[0], in)
			})
			if err != nil {
				return err
			}
			return printMinted(t, c, k)
		},
	}
	flags := command.Flags()
	flags.StringVar(&in.Owner, "owner", "", "owner of the key, such as billing-service")
	flags.StringVar(&in.KeyType, "type", "", "key type (default: full)")
	flags.StringVar(&in.Environment, "env", "", "the only environment the key is valid for (default: all)")
	flags.StringVar(&expires, "expires", "", "when the key ends: a time such as 2030-01-31T12:00:00Z, or a time "+
		"from now such as 90d or 12h")
	flags.StringVar(&in.Description, "description", "", "what the key is for")
	flags.StringArrayVar(&limits, "limit", nil, "calls that a window admits, as WINDOW=CALLS, once for each of "+
		"second, minute, hour, day, month, year (default: those of the key type)")
	flags.BoolVar(&unlimited, "no-limits", false, "no limits, even if the key type has some")
	flags.StringSliceVar(&in.AllowedCIDRs, "cidr", nil, "address range that the key may be used from, once for each "+
		"(default: any)")
	flags.StringVar(&in.Tenant, "tenant", "", "tenant of the key (default: the project's own tenant)")
	flags.StringVar(&in.Product, "product", "", "the project's product; the key is valid for all its projects")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// printMinted prints a key's plaintext, which cannot be shown again.
func printMinted(t terminal, c *cobra.Command, k client.Key) error {
	if wantsJSON(c) {
		return printJSON(t.out, k)
	}
	return details(t.out, func(row func(...string)) {
		row("Key", k.Key)
		row("", "Write it down: it is not shown again.")
		row("Id", k.ID)
		row("Owner", k.Owner)
		row("Type", k.KeyType)
		row("Environment", environmentOf(k))
		row("Expires", orNever(k.ExpiresAt))
		row("Tenant", k.Tenant)
		if k.Product != nil {
			row("Product", *k.Product)
		}
		row("Limits", limitsText(k.EffectiveLimits)+" (from: "+k.LimitsFrom+")")
		if len(k.AllowedCIDRs) > 0 {
			row("May be used from", strings.Join(k.AllowedCIDRs, ", "))
		}
		if k.GraceEndsAt != nil {
			row("Old secret", "works until "+when(k.GraceEndsAt))
		}
	})
}

func newKeysRotate(t terminal) *cobra.Command {
	var grace string
	command := &cobra.Command{
		Use:   "rotate KEY",
		Short: "Rotate a key: replace its secret; the new one is shown once",
		Args:  exactly("KEY"),
		RunE: func(c *cobra.Command, args []string) error {
			var period *time.Duration
			if c.Flags().Changed("grace") {
				d, err := readDuration(grace)
				if err != nil {
					return usageError{fmt.Sprintf("--grace %q is not a duration such as 24h, 7d or 0", grace)}
				}
				period = &d
			}
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			k, err := onKey(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.Key, error) {
				return api.RotateKey(ctx, args[0], period)
			})
			if err != nil {
				return err
			}
			return printMinted(t, c, k)
		},
	}
	command.Flags().StringVar(&grace, "grace", "", "how long the old secret stays valid: 0, or up to 30d (24h "+
		"by default); any older secret stops working at once")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// newKeysRevoke asks first: a revoked key cannot be made valid again.
func newKeysRevoke(t terminal) *cobra.Command {
	var yes bool
	command := newKeysChange(
		t, "revoke", "Revoke a key for good", "is revoked for good: calls with it get 401", (*client.Client).RevokeKey,
	)
	command.Use += " [--yes]"
	command.Long = `Revoke a key for good: calls with it get 401 at once, and it cannot be made valid again.
To stop a key for a while, freeze it: postern keys freeze KEY.

The command asks first. Without a terminal it needs --yes.`
	command.Example = `  postern keys revoke key_01jd8x5v6g7h
  postern keys revoke key_01jd8x5v6g7h --yes`
	addYesFlag(command, &yes)
	revoke := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		err := confirm(t, "Revoke "+args[0]+" for good? Calls with it get 401 at once.", "revoke "+args[0], yes)
		if err != nil {
			return err
		}
		return revoke(c, args)
	}
	return command
}

func newKeysChange(
	t terminal, name, short, done string,
	change func(*client.Client, context.Context, string) (client.Key, error),
) *cobra.Command {
	command := &cobra.Command{
		Use:   name + " KEY",
		Short: short,
		Args:  exactly("KEY"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			k, err := onKey(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.Key, error) {
				return change(api.Client, ctx, args[0])
			})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, k)
			}
			_, err = fmt.Fprintf(t.out, "%s of %s %s.\n", k.ID, printable(k.Owner), done)
			return err
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}
