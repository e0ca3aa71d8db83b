package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"postern/app"
	"postern/cmd/internal/terminal"
	"postern/platform/config"
)

func newSecrets(t terminal.Terminal) *cobra.Command {
	return terminal.Family("secrets", "Manage the secrets key", newGatewayKey(t))
}

// newGatewayKey reads the installation's key itself. It needs no database.
func newGatewayKey(t terminal.Terminal) *cobra.Command {
	var file string
	command := &cobra.Command{
		Use:   "gateway-key [-o FILE]",
		Short: "Print the gateway key",
		Long: `Print the gateway key, for processes that run only the gateway (--roles gateway). It is
derived from the secrets key and doesn't reveal it. It decrypts only what gateways need:
credentials for upstreams, certificates for custom domains, and introspection secrets.
On gateways, set POSTERN_SECRETS_KEY to this key, or store it as secrets.key in the
data directory.

The command reads the secrets key the same way the control plane does. The same secrets
key always produces the same gateway key. During a rotation, the command prints one
gateway key for each secrets key.`,
		Example: `  postern secrets gateway-key --data-dir /var/lib/postern
  POSTERN_SECRETS_KEY=… postern secrets gateway-key -o gateway/secrets.key`,
		Args: terminal.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			key, err := app.GatewayKey(config.Config{
				DataDir:    cmp.Or(c.Flag("data-dir").Value.String(), t.Variable("POSTERN_DATA_DIR"), "./data"),
				SecretsKey: config.Secret(t.Variable("POSTERN_SECRETS_KEY")),
			})
			if err != nil {
				return err
			}
			if file == "" || file == "-" {
				_, err = fmt.Fprintln(t.Out, key.Reveal())
				return err
			}
			return writeKey(file, key.Reveal()+"\n")
		},
	}
	command.Flags().StringVarP(&file, "output", "o", "", "file to write, readable only by its owner")
	command.Flags().String("data-dir", "", "directory with the file secrets.key (POSTERN_DATA_DIR, default: ./data)")
	return command
}

// writeKey creates a file that only its owner can read.
func writeKey(path, content string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists: choose another file with -o", terminal.Printable(path))
	}
	if err != nil {
		return fmt.Errorf("cannot write the key: %w", err)
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Sync(), f.Close())
}
