package models

import "gorm.io/gorm"

// OnQuery calls f with each query that reads, before its rows are returned.
func (d *DB) OnQuery(f func(sql string, vars []any)) error {
	return d.read.Callback().Query().After("gorm:query").Register("test:query", func(tx *gorm.DB) {
		if !tx.DryRun { // a part of another query
			f(tx.Statement.SQL.String(), tx.Statement.Vars)
		}
	})
}
