package jobs_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"postern/core/contract"
	"postern/models"
	"postern/platform/egress"
	"postern/testkit/state"
)

// Each event reaches the receiver once, signed as the standard-webhooks library
// expects, without secrets.
func TestWebhooks_everyEvent(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newWebhookFixture(t, db, egress.Options{LoopbackAllowed: true})
		receiver := newReceiver(t)
		_, official := f.subscribe(t, receiver.URL)
		f.startWorkers(t)
		key := f.project.Keys["prod"]
		if _, err := f.keys.Rotate(t.Context(), f.ana, contract.KeyRotation{KeyPath: key.Path()}); err != nil {
			t.Fatal(err)
		}
		f.freeze(t)
		if _, err := f.keys.Revoke(t.Context(), f.ana, key.Path()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.projects.Create(t.Context(), f.ana, newProject); err != nil { // with its first key
			t.Fatal(err)
		}
		unclaimed, _ := f.create(t)
		claim := contract.ClaimOf(unclaimed.Workspace.ClaimCode, f.ana.HomeTeam)
		if _, err := f.accounts.Claim(t.Context(), f.ana, claim); err != nil {
			t.Fatal(err)
		}
		f.request(t, f.ana, f.project.Project.ID)
		received := receivedEvents(t, official, receiver.wait(t, 6),
			key.Secret.Reveal(), unclaimed.Workspace.Key, unclaimed.Workspace.ClaimCode, "whsec_")
		for _, tt := range []struct{ event, member, want string }{
			{"key.rotated", "key", key.ID},
			{"key.frozen", "key", key.ID},
			{"key.revoked", "key", key.ID},
			{"export.ready", "project", f.project.Project.ID},
			{"project.claimed", "project", unclaimed.Project.ID},
		} {
			if got := received[tt.event][tt.member]; got != tt.want {
				t.Errorf("%s: %s is %v, want %q", tt.event, tt.member, got, tt.want)
			}
		}
		if received["key.created"] == nil {
			t.Errorf("key.created was not received: %v", received)
		}
	})
}

// receivedEvents returns the data of each message by its type. It reports messages
// with a wrong signature, without a timestamp, with a secret, or sent twice.
func receivedEvents(
	t *testing.T, official *standardwebhooks.Webhook, messages []message, secrets ...string,
) map[string]map[string]any {
	t.Helper()
	received := map[string]map[string]any{}
	for _, m := range messages {
		if err := official.Verify([]byte(m.body), m.header); err != nil {
			t.Errorf("%s: %v", m.body, err)
		}
		var event struct {
			Type      string
			Timestamp time.Time
			Data      map[string]any
		}
		if err := json.Unmarshal([]byte(m.body), &event); err != nil {
			t.Errorf("%s: %v", m.body, err)
		}
		if event.Timestamp.IsZero() {
			t.Errorf("%s: no timestamp", m.body)
		}
		if received[event.Type] != nil {
			t.Errorf("%s was received twice", event.Type)
		}
		received[event.Type] = event.Data
		for _, secret := range secrets {
			if strings.Contains(m.body, secret) {
				t.Errorf("%s contains a secret", m.body)
			}
		}
	}
	return received
}

func TestWebhooks_retry(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newWebhookFixture(t, db, egress.Options{LoopbackAllowed: true})
		receiver := newReceiver(t, 500, 302, 400) // a redirect isn't success, and is not followed
		hook, official := f.subscribe(t, receiver.URL+"/hook", contract.EventKeyFrozen)
		f.freeze(t)
		f.startWorkers(t)
		got := receiver.wait(t, 4)
		for _, m := range got {
			if err := official.Verify([]byte(m.body), m.header); err != nil {
				t.Errorf("attempt %+v: %v", m, err)
			}
			if m.id != got[0].id || m.body != got[0].body {
				t.Errorf("attempt %+v, want the first message again: %+v", m, got[0])
			}
		}
		d := f.waitState(t, hook.ID, contract.DeliveryDelivered)
		if d.ID != got[0].id {
			t.Errorf("delivery %s, want the id of the message, %s", d.ID, got[0].id)
		}
		if d.Attempts != 4 {
			t.Errorf("%d attempts, want 4", d.Attempts)
		}
		if d.LastStatus == nil || *d.LastStatus != 200 || d.LastError != nil {
			t.Errorf("got %+v, want 200 without an error", d)
		}
		again, err := f.hooks.Redeliver(t.Context(), f.ana, contract.DeliveryPath{
			WebhookPath: hook.Path(), Delivery: got[0].id,
		})
		if err != nil {
			t.Fatalf("redeliver: %v", err)
		}
		if again.State != contract.DeliveryPending {
			t.Errorf("redelivered: %s, want %s", again.State, contract.DeliveryPending)
		}
		if got := receiver.wait(t, 5); got[4].id != got[0].id {
			t.Errorf("delivered again as %s, want %s", got[4].id, got[0].id)
		}
	})
}

func TestWebhooks_lastAttempt(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newWebhookFixture(t, db, egress.Options{LoopbackAllowed: true})
		receiver := newReceiver(t, 500, 500, 500, 500)
		hook, _ := f.subscribe(t, receiver.URL, contract.EventKeyFrozen)
		f.freeze(t)
		f.startWorkers(t)
		d := f.waitState(t, hook.ID, contract.DeliveryFailed)
		if d.Attempts != 4 {
			t.Errorf("%d attempts, want 4", d.Attempts)
		}
		if d.LastStatus == nil || *d.LastStatus != 500 || d.LastError == nil {
			t.Errorf("got %+v, want 500 with an error", d)
		}
		if d.FinishedAt == nil {
			t.Error("the failed delivery has no finish time")
		}
		after, err := f.hooks.Get(t.Context(), f.ana, hook.Path())
		if err != nil {
			t.Fatal(err)
		}
		if !after.Enabled || after.FailingSince == nil {
			t.Errorf("%+v; want it enabled, and failing", after)
		}
	})
}

// A webhook is disabled, with the reason, once its receiver answers 410 or has failed
// for days.
func TestWebhooks_disabled(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newWebhookFixture(t, db, egress.Options{LoopbackAllowed: true})
		for name, tc := range map[string]struct {
			status   int
			since    time.Duration
			disabled bool
		}{
			"gone":              {410, 0, true},
			"failing for days":  {500, 6 * 24 * time.Hour, true},
			"failing for a day": {500, 24 * time.Hour, false},
		} {
			t.Run(name, func(t *testing.T) {
				hook := f.failOnce(t, tc.status, tc.since)
				after, err := f.hooks.Get(t.Context(), f.ana, contract.WebhookPath{Webhook: hook})
				if err != nil {
					t.Fatal(err)
				}
				if after.Enabled == tc.disabled {
					t.Errorf("enabled: %v, want %v", after.Enabled, !tc.disabled)
				}
				if (after.DisabledReason != nil) != tc.disabled {
					t.Errorf("disabled: %v, want %v", !tc.disabled, tc.disabled)
				}
				if tc.disabled {
					f.enable(t, hook)
				}
			})
		}
	})
}

// failOnce delivers an event to a new webhook whose receiver answers with status, and
// which has been failing for a time. It returns the webhook's id.
func (f *webhookFixture) failOnce(t *testing.T, status int, failing time.Duration) (hook string) {
	t.Helper()
	receiver := newReceiver(t, status)
	created, _ := f.subscribe(t, receiver.URL, contract.EventKeyFrozen)
	if failing > 0 {
		err := f.db.Write(t.Context(), func(tx *models.Tx) error {
			return tx.WebhookFailed(created.ID, models.Now().Add(-failing))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.keys.Unfreeze(t.Context(), f.ana, f.project.Keys["prod"].Path()); err != nil {
		t.Fatal(err)
	}
	f.freeze(t)
	err := f.hooks.Deliver(t.Context(), f.delivery(t, created.ID).ID, false)
	if err == nil && status != 410 {
		t.Error("a failed attempt returned no error")
	}
	return created.ID
}

// enable enables a webhook and checks that its failure is forgotten.
func (f *webhookFixture) enable(t *testing.T, hook string) {
	t.Helper()
	enabled := true
	after, err := f.hooks.Update(t.Context(), f.ana, contract.WebhookUpdate{
		WebhookPath: contract.WebhookPath{Webhook: hook},
		Body:        contract.WebhookChange{Enabled: &enabled},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !after.Enabled {
		t.Error("not enabled")
	}
	if after.FailingSince != nil {
		t.Errorf("enabled, but failing since %v", after.FailingSince)
	}
	if after.DisabledReason != nil {
		t.Errorf("enabled, but disabled because of %q", *after.DisabledReason)
	}
}

func TestWebhooks_forbiddenAddress(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newWebhookFixture(t, db, egress.Options{}) // loopback addresses are forbidden
		receiver := newReceiver(t)
		hook, _ := f.subscribe(t, receiver.URL, contract.EventKeyFrozen)
		f.freeze(t)
		if err := f.hooks.Deliver(t.Context(), f.delivery(t, hook.ID).ID, true); err != nil {
			t.Fatal(err)
		}
		d := f.delivery(t, hook.ID)
		if d.State != contract.DeliveryFailed {
			t.Errorf("state %s, want %s", d.State, contract.DeliveryFailed)
		}
		if d.LastError == nil || *d.LastError != "the address isn't allowed" {
			t.Errorf("got %+v", d)
		}
		if n := len(receiver.messages()); n != 0 {
			t.Errorf("%d messages arrived", n)
		}
	})
}

// Both secrets sign until the old one's grace period ends.
func TestWebhooks_rotatedSecret(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newWebhookFixture(t, db, egress.Options{LoopbackAllowed: true})
		receiver := newReceiver(t)
		hook, old := f.subscribe(t, receiver.URL, contract.EventKeyFrozen, contract.EventKeyRevoked)
		hour, none := int64(3600), int64(0)
		rotated, err := f.hooks.Rotate(t.Context(), f.ana, contract.WebhookRotation{
			WebhookPath: hook.Path(), Body: &contract.Overlap{OverlapSeconds: &hour},
		})
		if err != nil {
			t.Fatal(err)
		}
		f.freeze(t)
		if err := f.hooks.Deliver(t.Context(), f.delivery(t, hook.ID).ID, true); err != nil {
			t.Fatal(err)
		}
		m := receiver.wait(t, 1)[0]
		for which, v := range map[string]*standardwebhooks.Webhook{"old": old, "new": verifier(t, rotated.Secret)} {
			if err := v.Verify([]byte(m.body), m.header); err != nil {
				t.Errorf("the %s secret: %v", which, err)
			}
		}
		last, err := f.hooks.Rotate(t.Context(), f.ana, contract.WebhookRotation{
			WebhookPath: hook.Path(), Body: &contract.Overlap{OverlapSeconds: &none},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.keys.Revoke(t.Context(), f.ana, f.project.Keys["prod"].Path()); err != nil {
			t.Fatal(err)
		}
		if err := f.hooks.Deliver(t.Context(), f.delivery(t, hook.ID).ID, true); err != nil {
			t.Fatal(err)
		}
		m = receiver.wait(t, 2)[1]
		if err := verifier(t, rotated.Secret).Verify([]byte(m.body), m.header); err == nil {
			t.Error("a secret that was replaced at once still signs")
		}
		if err := verifier(t, last.Secret).Verify([]byte(m.body), m.header); err != nil {
			t.Error(err)
		}
		for _, row := range f.rows(t, "webhooks") {
			for _, s := range []contract.Secret{rotated.Secret, last.Secret} {
				if strings.Contains(row, strings.TrimPrefix(s.Reveal(), "whsec_")) {
					t.Error("the database holds a secret in plain text")
				}
			}
		}
	})
}

// Two processes take jobs from one queue: each message is sent once.
func TestWebhooks_twoProcesses(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newWebhookFixture(t, db, egress.Options{LoopbackAllowed: true})
		receiver := newReceiver(t)
		f.subscribe(t, receiver.URL, contract.EventKeyCreated)
		other := f.newWorkers(t)
		f.startWorkers(t, other)
		const each = 20
		for range each {
			if _, err := f.projects.Create(t.Context(), f.ana, newProject); err != nil {
				t.Fatal(err)
			}
		}
		receiver.wait(t, each)
		stop(t.Context(), t, other)
		stop(t.Context(), t, f.workers)
		ids := map[string]bool{}
		for _, m := range receiver.messages() {
			ids[m.id] = true
		}
		if len(ids) != each || len(receiver.messages()) != each {
			t.Errorf("%d messages with %d ids, want %d", len(receiver.messages()), len(ids), each)
		}
	})
}

func TestWebhooks_rollback(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newWebhookFixture(t, db, egress.Options{LoopbackAllowed: true})
		f.subscribe(t, "http://127.0.0.1:1")
		before := len(f.rows(t, "river_job"))
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			if err := f.hooks.Emit(t.Context(), tx, f.ana.HomeTeam, contract.EventKeyFrozen, nil); err != nil {
				return err
			}
			return errLate
		})
		if jobs := f.rows(t, "river_job"); len(jobs) != before {
			t.Errorf("after %v: %d new jobs", err, len(jobs)-before)
		}
		if deliveries := f.rows(t, "webhook_deliveries"); len(deliveries) != 0 {
			t.Errorf("after %v: %d deliveries", err, len(deliveries))
		}
	})
}
