package keys_test

import (
	"fmt"
	"testing"

	"postern/migrations"
	"postern/models"
	"postern/service/keys"
	"postern/testkit/state"
)

// BenchmarkLoadAMillion measures how a server with a million keys starts.
func BenchmarkLoadAMillion(b *testing.B) {
	state.EachBenchmark(b, func(b *testing.B, db *models.DB) {
		now, hash, random := "datetime('now')", "randomblob(32)", "lower(hex(randomblob(8)))"
		if db.Dialect() == migrations.Postgres {
			now, hash, random = "now()", "sha256(i::text::bytea)", "substr(md5(i::text), 1, 16)"
		}
		for _, statement := range []string{
			`INSERT INTO teams (id, name, created_at) VALUES ('team_1', 't', ` + now + `)`,
			`INSERT INTO projects (id, team_id, name, display_name, fallback_owner, created_at, updated_at)
			 VALUES ('prj_1', 'team_1', 'shop', 'Shop', 'shop', ` + now + `, ` + now + `)`,
			`INSERT INTO tenants (id, project_id, name, created_at, updated_at)
			 VALUES ('tnt_1', 'prj_1', 'default', ` + now + `, ` + now + `)`,
			`INSERT INTO key_types (id, project_id, name, scopes, expires_in, built_in)
			 VALUES ('kty_1', 'prj_1', 'full', '["*"]', 0, true)`,
		} {
			if _, err := db.SQL().ExecContext(b.Context(), statement); err != nil {
				b.Fatal(err)
			}
		}
		const insert = `WITH RECURSIVE numbers (i) AS
			 (SELECT %[1]d UNION ALL SELECT i + 1 FROM numbers WHERE i < %[1]d + 99999)
			 INSERT INTO api_keys (id, team_id, project_id, tenant_id, key_type_id, owner, environment, description,
				state, hash, prefix, last4, created_at, updated_at)
			 SELECT 'key_' || substr(CAST(10000000000 + i AS TEXT), 2) || %[2]s, 'team_1', 'prj_1', 'tnt_1', 'kty_1',
				'customer-' || i, 'prod', '', 'active', %[3]s, 'pst_prod_', 'abcd', %[4]s, %[4]s
			 FROM numbers`
		for done := 0; done < 1_000_000; done += 100_000 {
			statement := fmt.Sprintf(insert, done, random, hash, now)
			if _, err := db.SQL().ExecContext(b.Context(), statement); err != nil {
				b.Fatal(err)
			}
		}
		for b.Loop() {
			if err := keys.NewTable().LoadAll(db.Bulk(b.Context())); err != nil {
				b.Fatal(err)
			}
		}
	})
}
