package keys_test

import (
	"testing"

	"postern/models"
	"postern/service/keys"
	"postern/testkit/state"
)

// A server with a million keys on PostgreSQL must be ready in seconds.
func BenchmarkLoadAMillionFromPostgres(b *testing.B) {
	db, err := models.Open(b.Context(), state.Postgres(b), "")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{
		`INSERT INTO teams (id, name, created_at) VALUES ('team_1', 't', now())`,
		`INSERT INTO projects VALUES ('prj_1', 'team_1', 'shop', 'Shop', 'shop', now(), now())`,
		`INSERT INTO tenants VALUES ('tnt_1', 'prj_1', 'default', now())`,
		`INSERT INTO key_types VALUES ('kty_1', 'prj_1', 'full', '["*"]', 0, true)`,
		`INSERT INTO api_keys (id, project_id, tenant_id, key_type_id, owner, environment, description,
			state, hash, prefix, last4, created_at, updated_at)
		 SELECT 'key_' || lpad(i::text, 26, '0'), 'prj_1', 'tnt_1', 'kty_1', 'customer-' || i, 'prod', '',
			'active', sha256(i::text::bytea), 'pst_prod_', 'abcd', now(), now()
		 FROM generate_series(1, 1000000) i`,
	} {
		if _, err := db.SQL().ExecContext(b.Context(), statement); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if err := keys.NewTable().LoadAll(db.Read(b.Context())); err != nil {
			b.Fatal(err)
		}
	}
}
