package jobs_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"postern/core/contract"
	"postern/jobs"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/projects"
	"postern/service/webhooks"
	"postern/testkit"
)

// receiver is a server that webhooks are sent to. It keeps the messages.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	answers []int // statuses of the first answers; 200 after them
	got     []message
}

type message struct {
	id, body string
	header   http.Header
}

func newReceiver(t *testing.T, answers ...int) *receiver {
	t.Helper()
	r := &receiver{answers: answers}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, message{req.Header.Get("Webhook-Id"), string(body), req.Header.Clone()})
		if len(r.answers) > 0 {
			status := r.answers[0]
			r.answers = r.answers[1:]
			w.Header().Set("Location", "/moved")
			w.WriteHeader(status)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) messages() []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]message(nil), r.got...)
}

// wait returns the messages once there are n.
func (r *receiver) wait(t *testing.T, n int) []message {
	t.Helper()
	return testkit.Await(t, fmt.Sprintf("%d messages", n), func() ([]message, bool) {
		got := r.messages()
		return got, len(got) >= n
	})
}

// webhookFixture is a fixture with a team that can subscribe to events.
type webhookFixture struct {
	*fixture
	hooks   *webhooks.Service
	ana     access.Principal
	project projects.Created
}

func newWebhookFixture(t *testing.T, db *models.DB, options egress.Options) *webhookFixture {
	t.Helper()
	guard, err := egress.New(options)
	if err != nil {
		t.Fatal(err)
	}
	vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
	if err != nil {
		t.Fatal(err)
	}
	client := guard.Client()
	t.Cleanup(client.CloseIdleConnections)
	queue := newQueue(t, db)
	hooks := &webhooks.Service{
		DB:      db,
		Vault:   vault,
		Targets: anyTarget{},
		Client:  client,
		Jobs:    queue,
		Log:     testLogger(t),
	}
	f := &webhookFixture{fixture: newServices(t, db, queue, hooks), hooks: hooks}
	f.workers = f.newWorkers(t)
	f.ana = f.account(t)
	team := models.Team{ID: models.NewID("team"), Name: "Ana", CreatedAt: models.Now(), ClaimedAt: now()}
	member := models.Membership{TeamID: team.ID, AccountID: f.ana.Account, Role: "owner", CreatedAt: models.Now()}
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team, &member) }); err != nil {
		t.Fatal(err)
	}
	f.ana.HomeTeam, f.ana.Roles = team.ID, map[string]access.Role{team.ID: access.Owner}
	if f.project, err = f.projects.Create(t.Context(), f.ana, newProject); err != nil {
		t.Fatal(err)
	}
	return f
}

// newWorkers returns workers as a second process would run them.
func (f *webhookFixture) newWorkers(t *testing.T) *jobs.Workers {
	t.Helper()
	return newWorkers(t, f.db, f.exports, jobs.WebhookJobs(f.hooks, atOnce))
}

func now() *time.Time { t := models.Now(); return &t }

func (f *webhookFixture) subscribe(
	t *testing.T, url string, events ...string,
) (contract.Webhook, *standardwebhooks.Webhook) {
	t.Helper()
	in := contract.NewWebhook{URL: url, Events: events}
	hook, err := f.hooks.Create(t.Context(), f.ana, contract.WebhookCreation{Body: in})
	if err != nil {
		t.Fatal(err)
	}
	return hook.Webhook, verifier(t, hook.Secret)
}

func verifier(t *testing.T, secret contract.Secret) *standardwebhooks.Webhook {
	t.Helper()
	v, err := standardwebhooks.NewWebhook(secret.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// startWorkers starts the fixture's workers and the others.
func (f *webhookFixture) startWorkers(t *testing.T, others ...*jobs.Workers) {
	t.Helper()
	for _, w := range append(others, f.workers) {
		start(t, w)
		t.Cleanup(func() { stop(context.Background(), t, w) })
	}
}

func (f *webhookFixture) freeze(t *testing.T) {
	t.Helper()
	if _, err := f.keys.Freeze(t.Context(), f.ana, f.project.Keys["prod"].Path()); err != nil {
		t.Fatal(err)
	}
}

func (f *webhookFixture) delivery(t *testing.T, hook string) contract.Delivery {
	t.Helper()
	page, err := f.hooks.Deliveries(t.Context(), f.ana, contract.DeliveryList{
		WebhookPath: contract.WebhookPath{Webhook: hook},
	})
	if err != nil || len(page.Items) == 0 {
		t.Fatalf("deliveries: %v, %v", page, err)
	}
	return page.Items[0]
}

func (f *webhookFixture) waitState(t *testing.T, hook, state string) contract.Delivery {
	t.Helper()
	return testkit.Await(t, "a delivery that is "+state, func() (contract.Delivery, bool) {
		d := f.delivery(t, hook)
		return d, d.State == state
	})
}
