package domains_test

import (
	"testing"
	"time"

	"postern/models"
	"postern/service/domains"
	"postern/testkit/state"
)

func TestCertificateOfAHostName(t *testing.T) {
	past, soon := models.Now().Add(-time.Hour), models.Now().Add(time.Hour)
	problem := models.Certificate{Host: "api.shop.test", Problem: "DNS leads elsewhere", DueAt: soon, Failures: 1}
	renewal := problem
	renewal.Chain, renewal.EndsAt = "PEM", &soon
	for name, c := range map[string]struct {
		pending bool
		acme    bool
		file    *time.Time
		row     *models.Certificate
		want    domains.Certificate
	}{
		"nothing is set up":   {want: domains.Certificate{State: domains.NoCertificate}},
		"a name not yet ours": {pending: true, acme: true, want: domains.Certificate{State: domains.NoCertificate}},
		"in a file": {acme: true, file: &soon, row: &problem, want: domains.Certificate{
			State: domains.ValidCertificate, Source: domains.SourceFiles, EndsAt: &soon,
		}},
		"expired in a file": {file: &past, want: domains.Certificate{
			State: domains.ExpiredCertificate, Source: domains.SourceFiles, EndsAt: &past,
		}},
		"ordered": {acme: true, want: domains.Certificate{
			State: domains.OrderedCertificate, Source: domains.SourceACME,
		}},
		"failed": {acme: true, row: &problem, want: domains.Certificate{
			State: domains.FailedCertificate, Source: domains.SourceACME, Problem: problem.Problem, RetryAt: &soon,
		}},
		"renewal failed": {acme: true, row: &renewal, want: domains.Certificate{
			State: domains.ValidCertificate, Source: domains.SourceACME, EndsAt: &soon,
			Problem: problem.Problem, RetryAt: &soon,
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
					if _, err := w.Verify(t.Context(), p, "shop", added.ID); err != nil {
						t.Fatal(err)
					}
				}
				if c.row != nil {
					if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(c.row) }); err != nil {
						t.Fatal(err)
					}
				}
				one, err := w.Get(t.Context(), p, "shop", added.ID)
				if err != nil {
					t.Fatal(err)
				}
				list, err := w.List(t.Context(), p, "shop", "", models.Page{})
				if err != nil || len(list.Items) != 1 {
					t.Fatalf("List: %v, %v", list, err)
				}
				for _, got := range []domains.Certificate{one.Certificate, list.Items[0].Certificate} {
					if !same(got, c.want) {
						t.Errorf("got %+v, want %+v", got, c.want)
					}
				}
			})
		})
	}
}

// same compares two states of certificates, whose times come from different databases.
func same(got, want domains.Certificate) bool {
	at := func(t *time.Time) int64 {
		if t == nil {
			return 0
		}
		return t.UnixMicro()
	}
	return got.State == want.State && got.Source == want.Source && got.Problem == want.Problem &&
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
		if _, err := w.Verify(t.Context(), p, "shop", added.ID); err != nil {
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
