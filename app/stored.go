package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"postern/platform/scratch"
	"postern/platform/secrets"
)

// statePlace is the place that the gateway's state on disk is sealed for.
var statePlace = secrets.Place{Table: "files", Row: "gateway.state", Purpose: secrets.ForGateways}

// keepsState reports whether the gateway's state is kept on disk. With SQLite it is not: the
// database is on the same disk.
func (a *App) keepsState() bool {
	return a.Config.Roles.Gateway && a.Config.DatabaseURL != "" && a.Config.OfflineStart
}

const (
	lookAtState  = time.Second      // how often the state is checked for changes
	refreshState = 10 * time.Minute // how often it is written without a change, to renew its time
	restFactor   = 50               // the pause after a write, in durations of the write: up to 2% of the time
)

// keepState writes the gateway's state to disk soon after each change until ctx ends, and
// then once more.
func (a *App) keepState(ctx context.Context) {
	if !a.keepsState() {
		return
	}
	var (
		stored  int64 = -1 // position of the feed
		at      time.Time
		rest    time.Duration
		failing bool
	)
	store := func() {
		position := a.feed.Position()
		if position == stored && time.Since(at) < refreshState || a.feed.Age() > lateAfter {
			return
		}
		at = time.Now()
		err := a.storeState()
		rest = restFactor * time.Since(at)
		if err == nil {
			stored = position
		} else if !failing {
			a.log.Error("could not store the gateway's state on disk", "error", err)
		}
		failing = err != nil
	}
	ticker := time.NewTicker(lookAtState)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			store()
			return
		case <-ticker.C:
			if time.Since(at) >= rest {
				store()
			}
		}
	}
}

// storeState replaces the file atomically, so that a crash leaves the previous one.
func (a *App) storeState() error {
	file, err := scratch.File(a.Config.DataDir)
	if err != nil {
		return err
	}
	if err := a.sealState(file); err != nil {
		scratch.Discard(file)
		return err
	}
	return scratch.Place(file, a.Config.StateFile())
}

// sweep removes the temporary files that killed processes left: of this server, and of
// commands on its data directory, such as a database that postern restore had unpacked.
func (a *App) sweep() {
	for _, dir := range []string{a.Config.DataDir, a.Config.UploadDir(), ""} {
		removed, err := scratch.Sweep(dir)
		for _, path := range removed {
			a.log.Warn("removed files that a killed process had left behind", "path", path)
		}
		if err != nil {
			a.log.Warn("could not remove files that a killed process had left behind", "error", err)
		}
	}
}

func (a *App) sealState(file *os.File) error {
	sealed, err := a.vault.SealStream(file, statePlace)
	if err != nil {
		return err
	}
	return errors.Join(a.feed.Store(sealed), sealed.Close())
}

// restoreState serves the state that storeState wrote last, and returns the time when it was
// current. It fails if the installation's key does not open the file.
func (a *App) restoreState() (asOf time.Time, err error) {
	file, err := os.Open(a.Config.StateFile())
	if err != nil {
		return time.Time{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	stream, err := a.vault.OpenStream(file, statePlace)
	if err != nil {
		return time.Time{}, err
	}
	if asOf, err = a.feed.Restore(stream); err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", a.Config.StateFile(), err)
	}
	return asOf, nil
}
