package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/core/contract"
)

// keyCommands returns the commands of API keys.
func keyCommands(t terminal) []*cobra.Command { return []*cobra.Command{newKeys(t), newKeyTypes(t)} }

func newKeys(t terminal) *cobra.Command {
	created := func(_ contract.KeyCreation, k contract.KeyWithSecret) error { return printKeySecret(t, k) }
	rotated := func(_ contract.KeyRotation, k contract.KeyWithSecret) error { return printKeySecret(t, k) }
	updated := func(_ contract.KeyUpdate, k contract.Key) error {
		_, err := fmt.Fprintf(t.out, "%s of %s is changed. Limits: %s (from: %s).\n", k.ID, printable(k.Owner),
			limitsText(k.EffectiveLimits), k.LimitsFrom)
		return err
	}
	return family("keys", "List and change API keys",
		listCommand(t, asProject, contract.ListKeys,
			[]string{"ID", "KEY", "STATE", "OWNER", "TYPE", "ENVIRONMENT", "LAST USED", "EXPIRES", "DESCRIPTION"},
			func(k contract.Key) []string {
				return []string{k.ID, k.Display(), k.State, k.Owner, k.KeyType, environmentOf(k),
					orNever(k.LastUsedAt), orNever(k.ExpiresAt), k.Description}
			}),
		short("Create an API key; its secret is shown once",
			operationCommand(t, asProject, contract.CreateKey, created)),
		operationCommand(t, asKey, contract.GetKey, func(_ contract.KeyPath, k contract.Key) error {
			return details(t.out, func(row func(...string)) { keyRows(row, k) })
		}),
		operationCommand(t, asKey, contract.UpdateKey, updated),
		short("Rotate an API key's secret; the new one is shown once",
			operationCommand(t, asKey, contract.RotateKey, rotated)),
		short("Freeze an API key: refuse calls with it until it is unfrozen",
			operationCommand(t, asKey, contract.FreezeKey, keyIs(t, "is frozen: calls with it get 403"))),
		operationCommand(t, asKey, contract.UnfreezeKey, keyIs(t, "works again")),
		newKeysRevoke(t),
	)
}

func environmentOf(k contract.Key) string {
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

// printKeySecret prints a key's plaintext, which cannot be shown again.
func printKeySecret(t terminal, k contract.KeyWithSecret) error {
	return details(t.out, func(row func(...string)) {
		row("Key", k.Secret.Reveal())
		row("", "Copy it now. You won't see it again.")
		keyRows(row, k.Key)
	})
}

func keyRows(row func(...string), k contract.Key) {
	row("Id", k.ID)
	row("Owner", k.Owner)
	row("State", k.State)
	row("Type", k.KeyType)
	row("Environment", environmentOf(k))
	row("Expires", orNever(k.ExpiresAt))
	row("Last used", orNever(k.LastUsedAt))
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
	if k.Description != "" {
		row("Description", k.Description)
	}
}

// keyIs prints what a key is now.
func keyIs(t terminal, done string) func(contract.KeyPath, contract.Key) error {
	return func(_ contract.KeyPath, k contract.Key) error {
		_, err := fmt.Fprintf(t.out, "%s of %s %s.\n", k.ID, printable(k.Owner), done)
		return err
	}
}

// newKeysRevoke asks first: a revoked key cannot be made valid again.
func newKeysRevoke(t terminal) *cobra.Command {
	var yes bool
	command := operationCommand(t, asKey, contract.RevokeKey, keyIs(t, "is revoked for good: calls with it get 401"))
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
