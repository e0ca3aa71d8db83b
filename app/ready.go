package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postern/handlers"
	"postern/models"
	"postern/platform/config"
)

const (
	// staleAfter is the age of the gateway's state at which /readyz of the control plane
	// answers 503.
	staleAfter = 60 * time.Second

	// lateAfter is the age at which /readyz of the gateway reports it.
	lateAfter = config.LeastStaleAfter

	// pingWithin bounds /readyz, since probes have short timeouts.
	pingWithin = 1500 * time.Millisecond
)

// ready checks the control plane's readiness, which needs the database.
func (a *App) ready(ctx context.Context) (says string, err error) {
	if a.stopping.Load() {
		return "stopping", handlers.ErrStopping
	}
	if !a.attached.Load() {
		err := errors.New("started without the database, which isn't responding yet")
		return a.degraded("the database isn't responding"), err
	}
	ctx, stop := context.WithTimeout(ctx, pingWithin)
	defer stop()
	if err := a.state.db.Ping(ctx); err != nil {
		if errors.Is(err, models.ErrUnwritable) {
			return a.degraded("the database's disk isn't writable"), err
		}
		return a.degraded("the database isn't responding"), fmt.Errorf("the database isn't responding: %w", err)
	}
	if age := a.feed.Age(); a.Config.Roles.Serve() && age > staleAfter {
		err := fmt.Errorf("the gateway's state is %s old", age.Round(time.Second))
		return a.degraded("changes in the database can't be read"), err
	}
	if a.state.db.Locked() {
		return "changes have to wait, because another process has locked the database file", nil
	}
	return a.alarm(), nil
}

// probed is the readiness that the admin address reports: the gateway's if the process has one.
func (a *App) probed(ctx context.Context) (says string, err error) {
	if a.Config.Roles.Gateway {
		return a.gatewayReady(ctx)
	}
	return a.ready(ctx)
}

// gatewayReady checks the gateway's readiness. Unless --gateway-stale-after says otherwise, the gateway stays
// ready while the database is unreachable, or all replicas would be taken out of service at once.
func (a *App) gatewayReady(context.Context) (says string, err error) {
	age, limit := a.feed.Age(), a.Config.GatewayStaleAfter
	switch {
	case a.stopping.Load():
		return "stopping", handlers.ErrStopping
	case limit > 0 && age > limit:
		err := fmt.Errorf("the gateway's state is %s old, more than --gateway-stale-after", age.Round(time.Second))
		return a.degraded("changes in the database can't be read"), err
	case age > lateAfter:
		return a.degraded("changes in the database can't be read"), nil
	}
	return a.alarm(), nil
}

// Degraded describes the state that a server without its database serves, "" if it has its
// database.
func (a *App) Degraded() string {
	if a.attached.Load() {
		return ""
	}
	return a.degraded("the database isn't responding")
}

// degraded describes the state that calls are served from, and its age.
func (a *App) degraded(why string) string {
	age := a.feed.Age()
	return fmt.Sprintf("degraded: %s; serving calls from the state of %s, %s old",
		why, time.Now().Add(-age).UTC().Format(time.RFC3339), age.Round(time.Second))
}

// alarm describes a problem that an operator has to solve although calls are served, "" for
// none.
func (a *App) alarm() string {
	if n := a.feed.Behind(); n > 0 {
		return fmt.Sprintf("projects that can't be updated: %d; see the log for their names", n)
	}
	return ""
}
