package app

import (
	"context"
	"errors"
	"time"

	"postern/migrations"
)

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
