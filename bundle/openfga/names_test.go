package openfga_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"postern/bundle/openfga"
)

// The plugin for Kong is tested by the same table.
func TestNames_sharedTable(t *testing.T) {
	file, err := os.Open("testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	read := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if words[0] == "#" {
			continue
		}
		got := openfga.Object(words[0], words[1])
		if words[0] == "user" {
			got = openfga.User(words[1])
		}
		if got != words[2] {
			t.Errorf("%s %s is %s, want %s", words[0], words[1], got, words[2])
		}
		read++
	}
	if read < 6 {
		t.Errorf("only %d names", read)
	}
}
