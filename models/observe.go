package models

import (
	"context"
	"slices"

	"gorm.io/gorm"
)

// OnStatement makes the database call f after each statement, in the statement's goroutine. It must not be called while
// statements run.
func (d *DB) OnStatement(f func(ctx context.Context)) error {
	after := func(tx *gorm.DB) { f(tx.Statement.Context) }
	var pools []*gorm.DB
	for _, pool := range []*gorm.DB{d.write, d.read, d.feed, d.bulk} {
		if slices.Contains(pools, pool) {
			continue
		}
		pools = append(pools, pool)
		on := pool.Callback()
		for _, err := range []error{
			on.Query().After("gorm:query").Register("postern:statement", after),
			on.Row().After("gorm:row").Register("postern:statement", after),
			on.Raw().After("gorm:raw").Register("postern:statement", after),
			on.Create().After("gorm:create").Register("postern:statement", after),
			on.Update().After("gorm:update").Register("postern:statement", after),
			on.Delete().After("gorm:delete").Register("postern:statement", after),
		} {
			if err != nil {
				return err
			}
		}
	}
	return nil
}
