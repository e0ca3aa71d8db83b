package models_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"postern/models"
	"postern/testkit/state"
)

// countedBy are groupings of the naive sums.
var countedBy = [][]string{
	{}, {models.UsageByKey, models.UsageByOwner}, {models.UsageByRoute}, {models.UsageByStatusClass},
	{models.UsageByEnvironment, models.UsageByDay}, {models.UsageByOwner, models.UsageByStatusClass},
}

// Sums of days and spans must be those of the hours, however far days are folded, which calls come late, and which
// days are deleted.
func TestUsageOf_folded(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		const firstDay, days = 20_000, 60
		random := rand.New(rand.NewPCG(17, 30))
		row := func(day int64) models.UsageHour {
			return models.UsageHour{
				ProjectID:     fmt.Sprint("prj_", random.IntN(2)),
				Hour:          day*24 + random.Int64N(24),
				EnvironmentID: fmt.Sprint("env_", random.IntN(2)),
				Owner:         fmt.Sprint("owner_", random.IntN(3)),
				KeyID:         fmt.Sprint("key_", random.IntN(3)),
				Route:         fmt.Sprint("/", random.IntN(2)),
				StatusClass:   2 + random.Int64N(3),
				Calls:         1 + random.Int64N(9),
				BytesIn:       random.Int64N(100),
				BytesOut:      random.Int64N(100),
			}
		}
		kept, spans := int64(firstDay), false
		for day := int64(firstDay); day < firstDay+days; day++ {
			var rows []models.UsageHour
			for range random.IntN(8) {
				rows = append(rows, row(day))
			}
			for range random.IntN(4) { // late
				rows = append(rows, row(kept+random.Int64N(day-kept+1)))
			}
			addUsage(t, db, distinct(rows)...)
			if random.IntN(3) > 0 {
				fold(t, db, day-1, 1+random.Int64N(7))
			}
			if random.IntN(5) == 0 && day > kept+30 {
				kept = day - 20 - random.Int64N(10)
				deleteUsage(t, db, kept*24)
			}
			from := (kept-10)*24 + random.Int64N((day-kept+11)*24) // some are deleted
			to := from + 1 + random.Int64N((day+2)*24-from)
			for _, by := range countedBy {
				sameSums(t, db, from, to, by)
			}
			spans = spans || longSpans(t, db)
		}
		if !spans {
			t.Error("no days were folded into the longest spans")
		}
	})
}

// distinct leaves out rows with the key of another one, which a statement must not have twice.
func distinct(rows []models.UsageHour) []models.UsageHour {
	key := func(r models.UsageHour) models.UsageHour {
		r.Calls, r.BytesIn, r.BytesOut = 0, 0, 0
		return r
	}
	seen := map[models.UsageHour]bool{}
	return slices.DeleteFunc(rows, func(r models.UsageHour) bool {
		known := seen[key(r)]
		seen[key(r)] = true
		return known
	})
}

func fold(t *testing.T, db *models.DB, through, limit int64) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		for _, project := range []string{"prj_0", "prj_1"} {
			if err := tx.FoldUsage(project, through, limit); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func deleteUsage(t *testing.T, db *models.DB, before int64) {
	t.Helper()
	for _, project := range []string{"prj_0", "prj_1"} {
		for more := true; more; {
			err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
				more, err = tx.DeleteUsage(project, before)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// sameSums compares sums with those that are made here of sums by the hour.
func sameSums(t *testing.T, db *models.DB, from, to int64, by []string) {
	t.Helper()
	tx := db.Read(t.Context())
	got, err := tx.UsageOf("prj_0", from, to, by, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	hours, err := tx.UsageOf("prj_0", from, to, append(slices.Clone(by), models.UsageByHour), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[models.UsageSum]models.UsageSum{}
	for _, hour := range hours {
		group := hour
		group.Hour, group.Calls, group.BytesIn, group.BytesOut = 0, 0, 0, 0
		sum, known := sums[group]
		if !known {
			sum = group
		}
		sum.Calls += hour.Calls
		sum.BytesIn += hour.BytesIn
		sum.BytesOut += hour.BytesOut
		sums[group] = sum
	}
	var want []models.UsageSum
	for _, sum := range sums {
		want = append(want, sum)
	}
	if len(by) == 0 && len(want) == 0 {
		want = make([]models.UsageSum, 1)
	}
	order := func(a, b models.UsageSum) int { return cmp.Compare(fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", b)) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Fatalf("hours %d to %d by %v:\n%+v, want\n%+v", from, to, by, got, want)
	}
}

// longSpans reports whether there are spans of nine days.
func longSpans(t *testing.T, db *models.DB) bool {
	t.Helper()
	var n int
	if err := db.SQL().QueryRow("SELECT count(*) FROM usage_spans WHERE days = 9").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n > 0
}
