package app

import (
	"context"
	"errors"
	"fmt"

	"postern/models"
	"postern/platform/config"
	"postern/platform/secrets"
)

// dataKeyPage is how many data keys are rewrapped in one transaction.
const dataKeyPage = 100

// openVault reads the key-encryption keys.
func openVault(c config.Config) (*secrets.Vault, error) {
	keys, from := c.SecretsKey, secretsFrom(c)
	if keys == "" {
		var err error
		if keys, err = secrets.KeyFile(from); err != nil {
			return nil, fmt.Errorf("cannot read or create the key of secrets at rest (%w): check the data directory, "+
				"or give a key in POSTERN_SECRETS_KEY", err)
		}
	}
	vault, err := secrets.NewVault(keys)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return vault, nil
}

func secretsFrom(c config.Config) string {
	if c.SecretsKey == "" {
		return c.SecretsKeyFile()
	}
	return "--secrets-key or POSTERN_SECRETS_KEY"
}

// checkVault checks that the key-encryption keys are those of this database. Data keys that
// older keys wrapped are rewrapped with the first one, so that the older ones can be left
// out from the next start on.
//
// A gateway alone only checks.
func (a *App) checkVault(ctx context.Context) error {
	if a.onlyGateway() {
		return a.checkMark(ctx)
	}
	err := rewrap(ctx, a.vault, a.state.db)
	if err == nil {
		err = markDatabase(ctx, a.vault, a.state.db)
	}
	return a.explainVault(err)
}

// checkMark checks the database's mark with the key.
func (a *App) checkMark(ctx context.Context) error {
	mark, err := a.state.db.Read(ctx).DataKeyByID(secrets.MarkID)
	if errors.Is(err, models.ErrNotFound) {
		return errors.New("the database is not in use yet: start a process with the role control or worker first")
	}
	if err == nil {
		err = a.vault.Check(mark)
	}
	return a.explainVault(err)
}

func (a *App) explainVault(err error) error {
	if err != nil {
		return fmt.Errorf("the secrets in the database cannot be opened with the key of %s (%w): "+
			"give every replica the same POSTERN_SECRETS_KEY, or put the key back with which they were sealed",
			secretsFrom(a.Config), err)
	}
	return nil
}

// markDatabase checks the database's mark with the key, and creates the mark if there is
// none. If replicas start at once on an empty database with different keys, one creates it
// and the others are refused.
func markDatabase(ctx context.Context, vault *secrets.Vault, db *models.DB) error {
	mark, err := db.Read(ctx).DataKeyByID(secrets.MarkID)
	if errors.Is(err, models.ErrNotFound) {
		if mark, err = vault.Mark(); err != nil {
			return err
		}
		err = db.Write(ctx, func(tx *models.Tx) error { return tx.InsertDataKey(mark) })
		if errors.Is(err, models.ErrDuplicate) {
			mark, err = db.Read(ctx).DataKeyByID(secrets.MarkID)
		}
	}
	if err != nil {
		return err
	}
	return vault.Check(mark)
}

func rewrap(ctx context.Context, vault *secrets.Vault, db *models.DB) error {
	after := ""
	for {
		list, err := db.Read(ctx).DataKeys(after, dataKeyPage)
		if err != nil || len(list) == 0 {
			return err
		}
		if !vault.Replacing() {
			return vault.Check(list[0]) // all are wrapped with the same key
		}
		err = db.Write(ctx, func(tx *models.Tx) error {
			for _, key := range list {
				key, err := vault.Rewrap(key)
				if err != nil {
					return err
				}
				if err := tx.UpdateDataKey(key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		after = list[len(list)-1].ID
	}
}
