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
	return terminal.Family("secrets", "Print the key of secrets at rest for gateways", newGatewayKey(t))
}

// newGatewayKey reads the installation's key itself. It needs no database.
func newGatewayKey(t terminal.Terminal) *cobra.Command {
	var file string
	command := &cobra.Command{
		Use:   "gateway-key [-o FILE]",
		Short: "Print the key with which a gateway opens no more than it needs",
		Long: `Print the key of secrets at rest for processes with --roles gateway alone. It is
derived from the whole key, which it does not reveal, and opens what gateways
need: credentials for upstreams, certificates of custom host names, and the secrets
for introspection. Give it to gateways in POSTERN_SECRETS_KEY or as the file
secrets.key of their data directory.

The command reads the whole key as the control plane does, and always prints the
same for it. With several keys, while they are replaced, it prints as many.`,
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
	command.Flags().StringVarP(&file, "output", "o", "", "file to write, readable by its owner only")
	command.Flags().String("data-dir", "", "directory with the file secrets.key (POSTERN_DATA_DIR) (default ./data)")
	return command
}

// writeKey creates a file that only its owner can read.
func writeKey(path, content string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists, and is not overwritten", terminal.Printable(path))
	}
	if err != nil {
		return fmt.Errorf("cannot write the key: %w", err)
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Sync(), f.Close())
}
