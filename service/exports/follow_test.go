package exports_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit/state"
)

func TestFollow(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		e := w.request(t, gateway)
		states := make(chan contract.Export)
		ended := make(chan error, 1)
		go func() {
			ended <- w.Follow(t.Context(), w.owner, e.Path(), func(now contract.Export) error {
				states <- now
				return nil
			})
		}()
		if first := <-states; first.State != contract.ExportQueued || first.ID != e.ID {
			t.Errorf("it begins with %s, %s", first.ID, first.State)
		}
		go func() {
			if err := w.Build(t.Context(), e.ID, true); err != nil {
				t.Error(err)
			}
		}()
		for now := range states {
			if now.State == contract.ExportReady {
				if now.SizeBytes == 0 {
					t.Error("the last one has no size")
				}
				break
			}
		}
		if err := <-ended; err != nil {
			t.Errorf("after the end: %v", err)
		}

		var once []string
		err := w.Follow(t.Context(), w.owner, e.Path(), func(now contract.Export) error {
			once = append(once, now.State)
			return nil
		})
		if err != nil || len(once) != 1 || once[0] != contract.ExportReady {
			t.Errorf("of a finished one: %q, %v", once, err)
		}
		never := func(contract.Export) error { return errors.New("sent") }
		if err := w.Follow(t.Context(), access.Principal{}, e.Path(), never); fault.KindOf(
			err,
		) != fault.Unauthenticated {
			t.Errorf("without a credential: %v", err)
		}
	})
}

// A follower whose right to the export ends, here with the move of its project to another team,
// is sent nothing more.
func TestFollow_movedProject(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		e := w.request(t, gateway)
		err := w.Follow(t.Context(), w.owner, e.Path(), func(contract.Export) error {
			return db.Write(t.Context(), func(tx *models.Tx) error {
				other := models.Team{ID: models.NewID("team"), Name: "Other", CreatedAt: models.Now()}
				if err := tx.Insert(&other); err != nil {
					return err
				}
				return tx.MoveProject(w.project, other.ID, models.Now())
			})
		})
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("after the move: %v", err)
		}
	})
}

func TestFollow_end(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	e := w.request(t, gateway)
	ctx, leave := context.WithCancel(t.Context())
	follow := func(ctx context.Context) <-chan error {
		seen, ended := make(chan struct{}, 1), make(chan error, 1)
		go func() {
			ended <- w.Follow(ctx, w.owner, e.Path(), func(contract.Export) error {
				seen <- struct{}{}
				return nil
			})
		}()
		<-seen
		return ended
	}
	gone := follow(ctx)
	leave()
	stopped := follow(t.Context())
	w.Followers.End()
	w.Followers.End() // as a second listener does
	for what, ended := range map[string]<-chan error{"the client is gone": gone, "the server stops": stopped} {
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s, and it goes on", what)
		}
	}
}
