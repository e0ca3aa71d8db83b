package pages_test

import (
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestDomain_certificate(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	s.Post("/projects/shop/domains", "host", "api.shop.test", "environment", "prod")
	s.Get("/projects/shop/domains").Says("main", "pending")
	shop, err := db.Read(t.Context()).ProjectByName("shop")
	if err != nil {
		t.Fatal(err)
	}
	domain, err := db.Read(t.Context()).DomainsOf(shop.ID, "", models.Page{})
	if err != nil || len(domain.Items) != 1 {
		t.Fatalf("%v, %v", domain, err)
	}
	row := domain.Items[0]
	page := "/projects/shop/domains/" + row.ID
	s.Get(page).Says("dl", "none")

	now := models.Now()
	seen := row.UpdatedAt
	row.VerifiedAt, row.Proof = &now, contract.ProofOperator
	write(t, db, func(tx *models.Tx) error {
		_, err := tx.UpdateDomain(row, seen)
		return err
	})
	s.Get(page).Says("dl", "being requested by ACME")

	ends := now.Add(24 * time.Hour)
	write(t, db, func(tx *models.Tx) error {
		return tx.Insert(&models.Certificate{
			Host:     row.Host,
			Chain:    "PEM",
			EndsAt:   &ends,
			DueAt:    now,
			Failures: 1,
			Problem:  "<b>DNS problem</b>: NXDOMAIN.",
		})
	})
	s.Get(page).Says("dl", "by ACME, valid until "+ends.Format("2 Jan 2006")).
		Says("main", "failed: <b>DNS problem</b>: NXDOMAIN. Next attempt")
}

// write changes the database without using the pages.
func write(t *testing.T, db *models.DB, change func(*models.Tx) error) {
	t.Helper()
	if err := db.Write(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}
