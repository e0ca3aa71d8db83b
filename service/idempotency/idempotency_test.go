package idempotency_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"postern/models"
	"postern/platform/fault"
	"postern/service/idempotency"
	"postern/testkit"
	"postern/testkit/state"
)

var request = idempotency.Request{
	Credential: "pst_secret",
	Key:        "3f1c9a52-7d0e-4b7e-9a51-6d2f8c0b1e44",
	Method:     "POST",
	Path:       "/api/v1/projects/shop/keys",
	Query:      "dry=1",
	Body:       []byte(`{"owner":"ana"}`),
}

// fixture is the service on a database, with the steps that the tests share.
type fixture struct {
	*idempotency.Service
}

// each runs a test on both databases.
func each(t *testing.T, run func(t *testing.T, f fixture)) {
	t.Helper()
	state.Each(t, func(t *testing.T, db *models.DB) { run(t, fixture{&idempotency.Service{DB: db}}) })
}

// begin returns an attempt at the request, which must not have run before.
func (f fixture) begin(t *testing.T) *idempotency.Attempt {
	t.Helper()
	attempt, answer, err := f.Begin(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if attempt == nil {
		t.Fatalf("answered already: %q", answer)
	}
	return attempt
}

// refused checks that the request fails with the code.
func (f fixture) refused(t *testing.T, r idempotency.Request, code string) {
	t.Helper()
	attempt, answer, err := f.Begin(t.Context(), r)
	if got := fault.CodeOf(err); got != code {
		t.Errorf("error %v, want code %s", err, code)
	}
	if attempt != nil {
		t.Error("it may run")
	}
	if answer != nil {
		t.Errorf("it is answered %q", answer)
	}
}

// commit writes a team of the name in a transaction of the attempt.
func (f fixture) commit(ctx context.Context, attempt *idempotency.Attempt, id string) error {
	team := models.Team{ID: id, Name: "t", CreatedAt: models.Now()}
	return f.DB.Write(attempt.Context(ctx), func(tx *models.Tx) error { return tx.Insert(&team) })
}

// past sets a time column of all requests to a time long ago, as if it had passed.
func (f fixture) past(t *testing.T, column string) {
	t.Helper()
	const statement = " = '2001-01-01 00:00:00+00:00'"
	if _, err := f.DB.SQL().ExecContext(t.Context(), "UPDATE idempotent_requests SET "+column+statement); err != nil {
		t.Fatal(err)
	}
}

func TestBegin(t *testing.T) {
	t.Run("replays the answer", func(t *testing.T) {
		each(t, func(t *testing.T, f fixture) {
			if err := f.begin(t).Keep(t.Context(), []byte("the answer")); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				attempt, answer, err := f.Begin(t.Context(), request)
				if err != nil {
					t.Fatal(err)
				}
				if attempt != nil {
					t.Error("it may run again")
				}
				if string(answer) != "the answer" {
					t.Errorf("answered %q", answer)
				}
			}
		})
	})
	t.Run("refuses while an attempt runs", func(t *testing.T) {
		each(t, func(t *testing.T, f fixture) {
			f.begin(t)
			f.refused(t, request, "idempotency_in_progress")
			_, _, err := f.Begin(t.Context(), request)
			if fault.RetryAfter(err) <= 0 {
				t.Errorf("%v has no time to try again", err)
			}
		})
	})
	t.Run("runs again after Abandon", func(t *testing.T) {
		each(t, func(t *testing.T, f fixture) {
			if err := f.begin(t).Abandon(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.begin(t)
		})
	})
	t.Run("runs again after the answer expired", func(t *testing.T) {
		each(t, func(t *testing.T, f fixture) {
			if err := f.begin(t).Keep(t.Context(), []byte("old")); err != nil {
				t.Fatal(err)
			}
			f.past(t, "expires_at")
			if err := f.begin(t).Keep(t.Context(), []byte("new")); err != nil {
				t.Fatal(err)
			}
			_, answer, err := f.Begin(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			if string(answer) != "new" {
				t.Errorf("answered %q", answer)
			}
		})
	})
}

// The same key with another credential, method or path is another request. With
// another query or body it is a mistake of the caller.
func TestBegin_otherRequest(t *testing.T) {
	tests := map[string]struct {
		change func(*idempotency.Request)
		reused bool
	}{
		"credential": {func(r *idempotency.Request) { r.Credential = "pst_other" }, false},
		"key":        {func(r *idempotency.Request) { r.Key += "1" }, false},
		"method":     {func(r *idempotency.Request) { r.Method = "PATCH" }, false},
		"path":       {func(r *idempotency.Request) { r.Path += "/1" }, false},
		"query":      {func(r *idempotency.Request) { r.Query = "" }, true},
		"body":       {func(r *idempotency.Request) { r.Body = []byte(`{"owner":"eve"}`) }, true},
	}
	for name, tt := range testkit.ByName(tests) {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, f fixture) {
				if err := f.begin(t).Keep(t.Context(), []byte("the answer")); err != nil {
					t.Fatal(err)
				}
				other := request
				tt.change(&other)
				if tt.reused {
					f.refused(t, other, "idempotency_key_reused")
					return
				}
				attempt, answer, err := f.Begin(t.Context(), other)
				if err != nil {
					t.Fatal(err)
				}
				if attempt == nil {
					t.Errorf("answered with the answer of another request: %q", answer)
				}
			})
		})
	}
}

// A process that is killed ends neither its attempt nor its lease.
func TestBegin_afterCrash(t *testing.T) {
	t.Run("before the commit, within the lease", func(t *testing.T) {
		each(t, func(t *testing.T, f fixture) {
			f.begin(t)
			f.refused(t, request, "idempotency_in_progress")
		})
	})
	t.Run("before the commit, after the lease", func(t *testing.T) {
		each(t, func(t *testing.T, f fixture) {
			f.begin(t)
			f.past(t, "lease_until")
			f.begin(t)
		})
	})
	t.Run("after the commit", func(t *testing.T) {
		each(t, func(t *testing.T, f fixture) {
			if err := f.commit(t.Context(), f.begin(t), "team_done"); err != nil {
				t.Fatal(err)
			}
			f.past(t, "lease_until")
			f.refused(t, request, "idempotency_answer_lost")
		})
	})
	t.Run("after the commit and Abandon", func(t *testing.T) {
		each(t, func(t *testing.T, f fixture) {
			attempt := f.begin(t)
			if err := f.commit(t.Context(), attempt, "team_done"); err != nil {
				t.Fatal(err)
			}
			if err := attempt.Abandon(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.refused(t, request, "idempotency_answer_lost")
		})
	})
}

// An attempt that has lost its lease to another one commits nothing and keeps no
// answer.
func TestAttempt_withoutLease(t *testing.T) {
	each(t, func(t *testing.T, f fixture) {
		slow := f.begin(t)
		f.past(t, "lease_until")
		next := f.begin(t)

		if err := f.commit(t.Context(), slow, "team_late"); fault.CodeOf(err) != "too_slow" {
			t.Errorf("commit: %v, want code too_slow", err)
		}
		if _, err := f.DB.Read(t.Context()).TeamByID("team_late"); err == nil {
			t.Error("its transaction was committed")
		}
		if err := slow.Keep(t.Context(), []byte("late")); err != nil {
			t.Fatal(err)
		}
		if err := slow.Abandon(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := next.Keep(t.Context(), []byte("in time")); err != nil {
			t.Fatal(err)
		}
		_, answer, err := f.Begin(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if string(answer) != "in time" {
			t.Errorf("answered %q", answer)
		}
	})
}

// The answer is kept although the caller has gone.
func TestKeep_afterCancel(t *testing.T) {
	each(t, func(t *testing.T, f fixture) {
		attempt := f.begin(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := attempt.Keep(ctx, []byte("the answer")); err != nil {
			t.Fatal(err)
		}
		_, answer, err := f.Begin(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if string(answer) != "the answer" {
			t.Errorf("answered %q", answer)
		}
	})
}

func TestBegin_concurrent(t *testing.T) {
	tests := map[string]func(*testing.T, fixture){
		"first attempt": func(*testing.T, fixture) {},
		"after a lease": func(t *testing.T, f fixture) { f.begin(t); f.past(t, "lease_until") },
	}
	for name, prepare := range testkit.ByName(tests) {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, f fixture) {
				prepare(t, f)
				var running atomic.Int32
				var all sync.WaitGroup
				for range 8 {
					all.Go(func() {
						attempt, _, err := f.Begin(t.Context(), request)
						if attempt != nil {
							running.Add(1)
						} else if fault.CodeOf(err) != "idempotency_in_progress" {
							t.Errorf("error %v, want code idempotency_in_progress", err)
						}
					})
				}
				all.Wait()
				if running.Load() != 1 {
					t.Errorf("%d attempts run at once, want 1", running.Load())
				}
			})
		})
	}
}

// A reader of the database finds neither the answer nor what the request consists of.
func TestKeep_sealed(t *testing.T) {
	each(t, func(t *testing.T, f fixture) {
		if err := f.begin(t).Keep(t.Context(), []byte("a secret answer")); err != nil {
			t.Fatal(err)
		}
		var row []byte
		const query = "SELECT lookup || fingerprint || answer FROM idempotent_requests"
		if err := f.DB.SQL().QueryRowContext(t.Context(), query).Scan(&row); err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"a secret answer", request.Credential, request.Key, "ana"} {
			if bytes.Contains(row, []byte(secret)) {
				t.Errorf("the row contains %q", secret)
			}
		}
	})
}

func TestReadKey(t *testing.T) {
	const uuid = "3f1c9a52-7d0e-4b7e-9a51-6d2f8c0b1e44"
	repetitive := strings.Repeat("a", 28)
	longest := strings.Repeat("k", 255)
	tests := map[string]struct {
		values    []string
		anonymous bool
		want      string
		code      string
	}{
		"bare":                  {values: []string{"k1"}, want: "k1"},
		"quoted":                {values: []string{`"k1"`}, want: "k1"},
		"random, anonymous":     {values: []string{uuid}, anonymous: true, want: uuid},
		"twice":                 {values: []string{"k1", "k1"}, code: "invalid_idempotency_key"},
		"empty":                 {values: []string{""}, code: "invalid_idempotency_key"},
		"empty in quotes":       {values: []string{`""`}, code: "invalid_idempotency_key"},
		"one quotation mark":    {values: []string{`"`}, code: "invalid_idempotency_key"},
		"unfinished quotes":     {values: []string{`"k1`}, code: "invalid_idempotency_key"},
		"quotes within quotes":  {values: []string{`"k"1"`}, code: "invalid_idempotency_key"},
		"a space":               {values: []string{"k 1"}, code: "invalid_idempotency_key"},
		"not ASCII":             {values: []string{"clé"}, code: "invalid_idempotency_key"},
		"short, anonymous":      {values: []string{"k1"}, anonymous: true, code: "idempotency_key_too_weak"},
		"repetitive, anonymous": {values: []string{repetitive}, anonymous: true, code: "idempotency_key_too_weak"},
		"as long as allowed":    {values: []string{longest}, want: longest},
		"longer than allowed":   {values: []string{longest + "k"}, code: "invalid_idempotency_key"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := idempotency.ReadKey(tt.values, tt.anonymous)
			if code := fault.CodeOf(err); code != tt.code {
				t.Errorf("error %v, want code %q", err, tt.code)
			}
			if got != tt.want {
				t.Errorf("key %q, want %q", got, tt.want)
			}
		})
	}
}
