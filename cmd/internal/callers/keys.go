// Package callers has the commands about those who call projects: API keys and their types, tenants with users and
// groups, and hosted login. It owns what these commands ask and print. Package cli derives them from the contract, and
// package projects has what is set in a project and its versions.
package callers

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// Keys returns the commands of API keys.
func Keys(t terminal.Terminal) []*cobra.Command { return []*cobra.Command{newKeys(t), newKeyTypes(t)} }

func newKeys(t terminal.Terminal) *cobra.Command {
	created := func(_ contract.KeyCreation, k contract.KeyWithSecret) error { return printKeySecret(t, k) }
	rotated := func(_ contract.KeyRotation, k contract.KeyWithSecret) error { return printKeySecret(t, k) }
	updated := func(_ contract.KeyUpdate, k contract.Key) error {
		_, err := fmt.Fprintf(t.Out, "%s of %s is changed. Limits: %s (from: %s).\n", k.ID, terminal.Printable(k.Owner),
			cli.LimitsText(k.EffectiveLimits), k.LimitsFrom)
		return err
	}
	return terminal.Family("keys", "List and change API keys",
		cli.ListCommand(t, cli.AsProject, contract.ListKeys,
			[]string{"ID", "KEY", "STATE", "OWNER", "TYPE", "ENVIRONMENT", "LAST USED", "EXPIRES", "DESCRIPTION"},
			func(k contract.Key) []string {
				return []string{k.ID, k.Display(), k.State, k.Owner, k.KeyType, environmentOf(k),
					terminal.OrNever(k.LastUsedAt), terminal.OrNever(k.ExpiresAt), k.Description}
			}),
		cli.Short("Create an API key; its secret is shown once",
			cli.OperationCommand(t, cli.AsProject, contract.CreateKey, created)),
		cli.OperationCommand(t, cli.AsKey, contract.GetKey, func(_ contract.KeyPath, k contract.Key) error {
			return terminal.Details(t.Out, func(row func(...string)) { keyRows(row, k) })
		}),
		cli.OperationCommand(t, cli.AsKey, contract.UpdateKey, updated),
		cli.Short("Rotate an API key's secret; the new one is shown once",
			cli.OperationCommand(t, cli.AsKey, contract.RotateKey, rotated)),
		cli.Short("Freeze an API key: refuse calls with it until it is unfrozen",
			cli.OperationCommand(t, cli.AsKey, contract.FreezeKey, keyIs(t, "is frozen: calls with it get 403"))),
		cli.OperationCommand(t, cli.AsKey, contract.UnfreezeKey, keyIs(t, "works again")),
		newKeysRevoke(t),
	)
}

func environmentOf(k contract.Key) string {
	if k.Environment == nil {
		return "all"
	}
	return *k.Environment
}

// printKeySecret prints a key's plaintext, which cannot be shown again.
func printKeySecret(t terminal.Terminal, k contract.KeyWithSecret) error {
	return terminal.Details(t.Out, func(row func(...string)) {
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
	row("Expires", terminal.OrNever(k.ExpiresAt))
	row("Last used", terminal.OrNever(k.LastUsedAt))
	row("Tenant", k.Tenant)
	if k.Product != nil {
		row("Product", *k.Product)
	}
	row("Limits", cli.LimitsText(k.EffectiveLimits)+" (from: "+k.LimitsFrom+")")
	if len(k.AllowedCIDRs) > 0 {
		row("May be used from", strings.Join(k.AllowedCIDRs, ", "))
	}
	if k.GraceEndsAt != nil {
		row("Old secret", "works until "+terminal.When(k.GraceEndsAt))
	}
	if k.Description != "" {
		row("Description", k.Description)
	}
}

// keyIs prints what a key is now.
func keyIs(t terminal.Terminal, done string) func(contract.KeyPath, contract.Key) error {
	return func(_ contract.KeyPath, k contract.Key) error {
		_, err := fmt.Fprintf(t.Out, "%s of %s %s.\n", k.ID, terminal.Printable(k.Owner), done)
		return err
	}
}

// newKeysRevoke asks first: a revoked key cannot be made valid again.
func newKeysRevoke(t terminal.Terminal) *cobra.Command {
	var yes bool
	command := cli.OperationCommand(t, cli.AsKey, contract.RevokeKey,
		keyIs(t, "is revoked for good: calls with it get 401"))
	command.Use += " [--yes]"
	command.Long = `Revoke a key for good: calls with it get 401 at once, and it cannot be made valid again.
To stop a key for a while, freeze it: postern keys freeze KEY.

The command asks first. Without a terminal it needs --yes.`
	command.Example = `  postern keys revoke key_01jd8x5v6g7h
  postern keys revoke key_01jd8x5v6g7h --yes`
	terminal.AddYesFlag(command, &yes)
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

func newKeyTypes(t terminal.Terminal) *cobra.Command {
	return terminal.Family("key-types", "List and change the types of a project's API keys",
		cli.ListCommand(t, cli.AsProject, contract.ListKeyTypes, []string{"NAME", "SCOPES", "LIFETIME", "LIMITS"},
			func(k contract.KeyType) []string {
				return []string{k.Name, strings.Join(k.Scopes, " "), lifetimeOf(k), cli.LimitsText(k.Limits)}
			}),
		cli.OperationCommand(t, cli.AsProject, contract.CreateKeyType,
			func(_ contract.KeyTypeCreation, k contract.KeyType) error { return printKeyType(t, k) }),
		cli.OperationCommand(t, cli.AsProject, contract.GetKeyType,
			func(_ contract.KeyTypePath, k contract.KeyType) error { return printKeyType(t, k) }),
		cli.OperationCommand(t, cli.AsProject, contract.UpdateKeyType,
			func(_ contract.KeyTypeUpdate, k contract.KeyType) error { return printKeyType(t, k) }),
		cli.OperationCommand(t, cli.AsProject, contract.DeleteKeyType,
			func(in contract.KeyTypeDeletion, _ contract.None) error {
				fmt.Fprintf(t.Out, "The key type %s is deleted.\n", terminal.Printable(in.KeyType))
				return nil
			}),
	)
}

func lifetimeOf(k contract.KeyType) string {
	if k.ExpiresIn == 0 {
		return "endless"
	}
	return cli.ShowDuration(time.Duration(k.ExpiresIn) * time.Second)
}

func printKeyType(t terminal.Terminal, k contract.KeyType) error {
	_, err := fmt.Fprintf(t.Out, "%s has the scopes %s; lifetime %s; limits: %s.\n", k.Name,
		strings.Join(k.Scopes, " "), lifetimeOf(k), cli.LimitsText(k.Limits))
	cli.PrintWarnings(t.Out, k.Warnings)
	return err
}

// confirm asks for a yes before something that cannot be undone. what completes the sentence
// "Give --yes to …".
func confirm(t terminal.Terminal, question, what string, yes bool) error {
	switch {
	case yes:
		return nil
	case !t.Asks():
		return terminal.UsageError("this cannot be undone, and there is no terminal to ask in: give --yes to " + what)
	case !terminal.Answered(t, question+" [y/N] ", "y"):
		return terminal.UsageError("nothing was changed")
	}
	return nil
}
