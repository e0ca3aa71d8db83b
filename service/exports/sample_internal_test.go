package exports

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"postern/bundle"
	"postern/core/contract"
	"postern/models"
	"postern/service/access"
	"postern/service/keys"
	"postern/service/projects"
	"postern/testkit/state"
)

type anyTarget struct{}

func (anyTarget) CheckTarget(_ context.Context, raw string) (*url.URL, error) { return url.Parse(raw) }

// A preview that counts keys must equal one that reads them one by one.
func TestKeySampler(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		address := func(p, v, e string) string { return "http://localhost/" + p + "/" + v + "/" + e }
		s := &Service{DB: db, AddressOf: address}
		created, err := (&projects.Service{
			DB:           db,
			Targets:      anyTarget{},
			Log:          slog.New(slog.NewTextHandler(t.Output(), nil)),
			KeyPrefix:    "pst",
			UnclaimedTTL: time.Hour,
			Changed:      func(context.Context) {},
		}).Create(t.Context(), access.Principal{}, projects.CreateInput{
			Target: "https://api.example.com", Name: "shop",
		})
		if err != nil {
			t.Fatal(err)
		}
		id := created.Project.ID
		addRandomKeys(t, db, id)
		for _, options := range []Options{
			{Format: "gateway", Consumers: true},
			{Format: "gateway", Consumers: true, Keys: "mint"},
			{Format: "gateway"},
			{Format: "data", Consumers: true},
			{Format: "data", Consumers: true, Keys: "mint"},
		} {
			for _, most := range []int{0, 1, 30, 100, 299, 300, 1000} {
				t.Run(fmt.Sprintf("%s, keys %q, %d", options.Format, options.Keys, most), func(t *testing.T) {
					s.samePreviews(t, id, options, most)
				})
			}
		}
	})
}

func (s *Service) samePreviews(t *testing.T, id string, options Options, most int) {
	t.Helper()
	options, err := options.normalized()
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.input(s.DB.Read(t.Context()), models.Export{
		ProjectID: id, Format: options.Format, Keys: options.Keys, Consumers: options.Consumers,
	})
	if err != nil {
		t.Fatal(err)
	}
	if in.Sample == nil {
		t.Fatal("the keys are not sampled")
	}
	counted, err := bundle.Preview(t.Context(), in, most)
	if err != nil {
		t.Fatal(err)
	}
	in.Sample = nil
	read, err := bundle.Preview(t.Context(), in, most)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(read, counted, cmpopts.IgnoreUnexported(bundle.Digest{})); diff != "" {
		t.Errorf("-read +counted:\n%s", diff)
	}
	if counted.Partial != (most < 300) {
		t.Errorf("of %d keys: partial %v", most, counted.Partial)
	}
}

// addRandomKeys creates 300 keys of four tenants, one of which the project does not serve, and of two users, one of
// them frozen.
func addRandomKeys(t *testing.T, db *models.DB, projectID string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 300))
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(db.Write(t.Context(), func(tx *models.Tx) error {
		project, err := tx.ProjectByID(projectID)
		check(err)
		types, err := tx.KeyTypesOf(projectID)
		check(err)
		own, err := tx.TenantsOf(projectID)
		check(err)
		now := models.Now()
		tenants, owners := []string{own[0].ID}, []string{"ana"}
		for i, name := range []string{"alpha", "gone", "zulu"} {
			one := models.Tenant{ID: "tnt_" + name, TeamID: &project.TeamID, Name: name, CreatedAt: now, UpdatedAt: now}
			check(tx.Insert(&one))
			if tenants = append(tenants, one.ID); name != "gone" {
				check(tx.Insert(&models.ProjectTenant{ProjectID: projectID, TenantID: one.ID, CreatedAt: now}))
			}
			if i == 2 {
				continue
			}
			user := models.EndUser{
				ID: models.NewID("usr"), TenantID: own[0].ID, Email: name + "@example.com",
				State: []string{"active", "frozen"}[i], CreatedAt: now, UpdatedAt: now,
			}
			check(tx.Insert(&user))
			owners = append(owners, user.ID)
		}
		for i := range 300 - len(created(tx, t, project)) {
			key, _, err := keys.Mint("pst", models.Project{ID: projectID}, tenants[random.IntN(4)],
				types[random.IntN(len(types))],
				contract.NewKey{Owner: owners[max(0, random.IntN(20)-17)]}, now)
			check(err)
			// Ids of one millisecond are not in the order of their creation.
			key.Last4 = fmt.Sprintf("%04d", i)
			vary(random, &key)
			check(tx.Insert(&key))
		}
		return nil
	}))
}

// created returns the keys that the project has.
func created(tx *models.Tx, t *testing.T, project models.Project) (out []string) {
	t.Helper()
	err := tx.ScanKeysOf(project.ID, nil, func(k *models.APIKey) error {
		out = append(out, k.ID)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// vary changes one of three keys.
func vary(random *rand.Rand, key *models.APIKey) {
	later := models.Now().Add(time.Hour)
	switch random.IntN(18) {
	case 0:
		key.State = "revoked"
	case 1:
		key.State = "frozen"
	case 2:
		key.ExpiresAt = &later
	case 3:
		key.OldHash, key.GraceEndsAt = append(models.Digest(nil), key.Hash...), &later
		key.OldHash[0]++
	case 4:
		key.Limits = &models.Limits{"minute": 5, "day": 100}
	case 5:
		key.AllowedCIDRs = models.Prefixes{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("10.0.0.0/8")}
	}
}
