package app

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"postern/models"
)

// start attaches the database. If the database does not answer, the gateway starts from its
// last state on disk, and Run attaches the database once it answers.
func (a *App) start(ctx context.Context) error {
	err := a.attach(ctx)
	if err == nil {
		a.attached.Store(true)
		return nil
	}
	if ctx.Err() != nil || !models.Unavailable(err) || !a.keepsState() {
		return err
	}
	asOf, failure := a.restoreState()
	if errors.Is(failure, fs.ErrNotExist) { // the first start
		return err
	}
	if failure != nil {
		a.log.Warn("cannot start without the database, because the gateway's last state can't be read",
			"error", failure)
		return err
	}
	a.log.Error(
		"the database isn't responding: serving calls from the last state on disk; nothing can be changed",
		"state_of", asOf.Format(time.RFC3339), "age", time.Since(asOf).Round(time.Second), "error", err,
	)
	return nil
}

// waitingEvery is how often it is logged that the database has not answered yet.
const waitingEvery = 3 * time.Second

// attach connects to the database, migrates its schema and loads the projects to serve. After an error it can be called
// again.
func (a *App) attach(ctx context.Context) error {
	waiting := time.NewTicker(waitingEvery)
	defer waiting.Stop()
	done := make(chan error, 1)
	began := time.Now()
	go func() { done <- a.tryAttach(ctx) }()
	for {
		select {
		case err := <-done:
			return err
		case <-waiting.C:
			a.log.Warn("waiting for the database", "for", time.Since(began).Round(time.Second))
		}
	}
}

func (a *App) tryAttach(ctx context.Context) error {
	db := a.state.db
	if err := db.Reach(ctx); err != nil {
		return explain(a.Config, "cannot open the database", err)
	}
	if err := a.readySchema(ctx); err != nil {
		return err
	}
	if err := a.checkVault(ctx); err != nil {
		return err
	}
	if a.Config.Roles.Serve() {
		if err := a.feed.Load(ctx); err != nil {
			return explainLoad(a.Config, err)
		}
	}
	if a.state.sole {
		if err := a.services.exports.TakeOver(ctx); err != nil {
			return err
		}
	}
	if err := a.createFirstLink(ctx); err != nil {
		return err
	}
	return a.loadCounts(ctx) // last, because a repeated attach would add the counts twice
}

// createFirstLink creates the link for the first account. It does nothing without the control
// plane, and once the server runs: the link is shown at the start only.
func (a *App) createFirstLink(ctx context.Context) error {
	if a.running.Load() || !a.Config.Roles.Control {
		return nil
	}
	code, err := a.services.accounts.FirstLink(ctx)
	if err == nil && code != "" {
		a.FirstLink = a.Config.PublicURL + "/welcome/" + code
	}
	return err
}

// attachEvery is how long to wait before the database is tried again.
const attachEvery = time.Second

// attachLater tries until the database is attached. It returns an error that a retry cannot
// help, or that of ctx.
func (a *App) attachLater(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(attachEvery):
		}
		err := a.attach(ctx)
		switch {
		case err == nil:
			a.log.Info("the database responds again; serving its state")
			return nil
		case ctx.Err() == nil && !models.Unavailable(err):
			return err
		}
	}
}
