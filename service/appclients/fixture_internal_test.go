package appclients

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/secrets"
	"postern/service/access"
)

// fixture is the service with one team, whose tenant has one client.
type fixture struct {
	*Service
	owner  access.Principal
	tenant string
	client models.AppClient
}

func newFixture(t *testing.T, db *models.DB, algorithm string) *fixture {
	t.Helper()
	vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
	if err != nil {
		t.Fatal(err)
	}
	guard, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	r := &fixture{Service: &Service{
		DB:        db,
		Vault:     vault,
		Targets:   guard,
		PublicURL: "https://postern.example",
		Changed:   func(context.Context) {},
		Log:       slog.New(slog.NewTextHandler(t.Output(), nil)),
	}}
	team := models.Team{ID: models.NewID("team"), Name: "Shop", CreatedAt: models.Now()}
	tenant := models.Tenant{
		ID:        models.NewID("tnt"),
		TeamID:    &team.ID,
		Name:      "default",
		CreatedAt: team.CreatedAt,
		UpdatedAt: team.CreatedAt,
	}
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team, &tenant) }); err != nil {
		t.Fatal(err)
	}
	r.tenant, r.owner = tenant.ID, access.Principal{
		Account: "acc_1",
		Roles:   map[string]access.Role{team.ID: access.Owner},
	}
	made, err := r.CreateClient(t.Context(), r.owner, contract.NewAppClient{
		Name: "web", AppClientSettings: contract.AppClientSettings{Algorithm: &algorithm},
	}.In(tenant.ID))
	if err != nil {
		t.Fatal(err)
	}
	r.client = r.row(t, made.ID)
	return r
}

func (r *fixture) row(t *testing.T, id string) models.AppClient {
	t.Helper()
	row, err := r.DB.Read(t.Context()).AppClientByID(id)
	if err != nil {
		t.Fatal(err)
	}
	return row
}
