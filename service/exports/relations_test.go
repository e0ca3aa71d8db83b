package exports_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/models"
	"postern/service/exports"
	"postern/testkit/state"
)

// Owners of objects leave with the consumers, in one order on both databases, and as tuples for OpenFGA.
func TestBuild_owners(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		const many = 20_001 // more than ScanRelations reads at once
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			tenants, err := tx.TenantsOf(w.project)
			if err != nil {
				return err
			}
			rows := []models.Relation{}
			for i := range many {
				rows = append(rows, models.Relation{
					ProjectID: w.project, TenantID: tenants[0].ID, Relation: "owner", CreatedAt: models.Now(),
					Object: fmt.Sprintf("order:%d", i),
					User:   []string{"Zoe", "ana", "ärger (https://id.example)", "_x"}[i%4],
				})
			}
			_, err = tx.AddRelations(rows, models.Now())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for consumers, want := range map[bool]int{true: many, false: 0} {
			e := w.request(t, exports.Options{Format: "gateway", Consumers: consumers})
			if err := w.Build(t.Context(), e.ID, true); err != nil {
				t.Fatal(err)
			}
			data := w.download(t, e.ID)
			contents, err := bundle.Read(t.Context(), bytes.NewReader(data), int64(len(data)),
				bundle.Against{Targets: targets.All()})
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for r, err := range contents.Relations(t.Context()) {
				if err != nil || r.Tenant != "default" || !strings.HasPrefix(r.Object, "order:") {
					t.Fatalf("%+v: %v", r, err)
				}
				got++
			}
			if got != want {
				t.Errorf("%d owners with consumers %t, want %d", got, consumers, want)
			}
		}
	})
}
