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
		Short: "Back up the SQLite database and its secrets key to an encrypted file",
		Long: `Back up the SQLite database and its secrets key to one encrypted file. You can run the
command while the server is running. The backup is a consistent snapshot.

The file is encrypted with a passphrase (POSTERN_BACKUP_PASSPHRASE or --passphrase-file)
or to an age public key (--recipient). The private key doesn't need to be on this
machine. Both postern restore and age can decrypt the file.

To back up PostgreSQL, use pg_dump. Backups don't include exported zips.`,
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
	flags.StringVarP(&f.file, "output", "o", "", "file to write, or - for standard output. Defaults to "+
		"postern-TIME.age")
	flags.BoolVar(&f.force, "force", false, "overwrite the file if it exists")
	flags.StringSliceVar(&f.recipients, "recipient", nil, "age public key (age1…) to encrypt the file to (repeatable)")
	flags.StringVar(&f.passphrase, "passphrase-file", "", "file with the passphrase, or - for standard input")
	addDataDirFlag(command)
	return command
}

func (f backupFlags) seal(t terminal.Terminal) (backups.Seal, error) {
	if len(f.recipients) > 0 {
		if f.passphrase != "" {
			return backups.Seal{}, terminal.UsageError("--recipient and --passphrase-file can't be combined: use one " +
				"of them")
		}
		seal, err := backups.SealTo(f.recipients)
		return seal, usage("--recipient", err)
	}
	passphrase, err := passphraseOf(t, f.passphrase)
	if err != nil {
		return backups.Seal{}, err
	}
	if passphrase == "" {
		return backups.Seal{},
			terminal.UsageError("choose how to encrypt the backup: use --recipient age1…, --passphrase-file or " +
				"POSTERN_BACKUP_PASSPHRASE")
	}
	seal, err := backups.SealWith(passphrase)
	return seal, usage(passphraseSource(f.passphrase), err)
}

// usage returns the error about the value of a flag or variable as one of usage.
func usage(of string, err error) error {
	if err == nil {
		return nil
	}
	return terminal.UsageError(of + ": " + err.Error())
}

// passphraseSource names what the passphrase is from.
func passphraseSource(file string) string {
	if file == "" {
		return passphraseVariable
	}
	return "--passphrase-file"
}

const passphraseVariable = "POSTERN_BACKUP_PASSPHRASE"

// passphraseOf returns the passphrase in a file, else that of the environment, "" for none.
func passphraseOf(t terminal.Terminal, file string) (secrets.Secret, error) {
	if file == "" {
		return secrets.Secret(t.Variable(passphraseVariable)), nil
	}
	text, err := terminal.ReadSecret(t, file)
	return secrets.Secret(text), err
}

func backup(ctx context.Context, t terminal.Terminal, c config.Config, seal backups.Seal, f backupFlags) error {
	made := func(w io.Writer, scratch string) (m backups.Manifest, err error) {
		defer t.Waiting("Saving the database")()
		return app.Backup(ctx, c, "postern "+version(), seal, w, scratch)
	}
	if f.file == "-" {
		if terminal.IsTerminal(t.Out) {
			return terminal.UsageError("can't write a backup to a terminal: redirect the output, or choose a file " +
				"with -o")
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
		_, err = fmt.Fprintf(t.Err, "Wrote the database (schema %d) and its secrets key.\n", m.Schema)
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
	_, err = fmt.Fprintf(t.Out, "Saved %s, %s, with the database (schema %d) and its secrets key.\n",
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
		Short: "Restore the SQLite database and its secrets key",
		Long: `Restore the SQLite database and its secrets key from a backup. The data directory must
not contain a database. Nothing is changed unless the whole file is authentic, the
database is intact, and the secrets key can decrypt the database's secrets.

Restoring reactivates keys that were revoked after the backup. Revoke them again.`,
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
	terminal.Described(command, [2]string{"FILE", "backup, or - for standard input"})
	flags.StringVar(&f.identity, "identity", "", "file with the age private key that can decrypt the backup")
	flags.StringVar(&f.passphrase, "passphrase-file", "", "file with the passphrase, or - for standard input")
	flags.BoolVar(&f.check, "check", false, "check that the backup can be restored, without changing anything")
	addDataDirFlag(command)
	return command
}

func (f restoreFlags) opener(t terminal.Terminal, archive string) (backups.Opener, error) {
	if f.identity != "" {
		if f.passphrase != "" {
			return backups.Opener{},
				terminal.UsageError("--identity and --passphrase-file can't be combined: use one of them")
		}
		text, err := terminal.ReadSecret(t, f.identity)
		if err != nil {
			return backups.Opener{}, err
		}
		opener, err := backups.OpenBy(strings.NewReader(text))
		return opener, usage("--identity: "+f.identity, err)
	}
	if f.passphrase == "-" && archive == "-" {
		return backups.Opener{},
			terminal.UsageError("the backup and the passphrase can't both be read from standard input")
	}
	passphrase, err := passphraseOf(t, f.passphrase)
	if err != nil {
		return backups.Opener{}, err
	}
	if passphrase == "" {
		return backups.Opener{},
			terminal.UsageError("choose how to decrypt the backup: use --identity FILE, --passphrase-file or " +
				"POSTERN_BACKUP_PASSPHRASE")
	}
	return backups.OpenWith(passphrase)
}

func restore(
	ctx context.Context, t terminal.Terminal, c config.Config, opener backups.Opener, path string, check bool,
) error {
	terminal.Sweep(t.Err, "") // of commands with --check
	terminal.Sweep(t.Err, c.DataDir)
	archive, size := t.In, int64(0)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return terminal.CannotRead(err)
		}
		defer file.Close()
		info, err := file.Stat()
		switch {
		case err != nil:
			return terminal.CannotRead(err)
		case info.IsDir():
			return terminal.IsDirectory(path)
		}
		size = info.Size()
		archive = file
	}
	var read terminal.Counter
	stop := t.WaitingFor(func() string {
		if read.Done(size) {
			return "Checking the database of the backup"
		}
		return "Reading the backup: " + read.Of(size)
	})
	m, err := app.Restore(ctx, c, opener, read.Reader(archive), check)
	stop()
	if err != nil {
		return err
	}
	at := m.CreatedAt.UTC().Format("2006-01-02 15:04:05 UTC")
	if check {
		_, err = fmt.Fprintf(t.Out, "The backup can be restored. It contains the state of %s (schema %d, written by "+
			"%s).\n",
			at, m.Schema, terminal.Printable(m.Generator))
		return err
	}
	_, err = fmt.Fprintf(t.Out, "Restored %s to the state of %s (schema %d, written by %s).\nKeys that were revoked "+
		"after that time work again. Revoke them again.\n",
		terminal.Printable(c.SQLitePath()), at, m.Schema, terminal.Printable(m.Generator))
	return err
}
