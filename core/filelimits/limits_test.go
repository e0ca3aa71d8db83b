package filelimits_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"postern/core/filelimits"
)

// docs/files.md is where those who are refused look for the limits.
func TestLimits_documented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/files.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("| File | Limit on | At most | Reason |\n| --- | --- | --- | --- |\n")
	for _, l := range filelimits.All() {
		want.WriteString(l.Row() + "\n")
	}
	if !strings.HasSuffix(string(text), "\n\n"+want.String()) {
		t.Errorf("docs/files.md does not have the table of limits:\n%s", want.String())
	}
}

// counted counts by parsing, which Count does not.
func counted(t *testing.T, text []byte) (c filelimits.Counts) {
	t.Helper()
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	depth := int64(0)
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return c
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			c.Objects++
			depth++
			c.Depth = max(c.Depth, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
			continue
		}
		c.Values++ // names of members too
	}
}

func checkCounts(t *testing.T, text []byte) {
	t.Helper()
	if !json.Valid(text) {
		return
	}
	got, want := filelimits.Count(text), counted(t, text)
	if got.Objects != want.Objects || got.Depth != want.Depth {
		t.Errorf("%.100q: %+v, want %+v", text, got, want)
	}
	// A comma or a bracket begins each value but the first of all; the parser also counts names.
	if got.Values > want.Values+want.Objects || 2*got.Values+1 < want.Values {
		t.Errorf("%.100q: %d values, of %d tokens", text, got.Values, want.Values)
	}
}

var texts = []string{
	`{"a":[1,2,{"b":"[{,\""}],"c":{}}`, `[]`, `"x"`, ` [ [ ] , { } ] `, `{"\\":"\\\\"}`, `[[[[[[1]]]]]]`,
	`{"a":1,"b":"c,d"}`,
}

func TestCount(t *testing.T) {
	t.Parallel()
	for _, text := range texts {
		checkCounts(t, []byte(text))
	}
	got := filelimits.Count([]byte(`{"a":[1,2,3],"b":{"c":[]}}`))
	if want := (filelimits.Counts{Values: 7, Objects: 4, Depth: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// FuzzCount has the parser as its oracle.
func FuzzCount(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkCounts(t, text) })
}
