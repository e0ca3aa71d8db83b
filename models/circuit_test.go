package models_test

import (
	"sync"
	"testing"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/testkit"
	"postern/testkit/state"
)

// Far more callers than connections: if each connection had to wait for its own
// deadline, the last caller would wait for several minutes.
const callersAtOnce = 100

// endWithin is a generous bound on what takes a few seconds.
const endWithin = time.Minute

func TestPostgres_noNewConnections(t *testing.T) {
	breaks := map[string]func(*testkit.Relay, testing.TB){
		"accepted and silent": func(r *testkit.Relay, _ testing.TB) { r.Hang() },
		"packets dropped":     (*testkit.Relay).Drop,
	}
	calls := map[string]func(t *testing.T, db *models.DB) error{
		"writes": func(t *testing.T, db *models.DB) error {
			return db.Write(t.Context(), func(tx *models.Tx) error { return tx.AddRevision("prj_1", "", models.Now()) })
		},
		"reads": func(t *testing.T, db *models.DB) error {
			_, err := db.Read(t.Context()).LastRevision()
			return err
		},
	}
	for how, breakDown := range testkit.ByName(breaks) {
		for what, call := range testkit.ByName(calls) {
			t.Run(how+"/"+what+" end together and succeed later", func(t *testing.T) {
				database := state.Postgres(t)
				relay := testkit.NewRelay(t, database)
				db, err := models.OpenWith(t.Context(), models.Options{
					DatabaseURL: relay.Through(t, database),
					MaxConns:    models.MinConns,
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })

				breakDown(relay, t)
				for _, err := range atOnce(t, func() error { return call(t, db) }) {
					if fault.KindOf(err) != fault.Unavailable {
						t.Fatalf("got %v, want an error that says to try again", err)
					}
				}
				relay.Resume()
				testkit.Await(t, "the database answers again", func() (error, bool) {
					err := call(t, db)
					return err, err == nil
				})
			})
		}
	}
}

// Callers that find no idle connection wait for a busy one: that new connections get
// no answer must not refuse them.
func TestPostgres_openConnections(t *testing.T) {
	database := state.Postgres(t)
	relay := testkit.NewRelay(t, database)
	db, err := models.OpenWith(t.Context(), models.Options{
		DatabaseURL: relay.Through(t, database),
		MaxConns:    models.MinConns,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	call := func() error { _, err := db.Read(t.Context()).LastRevision(); return err }
	if err := call(); err != nil {
		t.Fatal(err)
	}
	relay.HangNew()
	for range 2 { // the second time after the first connections have failed
		failed := 0
		for _, err := range atOnce(t, call) {
			if err != nil {
				failed++
			}
		}
		if failed > models.MinConns {
			t.Errorf("%d of %d calls failed, want no more than wait for a new connection", failed, callersAtOnce)
		}
	}
}

// atOnce makes many calls at once and returns the error of each.
func atOnce(t *testing.T, call func() error) []error {
	t.Helper()
	failed := make([]error, callersAtOnce)
	ended := make(chan struct{})
	var calling sync.WaitGroup
	for i := range failed {
		calling.Go(func() { failed[i] = call() })
	}
	go func() { calling.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(endWithin):
		t.Fatal("callers still wait for a connection")
	}
	return failed
}
