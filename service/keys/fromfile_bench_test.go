package keys_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/keys"
	"postern/testkit/state"
)

// BenchmarkImportFrom measures how long 20,000 rows of an import take, without the gateways that follow it.
func BenchmarkImportFrom(b *testing.B) {
	state.EachBenchmark(b, func(b *testing.B, db *models.DB) {
		w := newWorld(b, db)
		w.Changed = func(context.Context) {}
		// An unclaimed workspace may not have as many keys.
		if _, err := db.SQL().ExecContext(b.Context(), "UPDATE teams SET claimed_at = created_at"); err != nil {
			b.Fatal(err)
		}
		in := contract.KeyImport{ProjectPath: contract.ProjectPath{Project: w.project.ID}, KeyType: "full"}
		const rows = 20_000
		n := 0
		for b.Loop() {
			var file strings.Builder
			for range rows {
				n++
				fmt.Fprintf(&file, `{"owner":"customer-%d","key":"legacy-k9J2hG5fD8sA-%08d"}`+"\n", n%1000, n)
			}
			out, err := w.ImportFrom(b.Context(), w.owner, in, keys.ImportFile{}, strings.NewReader(file.String()))
			if err != nil || out.Created != rows {
				b.Fatalf("%+v, %v", out, err)
			}
		}
		b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "keys/s")
	})
}
