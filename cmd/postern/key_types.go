package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/core/contract"
)

func newKeyTypes(t terminal) *cobra.Command {
	return family("key-types", "List and change the types of a project's API keys",
		listCommand(t, asProject, contract.ListKeyTypes, []string{"NAME", "SCOPES", "LIFETIME", "LIMITS"},
			func(k contract.KeyType) []string {
				return []string{k.Name, strings.Join(k.Scopes, " "), lifetimeOf(k), limitsText(k.Limits)}
			}),
		operationCommand(t, asProject, contract.CreateKeyType,
			func(_ contract.KeyTypeCreation, k contract.KeyType) error { return printKeyType(t, k) }),
		operationCommand(t, asProject, contract.GetKeyType,
			func(_ contract.KeyTypePath, k contract.KeyType) error { return printKeyType(t, k) }),
		operationCommand(t, asProject, contract.UpdateKeyType,
			func(_ contract.KeyTypeUpdate, k contract.KeyType) error { return printKeyType(t, k) }),
		operationCommand(t, asProject, contract.DeleteKeyType,
			func(in contract.KeyTypeDeletion, _ contract.None) error {
				fmt.Fprintf(t.out, "The key type %s is deleted.\n", printable(in.KeyType))
				return nil
			}),
	)
}

func lifetimeOf(k contract.KeyType) string {
	if k.ExpiresIn == 0 {
		return "endless"
	}
	return showDuration(time.Duration(k.ExpiresIn) * time.Second)
}

func printKeyType(t terminal, k contract.KeyType) error {
	_, err := fmt.Fprintf(t.out, "%s has the scopes %s; lifetime %s; limits: %s.\n", k.Name,
		strings.Join(k.Scopes, " "), lifetimeOf(k), limitsText(k.Limits))
	printWarnings(t.out, k.Warnings)
	return err
}
