package models_test

import (
	"strings"
	"testing"

	"postern/models"
	"postern/platform/secrets"
	"postern/testkit/state"
)

func TestDataKeys_keptWithRows(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
		if err != nil {
			t.Fatal(err)
		}
		place := secrets.Place{Table: "t", Row: "1", Column: "c", Purpose: secrets.ForControl}
		var sealed []secrets.Sealed
		err = db.Write(t.Context(), func(tx *models.Tx) error {
			for _, team := range []string{"team_1", "team_2", "team_1"} {
				value, err := vault.Seal(tx, team, place, "canary")
				if err != nil {
					return err
				}
				sealed = append(sealed, value)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		tx := db.Read(t.Context())
		for _, value := range sealed {
			if got, err := vault.Open(tx, place, value); err != nil || got != "canary" {
				t.Errorf("opens as %q, %v", got.Reveal(), err)
			}
		}
		first, err := tx.DataKeys("", 1)
		if err != nil || len(first) != 1 {
			t.Fatalf("the first page is %v, %v", first, err)
		}
		rest, err := tx.DataKeys(first[0].ID, 100)
		if err != nil || len(rest) != 1 || rest[0].Team == first[0].Team {
			t.Errorf("after %v come %v, %v; want one data key for each team", first, rest, err)
		}
	})
}

func TestDataKeys_foreignKey(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
		if err != nil {
			t.Fatal(err)
		}
		place := secrets.Place{Table: "t", Row: "1", Column: "c", Purpose: secrets.ForControl}
		err = db.Write(t.Context(), func(tx *models.Tx) error {
			if _, err := vault.Seal(tx, "team_1", place, "one"); err != nil {
				return err
			}
			two, err := vault.Seal(tx, "team_2", place, "two")
			if err != nil {
				return err
			}
			keys, err := tx.DataKeys("", 2)
			if err != nil {
				return err
			}
			if keys[0].Team == "team_2" { // two ids of one millisecond come in any order
				keys[0], keys[1] = keys[1], keys[0]
			}
			keys[1].Wrapped = keys[0].Wrapped
			if err := tx.UpdateDataKey(keys[1]); err != nil {
				return err
			}
			if got, err := vault.Open(tx, place, two); err == nil {
				t.Errorf("with another row's key it opens as %q", got.Reveal())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
