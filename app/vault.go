package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"postern/models"
	"postern/platform/config"
	"postern/platform/fault"
	"postern/platform/secrets"
)

// dataKeyPage is how many data keys are rewrapped in one transaction.
const dataKeyPage = 100

// openVault reads the key-encryption keys. A gateway alone can have gateway keys, and creates no key: it would be
// another one than the database's.
func openVault(c config.Config) (*secrets.Vault, error) {
	keys, from := c.SecretsKey, secretsFrom(c)
	if keys == "" {
		read := secrets.KeyFile
		if onlyGateway(c) {
			read = secrets.ExistingKeyFile
		}
		var err error
		if keys, err = read(from); errors.Is(err, fs.ErrNotExist) && onlyGateway(c) {
			return nil, fmt.Errorf("a process that has only the gateway role requires a gateway key: run `postern "+
				"secrets gateway-key` where the control plane runs, and put its output in POSTERN_SECRETS_KEY or the "+
				"file %s",
				from)
		} else if err != nil {
			return nil, fmt.Errorf("cannot read or create the secrets key (%w): check the data directory, or set a "+
				"key in POSTERN_SECRETS_KEY", err)
		}
	}
	vault, err := secrets.NewVault(keys)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	if vault.OnlyGateways() && !onlyGateway(c) {
		return nil, fmt.Errorf("%s has a gateway key, which works only with --roles gateway: give the control plane "+
			"and workers the secrets key that `postern secrets gateway-key` derived it from", from)
	}
	return vault, nil
}

// existingKeys returns the installation's key-encryption keys for a command. Unlike a start
// of the server it creates none.
func existingKeys(c config.Config) (secrets.Secret, error) {
	keys := c.SecretsKey
	if keys == "" {
		found, err := secrets.ExistingKeyFile(c.SecretsKeyFile())
		if err != nil {
			return "", fmt.Errorf("cannot read the secrets key (%w): if the server has it in POSTERN_SECRETS_KEY, "+
				"set this variable for the command too", err)
		}
		keys = found
	}
	return keys, checkWhole(keys, secretsFrom(c))
}

// checkWhole refuses gateway keys.
func checkWhole(keys secrets.Secret, from string) error {
	if vault, err := secrets.NewVault(keys); err == nil && vault.OnlyGateways() {
		return fmt.Errorf("%s has a gateway key: this command requires the full secrets key", from)
	}
	return nil
}

// GatewayKey returns the gateway keys of the installation's keys, for processes with the role
// gateway alone.
func GatewayKey(c config.Config) (secrets.Secret, error) {
	keys, err := existingKeys(c)
	if err != nil {
		return "", err
	}
	derived, err := secrets.GatewayKeys(keys)
	if err != nil {
		return "", fmt.Errorf("%s: %w", secretsFrom(c), err)
	}
	return derived, nil
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
		return errors.New("the database isn't in use yet: start a process with the control or worker role first")
	}
	if err == nil {
		err = a.vault.Check(mark)
	}
	if err == nil && !a.vault.OnlyGateways() {
		a.log.Info("this gateway has the full secrets key; `postern secrets gateway-key` prints the key that it needs")
	}
	return a.explainVault(err)
}

// explainVault says how to fix a key that doesn't fit. An error of the database isn't about the key.
func (a *App) explainVault(err error) error {
	if err != nil && fault.KindOf(err) != fault.Unavailable && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("the key in %s can't decrypt the secrets in the database (%w): set the same "+
			"POSTERN_SECRETS_KEY on every replica, or restore the original key. On processes that run only the "+
			"gateway, set it to the output of `postern secrets gateway-key`",
			secretsFrom(a.Config), err)
	}
	return err
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
	if err == nil {
		err = vault.Check(mark)
	}
	return err
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
