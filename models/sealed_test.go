package models_test

import (
	"reflect"
	"slices"
	"sync"
	"testing"

	"gorm.io/gorm/schema"

	"postern/platform/secrets"
	"postern/testkit/state"
)

// Every sealed column states whether gateways need it.
func TestSealed_columns(t *testing.T) {
	var want, got []string
	for _, row := range rows {
		s, err := schema.Parse(row, &sync.Map{}, schema.NamingStrategy{})
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range s.Fields {
			if field.FieldType == reflect.TypeFor[secrets.Sealed]() {
				want = append(want, s.Table+"."+field.DBName)
			}
		}
	}
	for _, c := range state.SealedColumns() {
		got = append(got, c.Table+"."+c.Column)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("SealedColumns are\n%v\nthe models have\n%v", got, want)
	}
}
