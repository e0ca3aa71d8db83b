// Package callers has the commands about those who call projects: API keys and their types, tenants with users and
// groups, and hosted login. It owns what these commands ask and print. Package cli derives them from the contract, and
// package projects has what is set in a project and its versions.
package callers

import (
	"fmt"
	"slices"
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
	shown := func(k contract.Key) error {
		return terminal.Details(t.Out, func(row func(...string)) {
			row("Key", k.Display())
			keyRows(row, k)
		})
	}
	return terminal.Family("keys", "Manage API keys",
		cli.ListCommand(t, cli.AsProject, contract.ListKeys,
			[]string{"ID", "STATE", "OWNER", "EXPIRES", "LAST USED", "KEY", "TYPE", "ENVIRONMENT", "DESCRIPTION"},
			func(k contract.Key) []string {
				return []string{k.ID, k.State, k.Owner, terminal.OrNever(k.ExpiresAt), terminal.OrNever(k.LastUsedAt),
					k.Display(), k.KeyType, environmentOf(k), k.Description}
			}),
		cli.OperationCommand(t, cli.AsProject, contract.CreateKey, created),
		cli.OperationCommand(t, cli.AsKey, contract.GetKey, func(_ contract.KeyPath, k contract.Key) error {
			return shown(k)
		}),
		cli.OperationCommand(t, cli.AsKey, contract.UpdateKey, func(_ contract.KeyUpdate, k contract.Key) error {
			return shown(k)
		}),
		cli.OperationCommand(t, cli.AsKey, contract.RotateKey, rotated),
		cli.OperationCommand(t, cli.AsKey, contract.FreezeKey,
			keyIs(t, "is frozen. Calls that use it get 403 until you unfreeze it")),
		cli.OperationCommand(t, cli.AsKey, contract.UnfreezeKey, keyIs(t, "works again")),
		newKeysRevoke(t),
		newKeysImport(t),
		newKeysCheck(t),
	)
}

func environmentOf(k contract.Key) string {
	if k.Environment == nil {
		return "all"
	}
	return *k.Environment
}

// limitsOf says which limits apply to a key, and where they are set, if anywhere.
func limitsOf(k contract.Key) string {
	text := cli.LimitsText(k.EffectiveLimits)
	if k.LimitsFrom == contract.LimitsOfNothing {
		return text
	}
	return text + " (from: " + k.LimitsFrom + ")"
}

// printKeySecret prints a key's plaintext, which cannot be shown again.
func printKeySecret(t terminal.Terminal, k contract.KeyWithSecret) error {
	return terminal.Details(t.Out, func(row func(...string)) {
		row("Key", k.Secret.Reveal())
		row("", "Copy the key now. You won't see it again.")
		keyRows(row, k.Key)
	})
}

func keyRows(row func(...string), k contract.Key) {
	row("ID", k.ID)
	row("Owner", k.Owner)
	row("State", k.State)
	row("Type", k.KeyType)
	row("Environment", environmentOf(k))
	row("Expires", terminal.OrNever(k.ExpiresAt))
	row("Last used", terminal.OrNever(k.LastUsedAt))
	row("Created", terminal.When(&k.CreatedAt))
	row("Project", k.Project)
	row("Tenant", k.Tenant)
	if k.Product != nil {
		row("Product", *k.Product)
	}
	row("Limits", limitsOf(k))
	if len(k.AllowedCIDRs) > 0 {
		row("Allowed from", strings.Join(k.AllowedCIDRs, ", "))
	}
	if k.GraceEndsAt != nil {
		row("Old secret", "valid until "+terminal.When(k.GraceEndsAt))
	}
	if k.Description != "" {
		row("Description", k.Description)
	}
	if k.Metadata != "" {
		row("Metadata", string(k.Metadata))
	}
	if of := k.Consumer; of != nil {
		row("Consumer", strings.Join(slices.DeleteFunc([]string{of.ID, of.Username, of.CustomID},
			func(part string) bool { return part == "" }), ", "))
	}
	if k.CredentialID != nil {
		row("Credential ID", *k.CredentialID)
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
		keyIs(t, "is permanently revoked. Calls that use it get 401"))
	command.Use += " [--yes]"
	command.Long = `Permanently revoke an API key. Calls with the key get 401 within a second. You can't
undo this. To block a key temporarily, freeze it with postern keys freeze KEY.

The command asks for confirmation. Without a terminal, use --yes.`
	command.Example = `  postern keys revoke key_01jd8x5v6g7h
  postern keys revoke key_01jd8x5v6g7h --yes`
	terminal.AddYesFlag(command, &yes)
	revoke := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		question := "Revoke " + args[0] + " permanently? Calls with it will get 401. [y/N] "
		err := cli.Confirm(t, question, "y", "revoke "+args[0], yes)
		if err != nil {
			return err
		}
		return revoke(c, args)
	}
	return command
}

func newKeyTypes(t terminal.Terminal) *cobra.Command {
	return terminal.Family("key-types", "Manage the key types of a project",
		cli.ListCommand(t, cli.AsProject, contract.ListKeyTypes, []string{"NAME", "SCOPES", "LIFETIME", "LIMITS"},
			func(k contract.KeyType) []string {
				return []string{k.Name, strings.Join(k.Scopes, " "), lifetimeOf(k), cli.LimitsText(k.Limits)}
			}),
		terminal.Described(cli.OperationCommand(t, cli.AsProject, contract.CreateKeyType,
			func(_ contract.KeyTypeCreation, k contract.KeyType) error { return printKeyType(t, k) }),
			[2]string{"NAME", "name of the key type"}),
		cli.OperationCommand(t, cli.AsProject, contract.GetKeyType,
			func(_ contract.KeyTypePath, k contract.KeyType) error { return printKeyType(t, k) }),
		cli.OperationCommand(t, cli.AsProject, contract.UpdateKeyType,
			func(_ contract.KeyTypeUpdate, k contract.KeyType) error { return printKeyType(t, k) }),
		cli.OperationCommand(t, cli.AsProject, contract.DeleteKeyType,
			func(in contract.KeyTypeDeletion, _ contract.None) error {
				fmt.Fprintf(t.Out, "Deleted the key type %s.\n", terminal.Printable(in.KeyType))
				return nil
			}),
	)
}

func lifetimeOf(k contract.KeyType) string {
	if k.ExpiresIn == 0 {
		return "unlimited"
	}
	return terminal.ShowDuration(time.Duration(k.ExpiresIn) * time.Second)
}

func printKeyType(t terminal.Terminal, k contract.KeyType) error {
	_, err := fmt.Fprintf(t.Out, "Key type %s: scopes %s; lifetime %s; limits %s.\n", k.Name,
		strings.Join(k.Scopes, " "), lifetimeOf(k), cli.LimitsText(k.Limits))
	cli.PrintWarnings(t.Out, k.Warnings)
	return err
}
