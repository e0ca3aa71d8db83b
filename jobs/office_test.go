package jobs_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"postern/jobs"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/projects"
	"postern/service/webhooks"
)

// told is a receiver of webhooks and what it got.
type told struct {
	*httptest.Server
	mu      sync.Mutex
	answers []int // statuses of the first answers; 200 after them
	got     []message
}

type message struct {
	id, body string
	header   http.Header
}

func newReceiver(t *testing.T, answers ...int) *told {
	t.Helper()
	r := &told{answers: answers}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, message{req.Header.Get("Webhook-Id"), string(body), req.Header.Clone()})
		if len(r.answers) > 0 {
			status := r.answers[0]
			r.answers = r.answers[1:]
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *told) messages() []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]message(nil), r.got...)
}

// wait returns the messages once there are so many.
func (r *told) wait(t *testing.T, n int) []message {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if got := r.messages(); len(got) >= n {
			return got
		}
	}
	t.Fatalf("%d messages after %s, want %d", len(r.messages()), patience, n)
	return nil
}

// atOnce tries again without waiting.
var atOnce = jobs.Schedule{Attempts: 4, RetryAfter: func(int) time.Duration { return 0 }}

// office is a world whose team is told of what happens in it.
type office struct {
	*world
	hooks   *webhooks.Service
	queue   *jobs.Queue
	ana     access.Principal
	project projects.Created
}

func newOffice(t *testing.T, db *models.DB, options egress.Options) *office {
	t.Helper()
	guard, err := egress.New(options)
	if err != nil {
		t.Fatal(err)
	}
	vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
	if err != nil {
		t.Fatal(err)
	}
	o := &office{world: newWorld(t, db)}
	client := guard.Client()
	t.Cleanup(client.CloseIdleConnections)
	o.hooks = &webhooks.Service{DB: db, Vault: vault, Targets: anyTarget{}, Client: client, Log: testLogger(t)}
	if o.queue, err = jobs.New(db, o.exports, testLogger(t), jobs.Deliveries(o.hooks, atOnce)); err != nil {
		t.Fatal(err)
	}
	o.hooks.Jobs, o.exports.Jobs = o.queue, o.queue
	o.keys.Events, o.exports.Events, o.projects.Events, o.accounts.Events = o.hooks, o.hooks, o.hooks, o.hooks
	o.ana = o.account(t)
	team := models.Team{ID: models.NewID("team"), Name: "Ana", CreatedAt: models.Now(), ClaimedAt: now()}
	member := models.Membership{TeamID: team.ID, AccountID: o.ana.Account, Role: "owner", CreatedAt: models.Now()}
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team, &member) }); err != nil {
		t.Fatal(err)
	}
	o.ana.HomeTeam, o.ana.Roles = team.ID, map[string]access.Role{team.ID: access.Owner}
	if o.project, err = o.projects.Create(t.Context(), o.ana, newProject); err != nil {
		t.Fatal(err)
	}
	return o
}

func now() *time.Time { t := models.Now(); return &t }

func (o *office) listen(t *testing.T, url string, events ...string) (webhooks.Webhook, *standardwebhooks.Webhook) {
	t.Helper()
	hook, secret, err := o.hooks.Create(t.Context(), o.ana, webhooks.CreateInput{URL: url, Events: events})
	if err != nil {
		t.Fatal(err)
	}
	return hook, verifier(t, secret)
}

func verifier(t *testing.T, secret secrets.Secret) *standardwebhooks.Webhook {
	t.Helper()
	v, err := standardwebhooks.NewWebhook(secret.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (o *office) work(t *testing.T, queues ...*jobs.Queue) {
	t.Helper()
	for _, q := range append(queues, o.queue) {
		start(t, q)
		t.Cleanup(func() { stop(context.Background(), t, q) })
	}
}

func (o *office) freeze(t *testing.T) {
	t.Helper()
	if _, err := o.keys.Freeze(t.Context(), o.ana, o.project.Keys["prod"].ID); err != nil {
		t.Fatal(err)
	}
}

func (o *office) delivery(t *testing.T, hook string) webhooks.Delivery {
	t.Helper()
	page, err := o.hooks.Deliveries(t.Context(), o.ana, hook, models.Page{})
	if err != nil || len(page.Items) == 0 {
		t.Fatalf("deliveries: %v, %v", page, err)
	}
	return page.Items[0]
}

func (o *office) waitState(t *testing.T, hook, state string) webhooks.Delivery {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if d := o.delivery(t, hook); d.State == state {
			return d
		}
	}
	t.Fatalf("not %s after %s: %+v", state, patience, o.delivery(t, hook))
	return webhooks.Delivery{}
}
