package callers

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"postern/core/contract"
)

// TestFacts_complete checks that a change of any member changes what is printed, so that a person sees that an update
// had an effect.
func TestFacts_complete(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		value any
		facts func(value any) [][2]string
		left  []string // members that aren't printed
	}{
		"app client": {
			&contract.AppClient{},
			func(value any) [][2]string { return appClientFacts(*value.(*contract.AppClient)) },
			[]string{"AuthorizeURL", "ETag", "UpdatedAt", "CreatedAt"},
		},
		"provider": {
			&contract.Provider{},
			func(value any) [][2]string { return providerFacts(*value.(*contract.Provider)) },
			[]string{"ETag", "UpdatedAt", "CreatedAt"},
		},
		"key": {
			&contract.Key{},
			func(value any) (facts [][2]string) {
				k := *value.(*contract.Key)
				keyRows(func(cells ...string) { facts = append(facts, [2]string{cells[0], cells[1]}) }, k)
				return append(facts, [2]string{"Key", k.Display()})
			},
			[]string{"ETag", "Scopes", "Limits"}, // EffectiveLimits are printed
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var change func(at reflect.Value)
			change = func(at reflect.Value) {
				for i := range at.NumField() {
					field, about := at.Field(i), at.Type().Field(i)
					isTime := about.Type == reflect.TypeFor[time.Time]()
					switch {
					case slices.Contains(one.left, about.Name):
						continue
					case about.Type.Kind() == reflect.Struct && !isTime:
						change(field)
						continue
					}
					before := one.facts(one.value)
					fill(t, field)
					if slices.Equal(before, one.facts(one.value)) {
						t.Errorf("%s isn't printed", about.Name)
					}
					field.SetZero()
				}
			}
			change(reflect.ValueOf(one.value).Elem())
		})
	}
}

// fill sets a value that differs from its zero value.
func fill(t *testing.T, at reflect.Value) {
	t.Helper()
	switch value := at.Addr().Interface().(type) {
	case *time.Time:
		*value = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
		return
	case *contract.Limits:
		*value = contract.Limits{"minute": 60}
		return
	case **contract.Consumer:
		*value = &contract.Consumer{ID: "x"}
		return
	}
	switch at.Kind() {
	case reflect.String:
		at.SetString("x")
	case reflect.Bool:
		at.SetBool(true)
	case reflect.Int64:
		at.SetInt(60)
	case reflect.Slice:
		at.Set(reflect.ValueOf([]string{"x"}))
	case reflect.Pointer:
		at.Set(reflect.New(at.Type().Elem()))
		fill(t, at.Elem())
	default:
		t.Fatalf("add a value of the type %s", at.Type())
	}
}
