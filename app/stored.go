package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"postern/platform/secrets"
)

// statePlace is what the gateway's state on disk is sealed for.
var statePlace = secrets.Place{Table: "files", Row: "gateway.state"}

// keepsState reports whether the gateway's state is kept on disk. SQLite is on the
// same disk, so that there is nothing to be gained.
func (a *App) keepsState() bool { return a.Config.DatabaseURL != "" && a.Config.OfflineStart }

const (
	lookAtState  = time.Second      // how often it is looked whether the state has changed
	refreshState = 10 * time.Minute // how often it is written without a change, for its age
	restFactor   = 50               // times as long as writing took, nothing is written: 2 % of the time at most
)

// keepState writes the gateway's state to disk soon after it has changed, until ctx
// ends, and then once more.
func (a *App) keepState(ctx context.Context) {
	if !a.keepsState() {
		return
	}
	var (
		written int64 = -1
		at      time.Time
		rest    time.Duration
		failing bool
	)
	store := func() {
		position := a.feed.Position()
		if position == written && time.Since(at) < refreshState || a.feed.Age() > lateAfter {
			return
		}
		at = time.Now()
		err := a.storeState()
		rest = restFactor * time.Since(at)
		if err == nil {
			written = position
		} else if !failing {
			a.log.Error("the gateway's state cannot be kept on disk", "error", err)
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

// storeState replaces the file as a whole, so that a crash leaves the one before.
func (a *App) storeState() (err error) {
	path := a.Config.StateFile()
	a.removeParts(path)
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+partSuffix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if err := errors.Join(a.sealState(file), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

const (
	partSuffix = ".*.part"

	// abandonedAfter is when a part that has not grown belongs to a killed process, and
	// not to another replica that shares the data directory.
	abandonedAfter = time.Minute
)

// removeParts removes what killed processes have left of the file. One that cannot be
// removed is no reason to keep no state.
func (a *App) removeParts(path string) {
	dir := filepath.Dir(path)
	parts, _ := fs.Glob(os.DirFS(dir), filepath.Base(path)+partSuffix) // the pattern is valid
	for _, name := range parts {
		part := filepath.Join(dir, name)
		info, err := os.Lstat(part)
		if err == nil && time.Since(info.ModTime()) > abandonedAfter {
			err = os.Remove(part)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another replica may be faster
			a.log.Warn("cannot remove what a killed process has left", "file", part, "error", err)
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

// restoreState serves what storeState has written last, and returns when that was
// current. What the installation's key does not open is not served.
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
