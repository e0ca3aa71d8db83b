package app

import (
	"context"
	"fmt"
	"time"

	"postern/models"
	"postern/platform/secrets"
	"postern/service/certificates"
	"postern/service/projects"
)

const (
	// resealPage is how many values are sealed again in one transaction.
	resealPage = 100
	// resealEvery is how often workers look for values that gateways cannot open: an older
	// program may have written one.
	resealEvery = 10 * time.Minute
)

// placeOf returns the place of a value that gateways need.
func placeOf(c models.SealedColumn, value models.SealedValue) (secrets.Place, error) {
	var place secrets.Place
	key := value.Key
	switch c.Table {
	case "upstream_headers":
		place = projects.UpstreamHeaderPlace(key[0], key[1])
	case "upstream_certificates":
		place = projects.ClientKeyPlace(key[0])
	case "call_signing_keys":
		place = projects.SigningKeyPlace(key[0], key[1])
	case "certificates":
		place = certificates.PrivateKeyPlace(key[0])
	case "versions":
		place = projects.IntrospectionPlace(key[0])
	case "providers":
		place = models.Provider{ID: key[0]}.SecretPlace()
	default:
		return place, fmt.Errorf("the place of %s in %s is not known", c.Column, c.Table)
	}
	place.Purpose = value.Purpose
	return place, nil
}

// reseal seals every value again that is sealed for another purpose than its own: those of
// before there was a gateway key, and those that an older program writes beside this one.
// Each page is one transaction, and a value that has changed meanwhile is left as it is, so
// that it can be repeated after a kill and run on several replicas at once. It returns how
// many there were.
//
// announce has gateways read the projects again. Before the first time that is not needed:
// no gateway runs with the gateway key.
func reseal(ctx context.Context, vault *secrets.Vault, db *models.DB, announce bool) (done int, err error) {
	for _, column := range models.SealedColumns() {
		if column.Gateways == "" {
			continue
		}
		var after []string
		for {
			page, err := db.Read(ctx).Misplaced(column, after, resealPage)
			if err != nil {
				return done, err
			}
			if len(page) == 0 {
				break
			}
			var n int
			err = db.Write(ctx, func(tx *models.Tx) error {
				n, err = resealAll(tx, vault, column, page, announce)
				return err
			})
			if err != nil {
				return done, err
			}
			done += n
			after = page[len(page)-1].Key
		}
	}
	return done, nil
}

func resealAll(
	tx *models.Tx, vault *secrets.Vault, column models.SealedColumn, page []models.SealedValue, announce bool,
) (done int, err error) {
	read := map[string]bool{}
	for _, one := range page {
		replaced, err := resealOne(tx, vault, column, one)
		if err != nil {
			return 0, err
		}
		if !replaced {
			continue
		}
		done++
		if announce && one.Project != "" && !read[one.Project] {
			read[one.Project] = true
			if err := tx.AddRevision(one.Project, "", models.Now()); err != nil {
				return 0, err
			}
		}
	}
	return done, nil
}

func resealOne(
	tx *models.Tx, vault *secrets.Vault, column models.SealedColumn, one models.SealedValue,
) (bool, error) {
	place, err := placeOf(column, one)
	if err != nil {
		return false, err
	}
	key, err := tx.DataKeyByID(one.Value.DataKeyID())
	if err != nil {
		return false, fmt.Errorf("find the data key of %s in %s %s: %w", place.Column, place.Table, place.Row, err)
	}
	plain, err := vault.Open(tx, place, one.Value)
	if err != nil {
		return false, err
	}
	sealed, err := vault.Seal(tx, key.Team, place, plain)
	if err != nil {
		return false, err
	}
	return tx.ReplaceSealed(column, one, sealed)
}

// keepSealed seals values again that older programs have written, until ctx ends.
func (a *App) keepSealed(ctx context.Context) {
	ticker := time.NewTicker(resealEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		n, err := reseal(ctx, a.vault, a.state.db, true)
		if err != nil && ctx.Err() == nil {
			a.log.Error("secrets that gateways need cannot be sealed for them", "error", err)
		}
		if n > 0 {
			a.log.Info("sealed secrets again that gateways need", "values", n)
		}
	}
}
