package relations_test

import (
	"strings"
	"testing"

	"postern/platform/fault"
	"postern/service/relations"
)

func TestReadAll(t *testing.T) {
	const one, two = `{"user": "ana", "object": "order:1"}`, `{"user": "bob", "object": "order:2", "tenant": "acme"}`
	for name, tc := range map[string]struct {
		text string
		want int // -1: refused
	}{
		"one":         {one, 1},
		"list":        {"\n[" + one + "," + two + "]\n", 2},
		"lines":       {one + "\n" + two + "\r\n", 2},
		"nothing":     {"", 0},
		"with a mark": {"\ufeff" + one, 1},
		"empty list":  {"[]", 0},
		"as exported": {
			`{"tenant_id":"tnt_1","tenant":"acme","object":"order:1","relation":"owner","user":"ana"}`, 1,
		},
		"as listed":     {`[{"tenant":"acme","object":"order:1","user":"ana","created_at":"2026-01-02T03:04:05Z"}]`, 1},
		"open list":     {"[" + one, -1},
		"broken list":   {"[" + one + ", {", -1},
		"no object":     {`"order:1"`, -1},
		"broken line":   {one + "\n{", -1},
		"unknown field": {`{"user": "ana", "subject": "x"}`, -1},
		"after a list":  {"[" + one + "] " + one, -1},
		"wrong type":    {`{"user": 1}`, -1},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := relations.ReadAll(strings.NewReader(tc.text))
			switch {
			case tc.want < 0 && fault.KindOf(err) != fault.Invalid:
				t.Errorf("%+v, %v", got, err)
			case tc.want >= 0 && (err != nil || len(got) != tc.want):
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
