package accounts_test

import (
	"fmt"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/accounts"
	"postern/testkit/state"
)

func TestSessions_tooMany(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			until := models.Now().Add(time.Hour)
			for i := range 100 { // all older than the session of the first account
				row := models.Token{
					ID:        models.NewID("ses"),
					Kind:      "session",
					AccountID: &o.ana.Account,
					Hash:      accounts.HashForTest(fmt.Sprint(i)),
					CreatedAt: models.Now().Add(time.Duration(i-200) * time.Minute),
					ExpiresAt: &until,
				}
				if err := tx.Insert(&row); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		o.who(mustSignIn(t, o.s, "ana@example.com"))
		list, err := o.s.Sessions(t.Context(), o.ana, contract.SessionList{})
		if err != nil || len(list.Items) != 100 {
			t.Errorf("%d sessions, %v", len(list.Items), err)
		}
		for _, ended := range []string{"0", "1"} {
			if p, err := o.s.BySession(t.Context(), ended); err != nil || !p.Anonymous() {
				t.Errorf("session %s goes on: %v, %v", ended, p, err)
			}
		}
		o.who("2")
	})
}
