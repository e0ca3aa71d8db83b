package models

import (
	"errors"
	"slices"

	"gorm.io/gorm"

	"postern/migrations"
	"postern/platform/traces"
)

// Trace records each statement as a child of its context's span, if there is one. It must not be called while
// statements run. Spans contain the text of the statement with placeholders, but no values.
func (d *DB) Trace() error {
	system := "sqlite"
	if d.dialect == migrations.Postgres {
		system = "postgresql"
	}
	var pools []*gorm.DB
	for _, pool := range []*gorm.DB{d.write, d.read, d.feed, d.bulk} {
		if slices.Contains(pools, pool) {
			continue
		}
		pools = append(pools, pool)
		if err := traceStatements(pool, system); err != nil {
			return err
		}
	}
	return nil
}

const traceCallback = "postern:trace"

func traceStatements(pool *gorm.DB, system string) error {
	begin := func(operation string) func(*gorm.DB) {
		return func(tx *gorm.DB) { beginStatement(tx, operation) }
	}
	end := func(tx *gorm.DB) { endStatement(tx, system) }
	on := pool.Callback()
	return errors.Join(
		on.Query().Before("gorm:query").Register(traceCallback+"_begin", begin("SELECT")),
		on.Query().After("gorm:query").Register(traceCallback, end),
		on.Row().Before("gorm:row").Register(traceCallback+"_begin", begin("SELECT")),
		on.Row().After("gorm:row").Register(traceCallback, end),
		on.Raw().Before("gorm:raw").Register(traceCallback+"_begin", begin("EXECUTE")),
		on.Raw().After("gorm:raw").Register(traceCallback, end),
		on.Create().Before("gorm:create").Register(traceCallback+"_begin", begin("INSERT")),
		on.Create().After("gorm:create").Register(traceCallback, end),
		on.Update().Before("gorm:update").Register(traceCallback+"_begin", begin("UPDATE")),
		on.Update().After("gorm:update").Register(traceCallback, end),
		on.Delete().Before("gorm:delete").Register(traceCallback+"_begin", begin("DELETE")),
		on.Delete().After("gorm:delete").Register(traceCallback, end),
	)
}

func beginStatement(tx *gorm.DB, operation string) {
	span := traces.Of(tx.Statement.Context).Child(traces.Client, operation)
	if span == nil {
		return
	}
	span.Set(traces.String("db.operation.name", operation))
	if table := tx.Statement.Table; table != "" {
		span.SetName(operation + " " + table)
		span.Set(traces.String("db.collection.name", table))
	}
	tx.InstanceSet(traceCallback, span)
}

func endStatement(tx *gorm.DB, system string) {
	value, _ := tx.InstanceGet(traceCallback)
	span, ok := value.(*traces.Span)
	if !ok {
		return
	}
	span.Set(traces.String("db.system.name", system), traces.String("db.query.text", tx.Statement.SQL.String()))
	traceFailure(span, tx.Error)
	span.End()
}

// traceOutcome notes on the span of a transaction that it was undone. That isn't a failure: rules also refuse that way.
func traceOutcome(span *traces.Span, err error) {
	if err != nil {
		span.Set(traces.String("postern.outcome", "rolled_back"))
	}
}

// traceFailure marks the span of what returned an error. The error's text can have values of rows.
func traceFailure(span *traces.Span, err error) {
	switch {
	case err == nil, errors.Is(err, ErrNotFound):
	case errors.Is(err, ErrDuplicate):
		span.Fail("duplicate")
	case errors.Is(err, ErrReferenced):
		span.Fail("referenced")
	default:
		span.Fail(traces.ErrorType(err))
	}
}
