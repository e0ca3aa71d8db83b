package contract_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
)

func TestKeysImported_errorsOfRows(t *testing.T) {
	weak := func(row int64) contract.KeyImportError {
		return contract.KeyImportError{Row: row, Pointer: "/key", Code: "weak_key", Detail: "It can be guessed."}
	}
	owner := contract.KeyImportError{Row: 3, Pointer: "/owner", Code: "invalid_owner", Detail: "It is empty."}
	for _, tt := range []struct {
		name     string
		done     contract.KeysImported
		want     []contract.KeyRowsError
		unlisted int64
	}{
		{name: "none"},
		{
			name: "equal ones",
			done: contract.KeysImported{
				KeyImportCounts: contract.KeyImportCounts{Refused: 3},
				Errors:          []contract.KeyImportError{weak(2), weak(3), owner, weak(9)},
			},
			want: []contract.KeyRowsError{{weak(2), 3}, {owner, 1}},
		},
		{
			name: "more than are listed",
			done: contract.KeysImported{
				KeyImportCounts: contract.KeyImportCounts{Refused: 1200},
				Errors:          []contract.KeyImportError{weak(2), weak(3)},
			},
			want: []contract.KeyRowsError{{weak(2), 2}}, unlisted: 1198,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.done.ErrorsOfRows()); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if got := tt.done.Unlisted(); got != tt.unlisted {
				t.Errorf("%d rows aren't listed, want %d", got, tt.unlisted)
			}
		})
	}
}
