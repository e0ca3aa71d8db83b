package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"postern/migrations"
	"postern/models"
	"postern/platform/config"
	"postern/platform/scratch"
	"postern/platform/secrets"
	"postern/service/backups"
)

// Backup writes the archive of a copy of the SQLite database with the secrets key.
// A server may be running on the database. The copy is made in a directory below folder,
// which needs the size of the database, and is removed.
func Backup(
	ctx context.Context, c config.Config, generator string, to backups.Seal, w io.Writer, folder string,
) (m backups.Manifest, err error) {
	if c.DatabaseURL != "" {
		return m, errors.New("postern backup works only with SQLite: back up PostgreSQL with pg_dump, and keep " +
			"POSTERN_SECRETS_KEY or the file secrets.key with it (docs/backup.md)")
	}
	if _, err := os.Stat(c.SQLitePath()); err != nil {
		return m, fmt.Errorf("cannot open the database (%w): set the server's data directory with --data-dir", err)
	}
	keys, err := existingKeys(c)
	if err != nil {
		return m, err
	}
	dir, remove, err := scratch.Dir(folder)
	if err != nil {
		return m, fmt.Errorf("cannot write the copy of the database (%w): choose a file in another directory with -o",
			err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	copied := filepath.Join(dir, filepath.Base(c.SQLitePath()))
	m = backups.Manifest{Generator: generator, CreatedAt: models.Now()}
	if err := saveSQLite(ctx, c, copied); err != nil {
		return m, err
	}
	if m.Schema, err = checkCopy(ctx, copied, keys); err != nil {
		return m, fmt.Errorf("the copy of %s with the key from %s can't be restored: %w", c.SQLitePath(),
			secretsFrom(c), err)
	}
	return m, backups.Write(ctx, w, to, m, keys, copied)
}

func saveSQLite(ctx context.Context, c config.Config, path string) error {
	db, err := openDatabase(ctx, c)
	if err != nil {
		return err
	}
	if err = db.CheckSchema(ctx); err == nil {
		err = db.SaveSQLite(ctx, path)
	}
	if err != nil {
		err = explain(c, "cannot copy the database", err)
	}
	return errors.Join(err, db.Close())
}

// checkCopy returns the schema of a copy. It fails if this program cannot serve it, if it is
// damaged, or if the keys are not those of its secrets.
func checkCopy(ctx context.Context, path string, keys secrets.Secret) (schema int64, err error) {
	vault, err := secrets.NewVault(keys)
	if err != nil {
		return 0, err
	}
	db, err := models.Open(ctx, "", path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.CheckSchema(ctx); err != nil {
		return 0, err
	}
	if err := db.CheckSQLite(ctx); err != nil {
		return 0, err
	}
	if schema, err = migrations.Applied(ctx, db.SQL(), db.Dialect()); err != nil {
		return 0, err
	}
	wrapped, err := db.Read(ctx).DataKeys("", 1)
	if err != nil || len(wrapped) == 0 {
		return schema, err
	}
	if err := vault.Check(wrapped[0]); err != nil {
		return 0, fmt.Errorf("the key can't decrypt the database's secrets (%w)", err)
	}
	return schema, nil
}

// Restore reads an archive and puts its database and its key into the data directory,
// unless checkOnly is set. It refuses a directory that has a database or another key, and
// changes nothing when it fails.
func Restore(
	ctx context.Context, c config.Config, with backups.Opener, archive io.Reader, checkOnly bool,
) (m backups.Manifest, err error) {
	if c.DatabaseURL != "" {
		return m, errors.New("postern restore works only with SQLite: restore PostgreSQL with pg_restore " +
			"(docs/backup.md), or set --data-dir to restore SQLite")
	}
	if checkOnly {
		dir, remove, err := scratch.Dir("")
		if err != nil {
			return m, fmt.Errorf("cannot unpack the backup (%w): set TMPDIR to another directory", err)
		}
		defer func() { err = errors.Join(err, remove()) }()
		content, err := unpack(ctx, c, with, archive, filepath.Join(dir, "postern.db"))
		return content.Manifest, err
	}
	release, err := claimDataDir(c)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, release(err != nil)) }()
	dir, remove, err := scratch.Dir(c.DataDir)
	if err != nil {
		return m, fmt.Errorf("cannot write to the data directory (%w): choose another with --data-dir", err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	database := filepath.Join(dir, "postern.db")
	content, err := unpack(ctx, c, with, archive, database)
	if err != nil {
		return content.Manifest, err
	}
	if err := placeKeys(c, content.Keys, filepath.Join(dir, "secrets.key")); err != nil {
		return content.Manifest, err
	}
	if err := os.Rename(database, c.SQLitePath()); err != nil {
		return content.Manifest, fmt.Errorf("cannot move the database into place: %w", err)
	}
	return content.Manifest, nil
}

// claimDataDir creates the data directory if need be, locks it, and refuses one that has a
// database. release unlocks it, and after a failure removes what claimDataDir has created.
func claimDataDir(c config.Config) (release func(failed bool) error, err error) {
	_, missing := os.Stat(c.DataDir)
	if err := makeDataDir(c); err != nil {
		return nil, err
	}
	unlock, _, err := lock(c.DataDir)
	if err != nil {
		return nil, err
	}
	release = func(failed bool) error {
		err := unlock()
		if failed && errors.Is(missing, fs.ErrNotExist) {
			err = errors.Join(err, os.RemoveAll(c.DataDir))
		}
		return err
	}
	// A log that another database left would be applied to the restored one.
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if _, err := os.Lstat(c.SQLitePath() + suffix); !errors.Is(err, fs.ErrNotExist) {
			err := fmt.Errorf("%s already exists: move it away, or restore to another directory with --data-dir or "+
				"POSTERN_DATA_DIR", c.SQLitePath()+suffix)
			return nil, errors.Join(err, release(false))
		}
	}
	return release, nil
}

// unpack writes the archive's database to a new file and checks it.
func unpack(
	ctx context.Context, c config.Config, with backups.Opener, archive io.Reader, path string,
) (backups.Content, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return backups.Content{}, fmt.Errorf("cannot unpack the backup: %w", err)
	}
	content, err := backups.Read(ctx, archive, with, file)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return content, fmt.Errorf("cannot unpack the backup: %w", err)
	}
	if c.SecretsKey != "" {
		if err := checkWhole(c.SecretsKey, secretsFrom(c)); err != nil {
			return content, err
		}
		// The server would start with this key, not with the backup's.
		if _, err := checkCopy(ctx, path, c.SecretsKey); err != nil {
			return content, fmt.Errorf("the key in POSTERN_SECRETS_KEY can't decrypt this backup's secrets: to use "+
				"the backup's own key, unset the variable here and for the server (%w)", err)
		}
	}
	if _, err := checkCopy(ctx, path, content.Keys); err != nil {
		return content, fmt.Errorf("the backup, written by %s, can't be used: %w", content.Manifest.Generator, err)
	}
	return content, nil
}

// placeKeys writes the keys into the data directory, unless the server gets them from the
// environment. draft is where they are written first, so that no half file is left.
func placeKeys(c config.Config, keys secrets.Secret, draft string) error {
	if c.SecretsKey != "" {
		return nil
	}
	found, err := os.ReadFile(c.SecretsKeyFile())
	switch {
	case err == nil && string(found) == keys.Reveal():
		return nil
	case err == nil:
		return fmt.Errorf("%s already exists with a different key than the backup's: move it away, or restore to "+
			"another directory with --data-dir or POSTERN_DATA_DIR", c.SecretsKeyFile())
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot read the secrets key: %w", err)
	}
	if err := os.WriteFile(draft, []byte(keys.Reveal()), 0o600); err != nil {
		return fmt.Errorf("cannot write the secrets key: %w", err)
	}
	if err := os.Rename(draft, c.SecretsKeyFile()); err != nil {
		return fmt.Errorf("cannot move the secrets key into place: %w", err)
	}
	return nil
}
