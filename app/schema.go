package app

import (
	"context"
	"errors"
	"time"

	"postern/migrations"
)

// checkSchemaEvery is how often a running replica looks whether a newer one has
// changed the schema.
const checkSchemaEvery = 5 * time.Second

// watchSchema returns an error once the schema is one that this program must not
// use: it would go on without the limits and takedowns that it does not know.
func (a *App) watchSchema(ctx context.Context) error {
	ticker := time.NewTicker(checkSchemaEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		// A database that does not answer is noticed by the change feed.
		if unknown, ok := errors.AsType[*migrations.UnknownSchemaError](a.state.db.CheckSchema(ctx)); ok {
			return unknown
		}
	}
}
