package domains_test

import (
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/domains"
	"postern/testkit/state"
)

func TestCertificateOf_hostName(t *testing.T) {
	past, soon := models.Now().Add(-time.Hour), models.Now().Add(time.Hour)
	problem := models.Certificate{Host: "api.shop.test", Problem: "DNS leads elsewhere", DueAt: soon, Failures: 1}
	renewal := problem
	renewal.Chain, renewal.EndsAt = "PEM", &soon
	for name, c := range map[string]struct {
		pending bool
		acme    bool
		file    *time.Time
		row     *models.Certificate
		want    contract.DomainCertificate
	}{
		"nothing is set up": {want: contract.DomainCertificate{State: contract.NoCertificate}},
		"a name not yet ours": {pending: true, acme: true, want: contract.DomainCertificate{
			State: contract.NoCertificate,
		}},
		"in a file": {acme: true, file: &soon, row: &problem, want: contract.DomainCertificate{
			State: contract.ValidCertificate, Source: new(contract.CertificateFromFiles), EndsAt: &soon,
		}},
		"expired in a file": {file: &past, want: contract.DomainCertificate{
			State: contract.ExpiredCertificate, Source: new(contract.CertificateFromFiles), EndsAt: &past,
		}},
		"ordered": {acme: true, want: contract.DomainCertificate{
			State: contract.OrderedCertificate, Source: new(contract.CertificateFromACME),
		}},
		"failed": {acme: true, row: &problem, want: contract.DomainCertificate{
			State: contract.FailedCertificate, Source: new(contract.CertificateFromACME),
			Problem: &problem.Problem, RetryAt: &soon,
		}},
		"renewal failed": {acme: true, row: &renewal, want: contract.DomainCertificate{
			State: contract.ValidCertificate, Source: new(contract.CertificateFromACME), EndsAt: &soon,
			Problem: &problem.Problem, RetryAt: &soon,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				w := newWorld(t, db)
				w.ACME = c.acme
				w.InFiles = func(string) (time.Time, bool) {
					if c.file == nil {
						return time.Time{}, false
					}
					return *c.file, true
				}
				p := w.team(t, "shop")
				added := w.add(t, p, "shop", "api.shop.test")
				if !c.pending {
					w.names.Set(added.Record.Name, added.Record.Value)
					if _, err := w.Verify(t.Context(), p, contract.DomainOf("shop", added.ID)); err != nil {
						t.Fatal(err)
					}
				}
				if c.row != nil {
					if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(c.row) }); err != nil {
						t.Fatal(err)
					}
				}
				one, err := w.Get(t.Context(), p, contract.DomainOf("shop", added.ID))
				if err != nil {
					t.Fatal(err)
				}
				list, err := w.List(t.Context(), p, contract.DomainList{
					ProjectPath: contract.ProjectPath{Project: "shop"},
				})
				if err != nil || len(list.Items) != 1 {
					t.Fatalf("List: %v, %v", list, err)
				}
				for _, got := range []contract.DomainCertificate{one.Certificate, list.Items[0].Certificate} {
					if !same(got, c.want) {
						t.Errorf("got %+v, want %+v", got, c.want)
					}
				}
			})
		})
	}
}

// same compares two states of certificates, whose times come from different databases.
func same(got, want contract.DomainCertificate) bool {
	at := func(t *time.Time) int64 {
		if t == nil {
			return 0
		}
		return t.UnixMicro()
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	return got.State == want.State && text(got.Source) == text(want.Source) &&
		text(got.Problem) == text(want.Problem) &&
		at(got.EndsAt) == at(want.EndsAt) && at(got.RetryAt) == at(want.RetryAt)
}

func TestReportCertificate(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p := w.team(t, "shop")
		added := w.add(t, p, "shop", "api.shop.test")
		report := func() {
			err := db.Write(t.Context(), func(tx *models.Tx) error {
				return domains.ReportCertificate(tx, "api.shop.test", "certificate failed", "DNS leads elsewhere")
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		report() // of a name that is not verified
		w.names.Set(added.Record.Name, added.Record.Value)
		if _, err := w.Verify(t.Context(), p, contract.DomainOf("shop", added.ID)); err != nil {
			t.Fatal(err)
		}
		report()
		entries, err := db.Read(t.Context()).AuditEntries(models.AuditFilter{TeamID: p.HomeTeam}, 50)
		if err != nil {
			t.Fatal(err)
		}
		var found []models.AuditEntry
		for _, e := range entries {
			if e.Action == "domain.report" {
				found = append(found, e)
			}
		}
		if len(found) != 1 || found[0].Object != added.ID ||
			found[0].Detail["problem"] != "DNS leads elsewhere" {
			t.Errorf("audit entries: %+v", found)
		}
	})
}
