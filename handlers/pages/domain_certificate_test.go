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
	s.Get(page).Says("dl", "being requested through ACME")

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
	s.Get(page).Says("dl", "issued through ACME, valid until "+ends.Format("2 Jan 2006")).
		Says("main", "failed: <b>DNS problem</b>: NXDOMAIN. Next attempt")
}

// A page sets which calls a domain takes, and shows mistakes where they were made.
func TestDomain_calls(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	const list = "/projects/shop/domains"
	s.Post(list, "host", "api.shop.test", "environment", "prod", "path_prefix", "orders", "strip_prefix", "true",
		"methods", "GET").
		Shows(422, "Custom domains").
		Says("#domain-prefix-error", "Start the prefix with a slash")
	s.Post(list, "host", "api.shop.test", "environment", "prod", "path_prefix", "/orders", "strip_prefix", "true",
		"methods", "POST", "methods", "GET")
	s.Get(list).Says("main", "api.shop.test/orders").Says("main", "GET, POST")
	shop, err := db.Read(t.Context()).ProjectByName("shop")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.Read(t.Context()).DomainsOf(shop.ID, "", models.Page{})
	if err != nil || len(rows.Items) != 1 {
		t.Fatalf("%v, %v", rows, err)
	}
	page := list + "/" + rows.Items[0].ID
	revision := s.Get(page).
		Says("dl", "GET, POST, /orders and paths below it (prefix removed)").
		Find("[name=revision]").AttrOr("value", "")
	s.Post(page, "revision", revision, "environment", rows.Items[0].EnvironmentID, "path_prefix", "/orders/").
		Shows(422, "api.shop.test/orders").
		Says("#domain-move-prefix-error", "Leave out the slash at the end")
	s.Post(page, "revision", revision, "environment", rows.Items[0].EnvironmentID, "path_prefix", "/new")
	s.Get(page).Says("h1", "api.shop.test/new").Says("dl", "all methods, /new and paths below it (prefix kept)")
}

// write changes the database without using the pages.
func write(t *testing.T, db *models.DB, change func(*models.Tx) error) {
	t.Helper()
	if err := db.Write(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}
