package models_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"postern/models"
	"postern/testkit"
	"postern/testkit/state"
)

func seed(t *testing.T, db *models.DB) models.Project {
	t.Helper()
	now := models.Now()
	team := models.Team{ID: models.NewID("team"), Name: "t", CreatedAt: now}
	project := models.Project{
		ID:            models.NewID("prj"),
		TeamID:        team.ID,
		Name:          "shop",
		DisplayName:   "Shop",
		FallbackOwner: "shop",
		CreatedAt:     now,
		UpdatedAt:     now,
	}
	err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team, &project) })
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestWrite_rollback(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		project, broken := seed(t, db), errors.New("broken")
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			if err := tx.AddRevision(project.ID, "", models.Now()); err != nil {
				return err
			}
			return broken
		})
		if !errors.Is(err, broken) {
			t.Fatalf("got %v", err)
		}
		if last, err := db.Read(t.Context()).LastRevision(); err != nil || last.ID != 0 {
			t.Errorf("revision %d is left, error %v", last.ID, err)
		}
	})
}

// A transaction that reads before it writes fails at once, without waiting, where
// it began without the right to write.
func TestWrite_concurrent(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		project := seed(t, db)
		const writers, each = 4, 50
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for range each {
					err := db.Write(t.Context(), func(tx *models.Tx) error {
						if _, err := tx.ProjectByID(project.ID); err != nil {
							return err
						}
						return tx.AddRevision(project.ID, "", models.Now())
					})
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		made, err := db.Read(t.Context()).RevisionsFrom(1, 2*writers*each)
		if err != nil || len(made) != writers*each {
			t.Errorf("%d revisions, error %v, want %d", len(made), err, writers*each)
		}
	})
}

func TestUpdateProject_lostRace(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		project := seed(t, db)
		update := func(name string, seen time.Time) (updated bool) {
			changed := project
			changed.DisplayName, changed.UpdatedAt = name, models.Now()
			err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
				updated, err = tx.UpdateProject(changed, seen)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return updated
		}
		if !update("first", project.UpdatedAt) {
			t.Error("the first update did not succeed")
		}
		if update("second", project.UpdatedAt) {
			t.Error("an update of an outdated state succeeded")
		}
		got, err := db.Read(t.Context()).ProjectByID(project.ID)
		if err != nil || got.DisplayName != "first" {
			t.Errorf("got %q, error %v", got.DisplayName, err)
		}
	})
}

func TestWrite_duplicate(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		project := seed(t, db)
		again := project
		again.ID = models.NewID("prj")
		err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&again) })
		if !errors.Is(err, models.ErrDuplicate) {
			t.Errorf("got %v", err)
		}
	})
}

// A reader that follows the feed must meet every revision, whatever the order in
// which concurrent writers commit.
func TestRevisionsFrom_order(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		project := seed(t, db)
		const writers, each = 8, 10
		ctx, stop := context.WithCancel(t.Context())
		seen := make(chan int, 1)
		go func() {
			var last int64
			count := 0
			for count < writers*each && ctx.Err() == nil {
				revisions, err := db.Read(ctx).RevisionsFrom(last+1, 100)
				if err != nil {
					break
				}
				for _, r := range revisions {
					last = r.ID
					count++
				}
			}
			seen <- count
		}()
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for range each {
					err := db.Write(ctx, func(tx *models.Tx) error {
						return tx.AddRevision(project.ID, "", models.Now())
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		select {
		case count := <-seen:
			if count != writers*each {
				t.Errorf("the reader met %d of %d", count, writers*each)
			}
		case <-time.After(time.Minute):
			t.Error("the reader has missed a revision")
		}
		stop()
	})
}

func TestConsistent_laterChange(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		project := seed(t, db)
		err := db.Consistent(t.Context(), func(tx *models.Tx) error {
			if _, err := tx.ProjectByID(project.ID); err != nil {
				return err
			}
			err := db.Write(t.Context(), func(other *models.Tx) error {
				return other.AddRevision(project.ID, "", models.Now())
			})
			if err != nil {
				return err
			}
			last, err := tx.LastRevision()
			if last.ID != 0 {
				t.Errorf("revision %d, made in the meantime, is seen", last.ID)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestLeaseExport_oneWorker(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		project, now := seed(t, db), models.Now()
		export := models.Export{ID: models.NewID("exp"), ProjectID: project.ID, State: "queued", CreatedAt: now}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&export) }); err != nil {
			t.Fatal(err)
		}
		lease := func(id string, at time.Time) (held bool) {
			err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
				held, err = tx.LeaseExport(export.ID, id, at, at.Add(time.Minute))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return held
		}
		if !lease("one", now) || lease("two", now.Add(time.Second)) {
			t.Error("two workers hold one export")
		}
		if !lease("three", now.Add(2*time.Minute)) {
			t.Error("a lease that has ended is not given again")
		}
		late := models.Export{ID: export.ID, LeaseID: "one", State: "ready"}
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			ended, err := tx.FinishExport(late)
			if ended {
				t.Error("a worker that lost its lease could finish")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestNewID_order(t *testing.T) {
	first := models.NewID("prj")
	created := time.Now().UnixMilli()
	testkit.Eventually(t, "the next millisecond", func() bool { return time.Now().UnixMilli() > created })
	second := models.NewID("prj")
	if first >= second || !strings.HasPrefix(first, "prj_") || len(first) != len("prj_")+26 {
		t.Errorf("%s, %s", first, second)
	}
}

func TestOpen_hiddenPassword(t *testing.T) {
	_, err := models.Open(t.Context(), "postgres://user:canary@host:notaport/x", "")
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
}

func TestOpen_notADatabase(t *testing.T) {
	db, err := models.Open(t.Context(), "", filepath.Join(t.TempDir(), "missing", "postern.db"))
	if err == nil {
		t.Error("opened", db.Close())
	}
}
