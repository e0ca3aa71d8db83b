package jobs_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"postern/jobs"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/webhooks"
	"postern/testkit/state"
)

// Each event reaches the receiver once, signed so that the official library
// accepts it, and holds nothing secret.
func TestEveryEventIsToldAndSigned(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, egress.Options{LoopbackAllowed: true})
		receiver := newReceiver(t)
		_, official := o.listen(t, receiver.URL)
		o.work(t)
		key := o.project.Keys["prod"]
		if _, err := o.keys.Rotate(t.Context(), o.ana, key.ID, "", time.Hour); err != nil {
			t.Fatal(err)
		}
		o.freeze(t)
		if _, err := o.keys.Revoke(t.Context(), o.ana, key.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := o.projects.Create(t.Context(), o.ana, newProject); err != nil { // with its first key
			t.Fatal(err)
		}
		unclaimed, _ := o.create(t)
		if _, err := o.accounts.Claim(t.Context(), o.ana, unclaimed.Workspace.ClaimCode, o.ana.HomeTeam); err != nil {
			t.Fatal(err)
		}
		o.request(t, o.ana, o.project.Project.ID)
		seen := map[string]map[string]string{}
		for _, m := range receiver.wait(t, 6) {
			if err := official.Verify([]byte(m.body), m.header); err != nil {
				t.Errorf("%s: %v", m.body, err)
			}
			var event struct {
				Type      string
				Timestamp time.Time
				Data      map[string]string
			}
			if err := json.Unmarshal([]byte(m.body), &event); err != nil || event.Timestamp.IsZero() {
				t.Errorf("%s: %v", m.body, err)
			}
			if seen[event.Type] != nil {
				t.Errorf("told twice of %s", event.Type)
			}
			seen[event.Type] = event.Data
			for _, secret := range []string{key.Plaintext, unclaimed.Workspace.Key, unclaimed.Workspace.ClaimCode, "whsec_"} {
				if strings.Contains(m.body, secret) {
					t.Errorf("%s holds a secret", m.body)
				}
			}
		}
		for event, want := range map[string]string{"key.rotated": key.ID, "key.frozen": key.ID, "key.revoked": key.ID} {
			if seen[event]["key"] != want {
				t.Errorf("%s: %v", event, seen[event])
			}
		}
		if seen["key.created"] == nil || seen["export.ready"]["project"] != o.project.Project.ID ||
			seen["project.claimed"]["project"] != unclaimed.Project.ID {
			t.Errorf("told of %v", seen)
		}
	})
}

func TestAFailedDeliveryIsTriedAgainUnderItsID(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, egress.Options{LoopbackAllowed: true})
		receiver := newReceiver(t, 500, 302, 400) // a redirect is no success, and is not followed
		hook, official := o.listen(t, receiver.URL+"/hook", webhooks.KeyFrozen)
		o.freeze(t)
		o.work(t)
		got := receiver.wait(t, 4)
		for _, m := range got {
			if err := official.Verify([]byte(m.body), m.header); err != nil || m.id != got[0].id ||
				m.body != got[0].body {
				t.Errorf("attempt %+v: %v, want the first message again", m, err)
			}
		}
		if d := o.waitState(t, hook.ID, webhooks.Delivered); d.Attempts != 4 || d.LastStatus != 200 ||
			d.LastError != "" ||
			d.ID != got[0].id {
			t.Errorf("%+v", d)
		}
		if again, err := o.hooks.Redeliver(t.Context(), o.ana, hook.ID, got[0].id); err != nil ||
			again.State != webhooks.Pending {
			t.Fatalf("redeliver: %+v, %v", again, err)
		}
		if got := receiver.wait(t, 5); got[4].id != got[0].id {
			t.Errorf("delivered again as %s, want %s", got[4].id, got[0].id)
		}
	})
}

func TestADeliveryThatNeverArrivesFails(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, egress.Options{LoopbackAllowed: true})
		receiver := newReceiver(t, 500, 500, 500, 500)
		hook, _ := o.listen(t, receiver.URL, webhooks.KeyFrozen)
		o.freeze(t)
		o.work(t)
		d := o.waitState(t, hook.ID, webhooks.Failed)
		if d.Attempts != 4 || d.LastStatus != 500 || d.LastError == "" || d.FinishedAt == nil {
			t.Errorf("%+v", d)
		}
		if after, err := o.hooks.Get(t.Context(), o.ana, hook.ID); err != nil || !after.Enabled ||
			after.FailingSince == nil {
			t.Errorf("%+v, %v; want it on, and failing", after, err)
		}
	})
}

// A receiver that is gone is told nothing more, and so is one where nothing has
// arrived for days; the team sees why.
func TestAWebhookThatFailsIsTurnedOff(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, egress.Options{LoopbackAllowed: true})
		for name, tc := range map[string]struct {
			status int
			since  time.Duration
			off    bool
		}{
			"gone":              {410, 0, true},
			"failing for days":  {500, 6 * 24 * time.Hour, true},
			"failing for a day": {500, 24 * time.Hour, false},
		} {
			t.Run(name, func(t *testing.T) {
				receiver := newReceiver(t, tc.status)
				hook, _ := o.listen(t, receiver.URL, webhooks.KeyFrozen)
				if tc.since > 0 {
					err := o.db.Write(
						t.Context(),
						func(tx *models.Tx) error { return tx.WebhookFailed(hook.ID, models.Now().Add(-tc.since)) },
					)
					if err != nil {
						t.Fatal(err)
					}
				}
				if _, err := o.keys.Unfreeze(t.Context(), o.ana, o.project.Keys["prod"].ID); err != nil {
					t.Fatal(err)
				}
				o.freeze(t)
				if err := o.hooks.Deliver(t.Context(), o.delivery(t, hook.ID).ID, false); err == nil &&
					tc.status != 410 {
					t.Error("a failed attempt is no error")
				}
				after, err := o.hooks.Get(t.Context(), o.ana, hook.ID)
				if err != nil || after.Enabled == tc.off || (after.DisabledReason != "") != tc.off {
					t.Errorf("%+v, %v; want it off: %v", after, err, tc.off)
				}
				if !tc.off {
					return
				}
				on := true
				if after, err = o.hooks.Update(t.Context(), o.ana, hook.ID, "", webhooks.Change{Enabled: &on}); err != nil ||
					!after.Enabled ||
					after.FailingSince != nil ||
					after.DisabledReason != "" {
					t.Errorf("turned on again: %+v, %v", after, err)
				}
			})
		}
	})
}

func TestWebhooksReachNoForbiddenAddress(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, egress.Options{}) // loopback is as forbidden as any inside
		receiver := newReceiver(t)
		hook, _ := o.listen(t, receiver.URL, webhooks.KeyFrozen)
		o.freeze(t)
		if err := o.hooks.Deliver(t.Context(), o.delivery(t, hook.ID).ID, true); err != nil {
			t.Fatal(err)
		}
		if d := o.delivery(t, hook.ID); d.State != webhooks.Failed || d.LastError != "the address may not be reached" ||
			len(receiver.messages()) != 0 {
			t.Errorf("%+v, %d messages arrived", d, len(receiver.messages()))
		}
	})
}

// Both secrets sign until the old one's time is up.
func TestARotatedSecretSignsBesideTheOldOne(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, egress.Options{LoopbackAllowed: true})
		receiver := newReceiver(t)
		hook, old := o.listen(t, receiver.URL, webhooks.KeyFrozen, webhooks.KeyRevoked)
		_, secret, err := o.hooks.Rotate(t.Context(), o.ana, hook.ID, "", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		o.freeze(t)
		if err := o.hooks.Deliver(t.Context(), o.delivery(t, hook.ID).ID, true); err != nil {
			t.Fatal(err)
		}
		m := receiver.wait(t, 1)[0]
		for which, v := range map[string]*standardwebhooks.Webhook{"old": old, "new": verifier(t, secret)} {
			if err := v.Verify([]byte(m.body), m.header); err != nil {
				t.Errorf("the %s secret: %v", which, err)
			}
		}
		_, last, err := o.hooks.Rotate(t.Context(), o.ana, hook.ID, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.keys.Revoke(t.Context(), o.ana, o.project.Keys["prod"].ID); err != nil {
			t.Fatal(err)
		}
		if err := o.hooks.Deliver(t.Context(), o.delivery(t, hook.ID).ID, true); err != nil {
			t.Fatal(err)
		}
		m = receiver.wait(t, 2)[1]
		if err := verifier(t, secret).Verify([]byte(m.body), m.header); err == nil {
			t.Error("a secret that was replaced at once still signs")
		}
		if err := verifier(t, last).Verify([]byte(m.body), m.header); err != nil {
			t.Error(err)
		}
		for _, row := range o.rows(t, "webhooks") {
			for _, s := range []secrets.Secret{secret, last} {
				if strings.Contains(row, s.Reveal()) ||
					strings.Contains(row, strings.TrimPrefix(s.Reveal(), "whsec_")) {
					t.Error("the database holds a secret that can be read")
				}
			}
		}
	})
}

// Two processes work on one queue: each message is sent once.
func TestTwoProcessesTellOnce(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, egress.Options{LoopbackAllowed: true})
		receiver := newReceiver(t)
		o.listen(t, receiver.URL, webhooks.KeyCreated)
		other, err := jobs.New(db, o.exports, testLogger(t), jobs.Deliveries(o.hooks, atOnce))
		if err != nil {
			t.Fatal(err)
		}
		o.work(t, other)
		const each = 20
		for range each {
			if _, err := o.projects.Create(t.Context(), o.ana, newProject); err != nil {
				t.Fatal(err)
			}
		}
		receiver.wait(t, each)
		stop(t.Context(), t, other)
		stop(t.Context(), t, o.queue)
		ids := map[string]bool{}
		for _, m := range receiver.messages() {
			ids[m.id] = true
		}
		if len(ids) != each || len(receiver.messages()) != each {
			t.Errorf("%d messages with %d ids, want %d", len(receiver.messages()), len(ids), each)
		}
	})
}

func TestAnEventThatIsRolledBackIsToldToNobody(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, egress.Options{LoopbackAllowed: true})
		o.listen(t, "http://127.0.0.1:1")
		before := len(o.rows(t, "river_job"))
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			if err := o.hooks.Emit(t.Context(), tx, o.ana.HomeTeam, webhooks.KeyFrozen, nil); err != nil {
				return err
			}
			return errLate
		})
		if jobs, sent := o.rows(t, "river_job"), o.rows(t, "webhook_deliveries"); len(jobs) != before ||
			len(sent) != 0 {
			t.Errorf("after %v: %d jobs, %d deliveries", err, len(jobs)-before, len(sent))
		}
	})
}

func TestWrongWebhooksNameTheField(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, egress.Options{})
		guard, err := egress.New(egress.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o.hooks.Targets = guard
		for pointer, in := range map[string]webhooks.CreateInput{
			"/url":         {URL: "http://169.254.169.254/"},
			"/events/1":    {URL: "http://8.8.8.8", Events: []string{webhooks.KeyFrozen, "key.eaten"}},
			"/description": {URL: "http://8.8.8.8", Description: strings.Repeat("x", 201)},
		} {
			_, _, err := o.hooks.Create(t.Context(), o.ana, in)
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || f.Kind != fault.Invalid || len(f.Fields) != 1 || f.Fields[0].Pointer != pointer {
				t.Errorf("%+v: %v, want %s refused", in, err, pointer)
			}
		}
		for _, url := range []string{"http://8.8.8.8/hook?code=a b", "http://8.8.8.8/hook?code=1#top", "http://8.8.8.8/hook?code=\x00", "http://169.254.169.254/?x=1"} {
			if _, _, err := o.hooks.Create(t.Context(), o.ana, webhooks.CreateInput{URL: url}); fault.KindOf(
				err,
			) != fault.Invalid {
				t.Errorf("%q: %v, want it refused", url, err)
			}
		}
		const asked = "http://8.8.8.8/hook?code=%20x&sig=a/b?c" // byte by byte: a receiver may sign it
		if made, _, err := o.hooks.Create(t.Context(), o.ana, webhooks.CreateInput{URL: asked}); err != nil ||
			made.URL != asked {
			t.Errorf("%q, %v; want the address with its query", made.URL, err)
		}
		key := access.Principal{
			Roles:    map[string]access.Role{o.ana.HomeTeam: access.Workspace},
			HomeTeam: o.ana.HomeTeam,
		}
		if _, _, err := o.hooks.Create(t.Context(), key, webhooks.CreateInput{URL: "http://8.8.8.8"}); fault.KindOf(
			err,
		) != fault.Forbidden {
			t.Errorf("with a workspace key: %v, want it forbidden", err)
		}
	})
}
