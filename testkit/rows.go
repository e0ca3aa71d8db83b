package testkit

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// Row is a line of a table of tests, with its text.
type Row[T any] struct {
	Of   T
	Text string
}

// Rows reads a table that Go and the exported gateway's plugin are both tested with: a JSON object on each line. It
// fails the test if there are fewer than least, since a table that isn't read tests nothing.
func Rows[T any](t testing.TB, path string, least int) (out []Row[T]) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		row := Row[T]{Text: lines.Text()}
		if err := json.Unmarshal(lines.Bytes(), &row.Of); err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(out) < least {
		t.Fatalf("%s has only %d rows", path, len(out))
	}
	return out
}
