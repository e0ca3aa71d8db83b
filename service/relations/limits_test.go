package relations_test

import (
	"strings"
	"testing"

	"postern/core/filelimits"
	"postern/service/relations"
)

// At most one relation more is read from a request than one may add.
func TestReadAll_limit(t *testing.T) {
	t.Parallel()
	for n := filelimits.Relations.Most - 1; n <= filelimits.Relations.Most+3; n++ {
		text := strings.Repeat(`{"user":"a","object":"b:1"}`+"\n", int(n))
		all, err := relations.ReadAll(strings.NewReader(text))
		if want := min(n, filelimits.Relations.Most+1); err != nil || int64(len(all)) != want {
			t.Errorf("%d of %d: %d are read, %v", n, filelimits.Relations.Most, len(all), err)
		}
	}
}
