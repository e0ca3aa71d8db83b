package pages_test

import (
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/testkit"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestClientCertificate(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	target := s.Get("/projects/shop").Action("target")
	page := strings.TrimSuffix(target, "/target") + "/client-certificate"
	chain, key := testkit.Certificate(t, "client.test")
	_, otherKey := testkit.Certificate(t, "other.test")
	const heading = "Client certificate for 1.0.0/prod"

	s.Get("/projects/shop").Says("a[href='"+page+"']", "Client certificate")
	s.Get(page).Shows(200, heading).
		Says("main", "No certificate is set").
		Says("main a[href^='/projects/shop#']", "Change the target to an https URL first").
		Lacks("form[action='" + page + "']")
	s.Post(page, "certificate", string(chain), "private_key", string(key)).
		Shows(422, heading).Says("[role=alert]", "requires an https target")

	setTarget(t, s, target, "https://127.0.0.1:9")
	refused := s.Post(page, "certificate", string(chain), "private_key", string(otherKey)).
		Shows(422, heading).
		Says("#client-key-error", "doesn't match").
		Says("#client-certificate", "BEGIN CERTIFICATE")
	lacksKey(t, refused)
	refused = s.Post(page, "certificate", string(chain)+string(key), "private_key", string(key)).
		Shows(422, heading).
		Says("#client-certificate-error", "private key")
	lacksKey(t, refused)
	s.Post(page, "certificate", "", "private_key", "").
		Shows(422, heading).Says("#client-certificate-error", "X.509 certificates")
	s.Post(page+"/remove", "confirm", "true").Shows(404, "Page not found")

	s.Post(page, "certificate", string(chain), "private_key", string(key)).LeadsTo(page)
	shown := s.Get(page).Shows(200, heading).
		Says("dl", "CN=client.test").
		Says("#certificate-chain", "BEGIN CERTIFICATE").
		Says("form[action='"+page+"'] button", "Replace certificate")
	lacksKey(t, shown)
	s.Post("/projects/shop/delete", "confirm", "true").LeadsTo("/bin")
	s.Get(page).Shows(200, heading).
		Says("dl", "CN=client.test").
		Lacks("form[action^='" + page + "']")
	s.Post(page+"/remove", "confirm", "true").Shows(409, heading).Says("[role=alert]", "Restore it and try again")
	s.Post("/projects/shop/restore").LeadsTo("/projects/shop")
	s.Post(page+"/remove").Shows(422, heading).Says("form", "Check the box").Says("dl", "CN=client.test")
	s.Post(page+"/remove", "confirm", "true").LeadsTo(page)
	s.Get(page).Says("main", "No certificate is set")
	s.Get("/projects/shop/versions/1.0.0/environments/env_1/client-certificate").Shows(404, "Page not found")
}

func setTarget(t *testing.T, s *controlplane.Browser, action, target string) {
	t.Helper()
	form := s.Get("/projects/shop").Find("form[action='" + action + "']")
	s.Post(action, "target", target, "revision", form.Find("[name=revision]").AttrOr("value", "")).
		LeadsTo("/projects/shop")
}

// lacksKey asserts that a page has no private key. A placeholder has its first line only.
func lacksKey(t *testing.T, p *controlplane.Page) {
	t.Helper()
	if strings.Contains(p.Raw, "END PRIVATE KEY") {
		t.Errorf("%s: the page shows a private key", p.Request)
	}
}

func TestClientCertificate_expiry(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	target := s.Get("/projects/shop").Action("target")
	page := strings.TrimSuffix(target, "/target") + "/client-certificate"
	setTarget(t, s, target, "https://127.0.0.1:9")
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name  string
		left  time.Duration
		badge string
		tone  string
	}{
		{"more than 30 days", 40 * day, "valid", "good"},
		{"within 30 days", 29*day + 12*time.Hour, "expires in 29 days", "warn"},
		{"tomorrow", 36 * time.Hour, "expires in 1 day", "warn"},
		{"today", 12 * time.Hour, "expires within a day", "warn"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chain, key := testkit.CertificateUntil(t, time.Now().Add(tt.left), "client.test")
			s.Post(page, "certificate", string(chain), "private_key", string(key)).LeadsTo(page)
			s.Get(page).Says("main .badge.tone-"+tt.tone, tt.badge)
		})
	}
	t.Run("expired since it was set", func(t *testing.T) {
		chain, _ := testkit.CertificateUntil(t, time.Now().Add(-time.Minute), "client.test")
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			shop, err := tx.ProjectByName("shop")
			if err != nil {
				return err
			}
			environments, err := tx.EnvironmentsOf(shop.ID)
			if err != nil {
				return err
			}
			row, _, err := tx.UpstreamCertificateOf(environments[0].ID)
			if err != nil {
				return err
			}
			row.Chain = string(chain)
			return tx.SetUpstreamCertificate(row)
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Get(page).Says("main .badge.tone-bad", "expired")
	})
}
