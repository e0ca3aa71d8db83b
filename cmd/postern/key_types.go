package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
)

func newKeyTypes(t terminal) *cobra.Command {
	return family("key-types", "List and change the types of a project's API keys",
		newKeyTypesList(t), newKeyTypesChange(t, "create"), newKeyTypesChange(t, "update"),
		forTeam(t, &cobra.Command{
			Use:   "delete PROJECT TYPE",
			Short: "Delete a key type without keys",
			Args:  exactly("PROJECT", "TYPE"),
		},
			func(ctx context.Context, api caller, args []string) (nothing, error) {
				return nothing{}, api.DeleteKeyType(ctx, args[0], args[1])
			},
			func(_ nothing, args []string) string { return "The key type " + args[1] + " is deleted." }))
}

func newKeyTypesList(t terminal) *cobra.Command {
	command := &cobra.Command{Use: "list PROJECT", Short: "List the key types of a project", Args: exactly("PROJECT")}
	command.RunE = func(c *cobra.Command, args []string) error {
		s, err := openSession(t, c)
		if err != nil {
			return err
		}
		list, err := onProject(
			c.Context(),
			s,
			args[0],
			func(ctx context.Context, api caller) ([]client.KeyType, error) {
				return collect(api.KeyTypes(ctx, args[0]))
			},
		)
		if err != nil {
			return err
		}
		if wantsJSON(c) {
			return printJSONList(t.out, list)
		}
		return table(t.out, func(row func(...string)) {
			row("NAME", "SCOPES", "LIFETIME", "LIMITS")
			for _, k := range list {
				row(k.Name, strings.Join(k.Scopes, " "), lifetimeOf(k), limitsText(k.Limits))
			}
		})
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func lifetimeOf(k client.KeyType) string {
	if k.ExpiresIn == 0 {
		return "endless"
	}
	return showDuration(time.Duration(k.ExpiresIn) * time.Second)
}

// newKeyTypesChange returns create or update, which have the same flags.
func newKeyTypesChange(t terminal, verb string) *cobra.Command {
	var scopes, pairs []string
	var lifetime string
	var unlimited bool
	command := &cobra.Command{
		Use:   verb + " PROJECT TYPE",
		Short: "Change a key type, for all of its keys at once",
		Args:  exactly("PROJECT", "TYPE"),
		Example: "  postern key-types " + verb + " shop partner --scopes read,orders:* --lifetime 90d --limit " +
			"minute=100",
	}
	if verb == "create" {
		command.Short = "Add a key type to a project"
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		limits, err := readLimits(pairs)
		if err != nil {
			return err
		}
		if unlimited {
			limits = map[string]int64{}
		}
		var change client.KeyTypeChange
		if c.Flags().Changed("scopes") {
			change.Scopes = &scopes
		}
		if c.Flags().Changed("lifetime") {
			d, err := readDuration(lifetime)
			if err != nil {
				return usageError{
					fmt.Sprintf("--lifetime %q is not a duration such as 24h, 90d or 0 for endless", lifetime),
				}
			}
			seconds := int64(d / time.Second)
			change.ExpiresIn = &seconds
		}
		change.Limits = limits
		s, err := openSession(t, c)
		if err != nil {
			return err
		}
		k, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.KeyType, error) {
			if verb == "update" {
				return api.UpdateKeyType(ctx, args[0], args[1], change)
			}
			in := client.NewKeyType{Name: args[1], Scopes: scopes, Limits: limits}
			if change.ExpiresIn != nil {
				in.ExpiresIn = *change.ExpiresIn
			}
			return api.CreateKeyType(ctx, args[0], in)
		})
		if err != nil {
			return err
		}
		if wantsJSON(c) {
			return printJSON(t.out, k)
		}
		_, err = fmt.Fprintf(
			t.out, "%s has the scopes %s; lifetime %s; limits: %s.\n", k.Name, strings.Join(k.Scopes, " "),
			lifetimeOf(k), limitsText(k.Limits),
		)
		printWarnings(t.out, k.Warnings)
		return err
	}
	flags := command.Flags()
	flags.StringSliceVar(&scopes, "scopes", nil, "what keys of the type may do, such as read,orders:* or * for all")
	flags.StringVar(&lifetime, "lifetime", "", "lifetime of new keys of the type, such as 90d; 0 for no expiry")
	flags.StringArrayVar(&pairs, "limit", nil, "calls that a window admits each key of the type, as WINDOW=CALLS")
	if verb == "update" {
		flags.BoolVar(&unlimited, "no-limits", false, "remove the limits")
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}
