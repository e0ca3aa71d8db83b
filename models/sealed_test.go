package models_test

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm/schema"

	"postern/models"
	"postern/platform/secrets"
	"postern/testkit/state"
)

// Of a new sealed column it has to be decided whether gateways need it.
func TestSealedColumns(t *testing.T) {
	var want, got []string
	keys := map[string][]string{}
	for _, row := range rows {
		s, err := schema.Parse(row, &sync.Map{}, schema.NamingStrategy{})
		if err != nil {
			t.Fatal(err)
		}
		keys[s.Table] = s.PrimaryFieldDBNames
		for _, field := range s.Fields {
			if field.FieldType == reflect.TypeFor[secrets.Sealed]() {
				want = append(want, s.Table+"."+field.DBName)
			}
		}
	}
	for _, c := range models.SealedColumns() {
		got = append(got, c.Table+"."+c.Column)
		if c.Gateways != "" && !slices.Equal(c.Key, keys[c.Table]) {
			t.Errorf("the primary key of %s is %v, not %v", c.Table, keys[c.Table], c.Key)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("SealedColumns are\n%v\nthe models have\n%v", got, want)
	}
}

func TestMisplaced(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
		if err != nil {
			t.Fatal(err)
		}
		column := models.SealedColumn{
			Table:    "certificates",
			Column:   "private_key",
			Gateways: "host <> 'c'",
			Key:      []string{"host"},
		}
		err = db.Write(t.Context(), func(tx *models.Tx) error {
			for host, purpose := range map[string]secrets.Purpose{
				"a": secrets.ForControl, "b": secrets.ForControl, "c": secrets.ForGateways,
				"d": secrets.ForGateways, "e": secrets.ForControl,
			} {
				place := secrets.Place{Table: "certificates", Row: host, Column: "private_key", Purpose: purpose}
				sealed, err := vault.Seal(tx, "installation", place, "canary")
				if err != nil {
					return err
				}
				if err := tx.Insert(&models.Certificate{Host: host, PrivateKey: sealed}); err != nil {
					return err
				}
			}
			return tx.Insert(&models.Certificate{Host: "none"})
		})
		if err != nil {
			t.Fatal(err)
		}
		var hosts []string
		var all []models.SealedValue
		for after := []string(nil); ; {
			page, err := db.Read(t.Context()).Misplaced(column, after, 3)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, one := range page {
				hosts = append(hosts, one.Key[0])
				if want := one.Key[0] != "c"; (one.Purpose == secrets.ForGateways) != want {
					t.Errorf("%s is for %v", one.Key[0], one.Purpose)
				}
			}
			all, after = append(all, page...), page[len(page)-1].Key
		}
		if !slices.Equal(hosts, []string{"a", "b", "c", "e"}) {
			t.Errorf("misplaced are %v", hosts)
		}
		for i, want := range []bool{true, false} { // the second time it has changed
			if err := db.Write(t.Context(), func(tx *models.Tx) error {
				replaced, err := tx.ReplaceSealed(column, all[0], secrets.Sealed("another"))
				if replaced != want {
					t.Errorf("time %d: replaced is %v", i, replaced)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
