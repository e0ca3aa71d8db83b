package webhooks_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"postern/core/contract"
	"postern/platform/fault"
	"postern/service/webhooks"
	"postern/testkit"
)

// verifies reports whether a message is signed with the secret, as a receiver finds
// out with the library of Standard Webhooks.
func verifies(t *testing.T, m message, secret contract.Secret) bool {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	return verifier.Verify([]byte(m.body), m.header) == nil
}

func TestDeliver(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		hook, secret := f.create(t)
		id := f.emitOne(t)
		if err := f.Deliver(t.Context(), id, false); err != nil {
			t.Fatal(err)
		}
		if err := f.Deliver(t.Context(), id, false); err != nil {
			t.Errorf("a finished delivery: %v", err)
		}
		got := f.messages()
		if len(got) != 1 {
			t.Fatalf("%d messages, want 1", len(got))
		}
		if header := got[0].header.Get("Webhook-Id"); header != id {
			t.Errorf("Webhook-Id %q, want %q", header, id)
		}
		if !verifies(t, got[0], secret) {
			t.Errorf("signature %q is not valid", got[0].header.Get("Webhook-Signature"))
		}
		var body struct {
			Type      string            `json:"type"`
			Timestamp time.Time         `json:"timestamp"`
			Data      map[string]string `json:"data"`
		}
		if err := json.Unmarshal([]byte(got[0].body), &body); err != nil {
			t.Fatal(err)
		}
		if body.Type != contract.EventKeyCreated {
			t.Errorf("type %q", body.Type)
		}
		if body.Data["key"] != "key_1" {
			t.Errorf("data %v", body.Data)
		}
		if d := f.delivery(t, hook.ID, id); d.State != contract.DeliveryDelivered {
			t.Errorf("state %s, want %s", d.State, contract.DeliveryDelivered)
		}
	})
}

// A secret is whsec_ and the base64 of 32 bytes, as in the specification.
func TestCreate_secret(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, secret := f.create(t)
		encoded, ok := strings.CutPrefix(secret.Reveal(), "whsec_")
		if !ok {
			t.Fatal("no prefix whsec_")
		}
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if len(key) != 32 {
			t.Errorf("%d bytes, want 32", len(key))
		}
	})
}

func TestDeliver_afterRotate(t *testing.T) {
	tests := map[string]struct {
		overlap time.Duration
		old     bool
	}{
		"with overlap":    {time.Hour, true},
		"without overlap": {0, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, f *fixture) {
				hook, old := f.create(t)
				seconds := int64(tt.overlap.Seconds())
				rotated, err := f.Rotate(t.Context(), f.owner, contract.WebhookRotation{
					WebhookPath: hook.Path(), Body: &contract.Overlap{OverlapSeconds: &seconds},
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := f.Deliver(t.Context(), f.emitOne(t), false); err != nil {
					t.Fatal(err)
				}
				m := f.messages()[0]
				if !verifies(t, m, rotated.Secret) {
					t.Error("not signed with the new secret")
				}
				if got := verifies(t, m, old); got != tt.old {
					t.Errorf("signed with the old secret: %v, want %v", got, tt.old)
				}
			})
		})
	}
}

func TestDeliver_retries(t *testing.T) {
	tests := map[string]struct {
		status int
		final  bool
		again  bool   // another attempt is due
		state  string // of the delivery
		off    bool   // the webhook is disabled
	}{
		"success":            {http.StatusOK, false, false, contract.DeliveryDelivered, false},
		"server error":       {http.StatusInternalServerError, false, true, contract.DeliveryPending, false},
		"not modified":       {http.StatusNotModified, false, true, contract.DeliveryPending, false},
		"last attempt fails": {http.StatusInternalServerError, true, false, contract.DeliveryFailed, false},
		"410 Gone":           {http.StatusGone, false, false, contract.DeliveryFailed, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, f *fixture) {
				hook, _ := f.create(t)
				f.answer(tt.status)
				id := f.emitOne(t)
				if err := f.Deliver(t.Context(), id, tt.final); (err != nil) != tt.again {
					t.Errorf("error %v, want another attempt: %v", err, tt.again)
				}
				d := f.delivery(t, hook.ID, id)
				if d.State != tt.state {
					t.Errorf("state %s, want %s", d.State, tt.state)
				}
				if d.Attempts != 1 {
					t.Errorf("%d attempts, want 1", d.Attempts)
				}
				if d.LastStatus == nil || *d.LastStatus != int64(tt.status) {
					t.Errorf("got %+v, want the status %d", d, tt.status)
				}
				after, err := f.Get(t.Context(), f.owner, hook.Path())
				if err != nil {
					t.Fatal(err)
				}
				if after.Enabled == tt.off {
					t.Errorf("enabled %v, want %v", after.Enabled, !tt.off)
				}
			})
		})
	}
}

func TestRetryAfter(t *testing.T) {
	var all time.Duration
	for attempt := 1; attempt < webhooks.Attempts(); attempt++ {
		wait := webhooks.RetryAfter(attempt)
		if attempt > 1 && wait <= webhooks.RetryAfter(attempt-1) {
			t.Errorf("attempt %d: wait %s is not longer than the one before", attempt, wait)
		}
		all += wait
	}
	if all < 3*24*time.Hour || all > 4*24*time.Hour {
		t.Errorf("all waits are %s, want about three days", all)
	}
}

func TestDeliver_disabledOrDeleted(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		hook, _ := f.create(t)
		id := f.emitOne(t)
		f.setEnabled(t, hook.ID, false)
		if err := f.Deliver(t.Context(), id, false); err != nil {
			t.Errorf("disabled: %v", err)
		}
		if d := f.delivery(t, hook.ID, id); d.State != contract.DeliveryFailed {
			t.Errorf("state %s, want %s", d.State, contract.DeliveryFailed)
		}
		if _, err := f.Delete(t.Context(), f.owner, hook.Path()); err != nil {
			t.Fatal(err)
		}
		if err := f.Deliver(t.Context(), id, false); err != nil {
			t.Errorf("deleted: %v", err)
		}
		if got := len(f.messages()); got != 0 {
			t.Errorf("%d messages were sent", got)
		}
	})
}

// Only a finished delivery of an enabled webhook can be sent again, under its id.
func TestRedeliver(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		hook, secret := f.create(t)
		id := f.emitOne(t)
		redeliver := func(hook string) string {
			_, err := f.Redeliver(t.Context(), f.owner, contract.DeliveryPath{
				WebhookPath: contract.WebhookPath{Webhook: hook}, Delivery: id,
			})
			return fault.CodeOf(err)
		}
		if code := redeliver(hook.ID); code != "delivery_pending" {
			t.Errorf("pending: code %q", code)
		}
		if err := f.Deliver(t.Context(), id, false); err != nil {
			t.Fatal(err)
		}
		other, _ := f.create(t)
		if code := redeliver(other.ID); code != "not_found" {
			t.Errorf("of another webhook: code %q", code)
		}
		f.setEnabled(t, hook.ID, false)
		if code := redeliver(hook.ID); code != "webhook_disabled" {
			t.Errorf("disabled: code %q", code)
		}
		f.setEnabled(t, hook.ID, true)
		queued := len(f.queue.ids)
		if code := redeliver(hook.ID); code != "" {
			t.Fatalf("finished: code %q", code)
		}
		if got := len(f.queue.ids) - queued; got != 1 {
			t.Fatalf("%d deliveries were queued, want 1", got)
		}
		if err := f.Deliver(t.Context(), id, false); err != nil {
			t.Fatal(err)
		}
		got := f.messages()
		if len(got) != 2 {
			t.Fatalf("%d messages, want 2", len(got))
		}
		if header := got[1].header.Get("Webhook-Id"); header != id {
			t.Errorf("Webhook-Id %q, want %q", header, id)
		}
		if got[1].body != got[0].body {
			t.Errorf("body %s, want %s", got[1].body, got[0].body)
		}
		if !verifies(t, got[1], secret) {
			t.Error("the signature is not valid")
		}
	})
}

func TestUpkeep(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		hook, _ := f.create(t)
		id := f.emitOne(t)
		if err := f.Deliver(t.Context(), id, false); err != nil {
			t.Fatal(err)
		}
		count := func() int {
			if err := f.Upkeep(t.Context()); err != nil {
				t.Fatal(err)
			}
			list, err := f.Deliveries(t.Context(), f.owner, contract.DeliveryList{WebhookPath: hook.Path()})
			if err != nil {
				t.Fatal(err)
			}
			return len(list.Items)
		}
		if got := count(); got != 1 {
			t.Errorf("a new delivery: %d are left, want 1", got)
		}
		const statement = "UPDATE webhook_deliveries SET finished_at = '2001-01-01 00:00:00+00:00'"
		if _, err := f.DB.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		if got := count(); got != 0 {
			t.Errorf("an old delivery: %d are left, want 0", got)
		}
	})
}

// A test event is sent whichever events the webhook has, once, and does not count against it.
func TestSendTest(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		hook, secret := f.create(t)
		f.answer(http.StatusNotFound)
		sent, err := f.SendTest(t.Context(), f.owner, hook.Path())
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Deliver(t.Context(), sent.ID, false); err != nil {
			t.Errorf("another attempt is due: %v", err)
		}
		if m := f.messages()[0]; !verifies(t, m, secret) || !strings.Contains(m.body, webhooks.TestEvent) {
			t.Errorf("sent %s", m.body)
		}
		got, err := f.Delivery(t.Context(), f.owner, contract.DeliveryPath{WebhookPath: hook.Path(), Delivery: sent.ID})
		if err != nil || got.State != contract.DeliveryFailed || got.LastStatus == nil || *got.LastStatus != 404 ||
			got.Attempts != 1 {
			t.Errorf("%+v, %v", got, err)
		}
		if after, err := f.Get(t.Context(), f.owner, hook.Path()); err != nil || after.FailingSince != nil {
			t.Errorf("the webhook counts as failing: %+v, %v", after, err)
		}
		f.setEnabled(t, hook.ID, false)
		_, err = f.SendTest(t.Context(), f.owner, hook.Path())
		if fault.CodeOf(err) != "webhook_disabled" {
			t.Errorf("turned off: %v", err)
		}
	})
}

// The messages that a team requests within a while are limited, whichever way it requests them.
func TestService_tooMany(t *testing.T) {
	for name, ask := range testkit.ByName(map[string]func(t *testing.T, f *fixture, hook, finished string) error{
		"tests": func(t *testing.T, f *fixture, hook, _ string) error {
			_, err := f.SendTest(t.Context(), f.owner, contract.WebhookPath{Webhook: hook})
			return err
		},
		"again": func(t *testing.T, f *fixture, hook, finished string) error {
			if _, err := f.Redeliver(t.Context(), f.owner, contract.DeliveryPath{
				WebhookPath: contract.WebhookPath{Webhook: hook}, Delivery: finished,
			}); err != nil {
				return err
			}
			return f.Deliver(t.Context(), finished, false)
		},
	}) {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, f *fixture) {
				hook, _ := f.create(t)
				finished := f.emitOne(t)
				if err := f.Deliver(t.Context(), finished, false); err != nil {
					t.Fatal(err)
				}
				sent := 0
				var refused error
				for range 100 {
					if err := ask(t, f, hook.ID, finished); err != nil {
						refused = err
					} else {
						sent++
					}
				}
				if sent != 60 || fault.CodeOf(refused) != "too_many_requests" {
					t.Errorf("%d messages were sent, then %v", sent, refused)
				}
			})
		})
	}
}

// The beginning of an answer is kept, as text that both databases accept.
func TestDeliver_answer(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		hook, _ := f.create(t)
		f.Client = &http.Client{Transport: answering("a\x00b\xff" + strings.Repeat("c", 5000))}
		id := f.emitOne(t)
		if err := f.Deliver(t.Context(), id, false); err == nil {
			t.Fatal("500 is not a failure")
		}
		d := f.delivery(t, hook.ID, id)
		if !strings.HasPrefix(d.LastAnswer, "a\uFFFDb\uFFFDccc") || len(d.LastAnswer) > 1100 {
			t.Errorf("kept %d bytes: %.20q", len(d.LastAnswer), d.LastAnswer)
		}
		if d.NextAttemptAt == nil || !d.NextAttemptAt.After(*d.AttemptedAt) {
			t.Errorf("next attempt %v after %v", d.NextAttemptAt, d.AttemptedAt)
		}
	})
}

// answering answers every request with 500 and itself as the body.
type answering string

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusInternalServerError,
		Header:     http.Header{},
		Body:       io.NopCloser(strings.NewReader(string(a))),
	}, nil
}
