package app

import (
	"context"
	"errors"
	"time"

	"postern/migrations"
	"postern/platform/config"
)

// readySchema brings the schema up to date. A gateway alone, and a process whose role may not
// change the schema, only check it: another one migrates, or `postern migrate`.
func (a *App) readySchema(ctx context.Context) error {
	db, may := a.state.db, false
	var err error
	if !a.onlyGateway() {
		if may, err = db.MayMigrate(ctx); err != nil {
			return explain(a.Config, "cannot read the database's schema", err)
		}
	}
	if !may {
		return explain(a.Config, "cannot use the database", db.UseSchema(ctx))
	}
	ours, rivers, err := migrate(ctx, a.Config, db, a.log)
	if err == nil && ours+rivers > 0 {
		a.log.Info("updated the database schema", "steps", ours, "job_steps", rivers)
	}
	return err
}

// firstSchema creates the tables of a new installation on SQLite before its secrets key is created: a start that
// fails in between, or is killed, leaves nothing that refuseTableless takes for a lost database.
func (a *App) firstSchema(ctx context.Context) error {
	if a.Config.DatabaseURL != "" || a.Config.SecretsKey != "" || a.onlyGateway() || hasKeyFile(a.Config) {
		return nil
	}
	return a.readySchema(ctx)
}

// onlyGateway reports whether the gateway is the process's only role, so that it doesn't need to write configuration.
func (a *App) onlyGateway() bool { return onlyGateway(a.Config) }

func onlyGateway(c config.Config) bool { return c.Roles == config.Roles{Gateway: true} }

// checkSchemaEvery is how often a replica checks whether a newer one has changed the schema.
const checkSchemaEvery = 5 * time.Second

// watchSchema returns an error once the schema is one that this program must not use: it
// would ignore limits and takedowns of the newer version.
func (a *App) watchSchema(ctx context.Context) error {
	ticker := time.NewTicker(checkSchemaEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		// Other errors are logged by the change feed.
		if unknown, ok := errors.AsType[*migrations.UnknownSchemaError](a.state.db.CheckSchema(ctx)); ok {
			return unknown
		}
	}
}
