package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/app"
	"postern/cmd/internal/terminal"
	"postern/platform/config"
	"postern/platform/secrets"
	"postern/service/backups"
)

type backupFlags struct {
	file       string
	force      bool
	recipients []string
	passphrase string // name of the file with it
}

// newBackup opens the database itself: a backup has what no role of the API may read.
func newBackup(t terminal.Terminal) *cobra.Command {
	var f backupFlags
	command := &cobra.Command{
		Use:   "backup [-o FILE]",
		Short: "Save the SQLite database and its key in one encrypted file",
		Long: `Save the SQLite database and the key of its secrets in one encrypted file. The
server may be running: the copy is the state at one point in time.

The file is sealed with a passphrase, of POSTERN_BACKUP_PASSPHRASE or
--passphrase-file, or to the public key of an age key pair, whose private key need
not be on this machine. postern restore opens it, and so does age.

PostgreSQL is backed up with pg_dump. Exports that wait to be downloaded are not in
a backup.`,
		Example: `  postern backup --recipient age1… -o /backups/postern.age
  POSTERN_BACKUP_PASSPHRASE=… postern backup --data-dir /var/lib/postern
  postern backup --recipient age1… -o - | ssh backups 'cat > postern.age'`,
		Args: terminal.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			settings, err := namedDatabase(t, c)
			if err != nil {
				return err
			}
			seal, err := f.seal(t)
			if err != nil {
				return err
			}
			t.GiveWay()
			return backup(c.Context(), t, settings, seal, f)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.file, "output", "o", "", "file to write, or - for standard output (default: postern-TIME.age)")
	flags.BoolVar(&f.force, "force", false, "overwrite the file if it exists")
	flags.StringSliceVar(&f.recipients, "recipient", nil, "public key of age (age1…) that the file is sealed to; may "+
		"be repeated")
	flags.StringVar(&f.passphrase, "passphrase-file", "", "file with the passphrase; - for standard input")
	addDatabaseFlags(command)
	return command
}

func (f backupFlags) seal(t terminal.Terminal) (backups.Seal, error) {
	if len(f.recipients) > 0 {
		if f.passphrase != "" {
			return backups.Seal{}, terminal.UsageError("--recipient and --passphrase-file exclude each other: give one")
		}
		return backups.SealTo(f.recipients)
	}
	passphrase, err := passphraseOf(t, f.passphrase)
	if err != nil {
		return backups.Seal{}, err
	}
	if passphrase == "" {
		return backups.Seal{},
			terminal.UsageError("say who can open the backup: give --recipient age1…, or a passphrase in " +
				"POSTERN_BACKUP_PASSPHRASE or with --passphrase-file")
	}
	return backups.SealWith(passphrase)
}

// passphraseOf returns the passphrase in a file, else that of the environment, "" for none.
func passphraseOf(t terminal.Terminal, file string) (secrets.Secret, error) {
	if file == "" {
		return secrets.Secret(t.Variable("POSTERN_BACKUP_PASSPHRASE")), nil
	}
	text, err := terminal.ReadSecret(t, file)
	return secrets.Secret(text), err
}

func backup(ctx context.Context, t terminal.Terminal, c config.Config, seal backups.Seal, f backupFlags) error {
	made := func(w io.Writer, scratch string) (m backups.Manifest, err error) {
		return app.Backup(ctx, c, "postern "+version(), seal, w, scratch)
	}
	if f.file == "-" {
		if terminal.IsTerminal(t.Out) {
			return terminal.UsageError("the backup is not text: send standard output to a file or a program")
		}
		terminal.Sweep(t.Err, "")
		out := bufio.NewWriter(t.Out)
		m, err := made(out, "")
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.Err, "Wrote the database at schema %d and the key of its secrets.\n", m.Schema)
		return err
	}
	file := cmp.Or(f.file, "postern-"+time.Now().UTC().Format("20060102T150405Z")+".age")
	if err := terminal.CanSave(t.Err, file, f.force); err != nil {
		return err
	}
	var m backups.Manifest
	var length int64
	err := terminal.WriteFile(file, func(part *os.File) (err error) {
		if m, err = made(part, filepath.Dir(file)); err != nil {
			return err
		}
		info, err := part.Stat()
		if err == nil {
			length = info.Size()
		}
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.Out, "Saved %s, %s: the database at schema %d and the key of its secrets.\n",
		terminal.Printable(file), terminal.Size(length), m.Schema)
	return err
}

type restoreFlags struct {
	identity   string
	passphrase string // name of the file with it
	check      bool
}

func newRestore(t terminal.Terminal) *cobra.Command {
	var f restoreFlags
	command := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore the SQLite database and its key from a backup",
		Long: `Restore the SQLite database and the key of its secrets from a file of postern
backup, or from standard input with -. The data directory must not have a database.
Nothing is changed unless the whole file is authentic, the database is sound, and
the key opens its secrets.

Keys that were revoked after the backup work again until they are revoked again.`,
		Example: `  postern restore postern.age --identity backup.key --data-dir /var/lib/postern
  POSTERN_BACKUP_PASSPHRASE=… postern restore postern.age --check`,
		Args: terminal.Exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			settings, err := namedDatabase(t, c)
			if err != nil {
				return err
			}
			opener, err := f.opener(t, args[0])
			if err != nil {
				return err
			}
			t.GiveWay()
			return restore(c.Context(), t, settings, opener, args[0], f.check)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.identity, "identity", "", "file with the private key of age that the backup is sealed to")
	flags.StringVar(&f.passphrase, "passphrase-file", "", "file with the passphrase; - for standard input")
	flags.BoolVar(&f.check, "check", false, "only check that the backup can be restored; nothing is changed")
	addDatabaseFlags(command)
	return command
}

func (f restoreFlags) opener(t terminal.Terminal, archive string) (backups.Opener, error) {
	if f.identity != "" {
		if f.passphrase != "" {
			return backups.Opener{},
				terminal.UsageError("--identity and --passphrase-file exclude each other: give one")
		}
		text, err := terminal.ReadSecret(t, f.identity)
		if err != nil {
			return backups.Opener{}, err
		}
		opener, err := backups.OpenBy(strings.NewReader(text))
		if err != nil {
			return opener, fmt.Errorf("%s: %w", f.identity, err)
		}
		return opener, nil
	}
	if f.passphrase == "-" && archive == "-" {
		return backups.Opener{},
			terminal.UsageError("the backup and the passphrase cannot both be read from standard input")
	}
	passphrase, err := passphraseOf(t, f.passphrase)
	if err != nil {
		return backups.Opener{}, err
	}
	if passphrase == "" {
		return backups.Opener{},
			terminal.UsageError("say how the backup is opened: give --identity FILE, or the passphrase " +
				"in POSTERN_BACKUP_PASSPHRASE or with --passphrase-file")
	}
	return backups.OpenWith(passphrase)
}

func restore(
	ctx context.Context, t terminal.Terminal, c config.Config, opener backups.Opener, path string, check bool,
) error {
	terminal.Sweep(t.Err, "") // of commands with --check
	terminal.Sweep(t.Err, c.DataDir)
	archive := t.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("cannot read the backup: %w", err)
		}
		defer file.Close()
		archive = file
	}
	m, err := app.Restore(ctx, c, opener, archive, check)
	if err != nil {
		return err
	}
	at := m.CreatedAt.UTC().Format("2006-01-02 15:04:05 UTC")
	if check {
		_, err = fmt.Fprintf(t.Out, "The backup can be restored: the state of %s, schema %d, written by %s.\n",
			at, m.Schema, terminal.Printable(m.Generator))
		return err
	}
	_, err = fmt.Fprintf(t.Out, "Restored %s to the state of %s, schema %d, written by %s.\n"+
		"Keys that were revoked after that time work again: revoke them again.\n",
		terminal.Printable(c.SQLitePath()), at, m.Schema, terminal.Printable(m.Generator))
	return err
}
