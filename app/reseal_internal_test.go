package app

import (
	"testing"

	"postern/models"
)

func TestPlaceOf(t *testing.T) {
	for _, column := range models.SealedColumns() {
		if column.Gateways == "" {
			continue
		}
		place, err := placeOf(column, models.SealedValue{Key: []string{"a", "b"}})
		if err != nil || place.Table != column.Table {
			t.Errorf("%s of %s: %+v, %v", column.Column, column.Table, place, err)
		}
	}
}
