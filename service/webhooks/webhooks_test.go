package webhooks_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/webhooks"
	"postern/testkit/state"
)

// receiver is a server that webhooks are sent to. It answers with status.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []message
}

type message struct {
	header http.Header
	body   string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusNoContent}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, message{req.Header.Clone(), string(body)})
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *receiver) messages() []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// queued records the deliveries that were queued.
type queued struct{ ids []string }

func (q *queued) EnqueueDelivery(_ context.Context, _ *models.Tx, id string) error {
	q.ids = append(q.ids, id)
	return nil
}

type anyTarget struct{}

func (anyTarget) CheckTarget(_ context.Context, raw string) (*url.URL, error) { return url.Parse(raw) }

// fixture is the service on a database, with a team and a receiver.
type fixture struct {
	*webhooks.Service
	*receiver
	queue *queued
	owner access.Principal
}

// each runs a test on both databases.
func each(t *testing.T, run func(t *testing.T, f *fixture)) {
	t.Helper()
	state.Each(t, func(t *testing.T, db *models.DB) { run(t, newFixture(t, db)) })
}

func newFixture(t *testing.T, db *models.DB) *fixture {
	t.Helper()
	vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
	if err != nil {
		t.Fatal(err)
	}
	team := models.Team{ID: models.NewID("team"), Name: "t", CreatedAt: models.Now()}
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team) }); err != nil {
		t.Fatal(err)
	}
	f := &fixture{receiver: newReceiver(t), queue: &queued{}, owner: access.Principal{
		Account:  "acc_1",
		HomeTeam: team.ID,
		Roles:    map[string]access.Role{team.ID: access.Owner},
	}}
	f.Service = &webhooks.Service{
		DB:      db,
		Vault:   vault,
		Targets: anyTarget{},
		Client:  f.Server.Client(),
		Jobs:    f.queue,
		Log:     slog.New(slog.DiscardHandler),
	}
	return f
}

// create creates a webhook for all events that points to the receiver.
func (f *fixture) create(t *testing.T) (contract.Webhook, contract.Secret) {
	t.Helper()
	in := contract.NewWebhook{URL: f.URL + "/hook"}
	hook, err := f.Create(t.Context(), f.owner, contract.WebhookCreation{Body: in})
	if err != nil {
		t.Fatal(err)
	}
	return hook.Webhook, hook.Secret
}

// emit emits an event of a key and returns the deliveries that it queued.
func (f *fixture) emit(t *testing.T, event string) []string {
	t.Helper()
	before := len(f.queue.ids)
	err := f.DB.Write(t.Context(), func(tx *models.Tx) error {
		return f.Emit(t.Context(), tx, f.owner.HomeTeam, event, map[string]any{"key": "key_1"})
	})
	if err != nil {
		t.Fatal(err)
	}
	return f.queue.ids[before:]
}

// emitOne is emit for a team with one webhook.
func (f *fixture) emitOne(t *testing.T) string {
	t.Helper()
	ids := f.emit(t, contract.EventKeyCreated)
	if len(ids) != 1 {
		t.Fatalf("%d deliveries were queued, want 1", len(ids))
	}
	return ids[0]
}

// delivery finds a delivery of a webhook.
func (f *fixture) delivery(t *testing.T, hook, id string) contract.Delivery {
	t.Helper()
	list, err := f.Deliveries(t.Context(), f.owner, contract.DeliveryList{
		WebhookPath: contract.WebhookPath{Webhook: hook},
	})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list.Items, func(d contract.Delivery) bool { return d.ID == id })
	if i < 0 {
		t.Fatalf("delivery %s is not listed", id)
	}
	return list.Items[i]
}

func (f *fixture) setEnabled(t *testing.T, hook string, enabled bool) {
	t.Helper()
	in := contract.WebhookUpdate{WebhookPath: contract.WebhookPath{Webhook: hook}}
	in.Body.Enabled = &enabled
	if _, err := f.Update(t.Context(), f.owner, in); err != nil {
		t.Fatal(err)
	}
}

func TestCreate_invalidFields(t *testing.T) {
	tests := map[string]struct {
		in   contract.NewWebhook
		code string
	}{
		"unknown event":    {contract.NewWebhook{Events: []string{"key.sold"}}, "unknown_event"},
		"event twice":      {contract.NewWebhook{Events: []string{"key.created", "key.created"}}, "duplicate"},
		"long description": {contract.NewWebhook{Description: strings.Repeat("x", 201)}, "invalid_description"},
		"long URL": {
			contract.NewWebhook{URL: "https://a.example/" + strings.Repeat("x", 2048)},
			"invalid_url",
		},
		"fragment": {contract.NewWebhook{URL: "https://a.example/?a#b"}, "invalid_url"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, f *fixture) {
				if tt.in.URL == "" {
					tt.in.URL = f.URL
				}
				_, err := f.Create(t.Context(), f.owner, contract.WebhookCreation{Body: tt.in})
				if got := fault.CodeOf(err); got != tt.code {
					t.Errorf("error %v, want code %s", err, tt.code)
				}
				if got := fault.KindOf(err); got != fault.Invalid {
					t.Errorf("kind %d, want %d", got, fault.Invalid)
				}
			})
		})
	}
}

func TestUpdate_etag(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		hook, _ := f.create(t)
		text := "first"
		in := contract.WebhookUpdate{
			WebhookPath: hook.Path(),
			Condition:   contract.Condition{IfMatch: hook.ETag},
			Body:        contract.WebhookChange{Description: &text},
		}
		_, err := f.Update(t.Context(), f.owner, in)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Update(t.Context(), f.owner, in)
		if fault.KindOf(err) != fault.Stale {
			t.Errorf("second change with the old ETag: %v", err)
		}
	})
}

func TestEmit(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		all, _ := f.create(t)
		in := contract.WebhookCreation{Body: contract.NewWebhook{
			URL: f.URL, Events: []string{contract.EventExportReady},
		}}
		if _, err := f.Create(t.Context(), f.owner, in); err != nil {
			t.Fatal(err)
		}
		if got := len(f.emit(t, contract.EventExportReady)); got != 2 {
			t.Errorf("an event that both subscribe to: %d deliveries, want 2", got)
		}
		if got := len(f.emit(t, contract.EventKeyCreated)); got != 1 {
			t.Errorf("an event that one subscribes to: %d deliveries, want 1", got)
		}
		f.setEnabled(t, all.ID, false)
		if got := len(f.emit(t, contract.EventKeyCreated)); got != 0 {
			t.Errorf("disabled: %d deliveries, want 0", got)
		}
	})
}

// The help of webhooks create lists every event, which package contract cannot derive.
func TestEvents_documented(t *testing.T) {
	field, _ := reflect.TypeFor[contract.NewWebhook]().FieldByName("Events")
	doc := field.Tag.Get("doc")
	for _, event := range contract.WebhookEvents() {
		if !strings.Contains(doc, event) {
			t.Errorf("the description of events doesn't list %s: %s", event, doc)
		}
	}
}
