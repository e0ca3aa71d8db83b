package models_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/models"
	"postern/testkit"
	"postern/testkit/state"
)

// importable inserts what imported keys refer to, and returns a key without an id and a hash.
func importable(tb testing.TB, db *models.DB) models.APIKey {
	tb.Helper()
	now := models.Now()
	team := models.Team{ID: models.NewID("team"), Name: "t", CreatedAt: now}
	project := models.Project{
		ID: models.NewID("prj"), TeamID: team.ID, Name: "shop", DisplayName: "Shop", CreatedAt: now, UpdatedAt: now,
	}
	tenant := models.Tenant{
		ID: models.NewID("tnt"), ProjectID: &project.ID, Name: "default", CreatedAt: now, UpdatedAt: now,
	}
	of := models.KeyType{ID: models.NewID("kty"), ProjectID: project.ID, Name: "full", Scopes: []string{"*"}}
	err := db.Write(tb.Context(), func(tx *models.Tx) error { return tx.Insert(&team, &project, &tenant, &of) })
	if err != nil {
		tb.Fatal(err)
	}
	return models.APIKey{
		TeamID: team.ID, ProjectID: project.ID, TenantID: tenant.ID, KeyTypeID: of.ID, Owner: "ana", State: "active",
		AllowedCIDRs: models.Prefixes{}, UpdatedAt: now,
		KeyDetails: contract.KeyDetails{Prefix: "pst_", Last4: "abcd", CreatedAt: now},
	}
}

func withHash(k models.APIKey, text string) models.APIKey {
	sum := sha256.Sum256([]byte(text))
	k.ID, k.Hash = models.NewID("key"), sum[:]
	return k
}

// Both databases keep every member of an imported key, and those that it doesn't have.
func TestInsertKeys(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		plain := importable(t, db)
		product := models.Product{
			ID: models.NewID("prd"), TeamID: plain.TeamID, Name: "p", CreatedAt: plain.UpdatedAt,
		}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&product) }); err != nil {
			t.Fatal(err)
		}
		at := func(hours int) *time.Time {
			when := plain.UpdatedAt.Add(time.Duration(hours) * time.Hour)
			return &when
		}
		old := sha256.Sum256([]byte("old"))
		full := withHash(plain, "full")
		full.ProductID, full.Environment, full.OldHash = &product.ID, "prod", old[:]
		full.Limits = &models.Limits{"hour": 9}
		full.AllowedCIDRs = models.Prefixes{netip.MustParsePrefix("192.0.2.0/24")}
		full.GraceEndsAt, full.ExpiresAt, full.LastUsedAt = at(1), at(2), at(-1)
		full.Description, full.Metadata = `a "b", {c} \ NULL ü`, `{"plan":"gold"}`
		full.Consumer, full.CredentialID = &contract.Consumer{ID: "c-1"}, new("cred-1")
		for _, field := range reflect.VisibleFields(reflect.TypeFor[models.APIKey]()) {
			if !field.Anonymous && reflect.ValueOf(full).FieldByIndex(field.Index).IsZero() {
				t.Errorf("the test lacks a value of %s", field.Name)
			}
		}
		rows := []models.APIKey{full, withHash(plain, "plain")}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.InsertKeys(rows) }); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			got, err := db.Read(t.Context()).KeyByID(row.ID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
				t.Errorf("the key (-inserted +read):\n%s", diff)
			}
		}
		twice := withHash(plain, "plain")
		err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.InsertKeys([]models.APIKey{twice}) })
		if !errors.Is(err, models.ErrDuplicate) {
			t.Errorf("a key that exists: %v", err)
		}
	})
}

// BenchmarkInsertKeys measures how long a batch of an import takes to write with InsertKeys, and with a parameter for
// each value.
func BenchmarkInsertKeys(b *testing.B) {
	state.EachBenchmark(b, func(b *testing.B, db *models.DB) {
		plain := importable(b, db)
		n := 0
		for name, insert := range testkit.ByName(map[string]func(*models.Tx, []models.APIKey) error{
			"InsertKeys": (*models.Tx).InsertKeys,
			"parameters": func(tx *models.Tx, rows []models.APIKey) error { return tx.Insert(&rows) },
		}) {
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					rows := make([]models.APIKey, 1000)
					for i := range rows {
						n++
						rows[i] = withHash(plain, fmt.Sprint(n))
						rows[i].Owner = fmt.Sprint("owner-", n)
					}
					if err := db.Write(b.Context(), func(tx *models.Tx) error { return insert(tx, rows) }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}
