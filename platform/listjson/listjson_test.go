package listjson_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"postern/platform/listjson"
)

type item struct {
	Names []string `json:"names"`
}

type embedded struct {
	Tags []string `json:"tags"`
}

type answer struct {
	embedded
	Items   []item            `json:"items"`
	Changed *[]string         `json:"changed,omitempty"`
	Left    []string          `json:"left,omitempty"`
	Zero    []string          `json:"zero,omitzero"`
	One     *item             `json:"one"`
	By      map[string][]item `json:"by"`
	Any     any               `json:"any"`
	Raw     json.RawMessage   `json:"raw"`
	Bytes   []byte            `json:"bytes"`
	At      time.Time         `json:"at"`
	hidden  []string
}

func TestEncode(t *testing.T) {
	t.Parallel()
	var none []string
	shared := []item{{}, {Names: []string{"<a>"}}}
	for name, tc := range map[string]struct {
		in   any
		want string
	}{
		"nothing":      {nil, `null`},
		"a nil slice":  {none, `[]`},
		"of slices":    {[][]string{nil, {"a"}}, `[[],["a"]]`},
		"a pointer":    {&item{}, `{"names":[]}`},
		"a nil struct": {(*item)(nil), `null`},
		"all empty": {
			answer{hidden: none},
			`{"tags":[],"items":[],"one":null,"by":null,"any":null,"raw":null,"bytes":null,"at":"0001-01-01T00:00:00Z"}`,
		},
		"at any depth": {
			&answer{
				Items: shared, Changed: &none, One: &item{}, By: map[string][]item{"a": nil, "b": {{}}},
				Any: map[string]any{"c": none}, Raw: json.RawMessage(`null`),
			},
			`{"tags":[],"items":[{"names":[]},{"names":["<a>"]}],"changed":[],"one":{"names":[]},` +
				`"by":{"a":[],"b":[{"names":[]}]},"any":{"c":[]},"raw":null,"bytes":null,"at":"0001-01-01T00:00:00Z"}`,
		},
	} {
		var out strings.Builder
		if err := listjson.Encode(&out, tc.in); err != nil || out.String() != tc.want+"\n" {
			t.Errorf("%s: %s%v, want %s", name, out.String(), err, tc.want)
		}
		if got, err := listjson.Marshal(tc.in); err != nil || string(got) != tc.want {
			t.Errorf("%s: %s %v, want %s", name, got, err, tc.want)
		}
	}
	if shared[0].Names != nil {
		t.Error("the encoder changed what its caller shares with others")
	}
}
