package models_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"postern/models"
	"postern/testkit/state"
)

// once is something that one caller takes, however many come at the same moment.
type once struct {
	rows func(now time.Time) []any
	take func(tx *models.Tx, now time.Time) (bool, error)
}

func takenOnce() map[string]once {
	team, account, client, ends := "team_1", "acc_1", "cli_1", models.Now().Add(time.Hour)
	return map[string]once{
		"an invitation to a team": {
			func(now time.Time) []any {
				return []any{&models.Invitation{
					ID: "inv_1", TeamID: team, Role: "viewer", CodeHash: []byte("a"), CreatedBy: account,
					CreatedAt: now, ExpiresAt: ends,
				}}
			},
			func(tx *models.Tx, now time.Time) (bool, error) { return tx.UseInvitation("inv_1", now) },
		},
		"a link or an attempt of an account": {
			func(now time.Time) []any {
				return []any{&models.Token{
					ID: "tok_1", Kind: "trip", AccountID: &account, Hash: []byte("b"), CreatedAt: now, ExpiresAt: &ends,
				}}
			},
			func(tx *models.Tx, now time.Time) (bool, error) { return tx.UseToken("tok_1", now) },
		},
		"an answer to a sign-in": {
			func(now time.Time) []any { return []any{attemptOf("lgn_1", client, now, ends)} },
			func(tx *models.Tx, now time.Time) (bool, error) { return tx.AnswerLoginAttempt("lgn_1", now) },
		},
		"the end of a sign-in": {
			func(now time.Time) []any { return []any{attemptOf("lgn_2", client, now, ends)} },
			func(tx *models.Tx, now time.Time) (bool, error) { return tx.FinishLoginAttempt("lgn_2", now) },
		},
		"a code or refresh token": {
			func(now time.Time) []any {
				return []any{
					&models.EndUser{ID: "usr_1", TenantID: "tnt_1", State: "active", CreatedAt: now, UpdatedAt: now},
					&models.LoginSession{
						ID: "ses_1", ClientID: client, UserID: "usr_1", CreatedAt: now, ExpiresAt: ends,
					},
					&models.LoginGrant{
						Hash: []byte("c"), Kind: "code", SessionID: "ses_1", CreatedAt: now, ExpiresAt: ends,
					},
				}
			},
			func(tx *models.Tx, now time.Time) (bool, error) { return tx.UseLoginGrant([]byte("c"), nil, now) },
		},
		"the decision about a device": {
			func(now time.Time) []any { return []any{deviceOf("dev_1", now, ends)} },
			func(tx *models.Tx, _ time.Time) (bool, error) {
				return tx.DecideDeviceGrant("dev_1", "approved", account)
			},
		},
		"the token of a device": {
			func(now time.Time) []any { return []any{deviceOf("dev_2", now, ends)} },
			func(tx *models.Tx, _ time.Time) (bool, error) { return tx.DeleteDeviceGrant("dev_2") },
		},
		"an unclaimed workspace": {
			func(now time.Time) []any {
				return []any{&models.Team{ID: "team_2", ClaimCodeHash: []byte("d"), CreatedAt: now, ExpiresAt: &ends}}
			},
			func(tx *models.Tx, now time.Time) (bool, error) { return tx.ClaimTeam("team_2", "claimed", now) },
		},
	}
}

func attemptOf(id, client string, now, ends time.Time) *models.LoginAttempt {
	return &models.LoginAttempt{ID: id, ClientID: client, BrowserHash: []byte{1}, CreatedAt: now, ExpiresAt: ends}
}

func deviceOf(id string, now, ends time.Time) *models.DeviceGrant {
	return &models.DeviceGrant{
		ID: id, DeviceHash: []byte(id), UserHash: []byte("user " + id), Scopes: []string{}, State: "pending",
		CreatedAt: now, ExpiresAt: ends,
	}
}

// If eight callers take something at the same moment, one gets it.
func TestTakenOnce(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		now, team := models.Now(), "team_1"
		write := func(fn func(*models.Tx) error) {
			t.Helper()
			if err := db.Write(t.Context(), fn); err != nil {
				t.Fatal(err)
			}
		}
		write(func(tx *models.Tx) error {
			return tx.Insert(
				&models.Team{ID: team, CreatedAt: now, ClaimedAt: &now},
				&models.Account{ID: "acc_1", Email: "ana@example.com", CreatedAt: now},
				&models.Tenant{ID: "tnt_1", TeamID: &team, Name: "main", CreatedAt: now, UpdatedAt: now},
				&models.AppClient{
					ID: "cli_1", TenantID: "tnt_1", Name: "web", RedirectURIs: []string{}, LogoutURIs: []string{},
					CreatedAt: now, UpdatedAt: now,
				},
			)
		})
		for name, one := range takenOnce() {
			t.Run(name, func(t *testing.T) {
				write(func(tx *models.Tx) error { return tx.Insert(one.rows(now)...) })
				if taken := takenBy(t.Context(), db, 8, one.take); taken != 1 {
					t.Errorf("%d of 8 took it, want 1", taken)
				}
			})
		}
	})
}

// takenBy returns how many of n take something that they ask for at the same moment.
func takenBy(
	ctx context.Context, db *models.DB, n int, take func(*models.Tx, time.Time) (bool, error),
) (taken int) {
	var all sync.WaitGroup
	begin := make(chan struct{})
	got := make([]bool, n)
	for i := range got {
		all.Go(func() {
			<-begin
			_ = db.Write(ctx, func(tx *models.Tx) (err error) {
				got[i], err = take(tx, models.Now())
				return err
			})
		})
	}
	close(begin)
	all.Wait()
	for _, one := range got {
		if one {
			taken++
		}
	}
	return taken
}
