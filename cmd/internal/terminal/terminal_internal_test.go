package terminal

import (
	"testing"
)

func TestTerminal_variable(t *testing.T) {
	at := Terminal{Environ: []string{"POSTERN_TOKEN=first", "POSTERN_TOKEN=pstt_last\n", "POSTERN_SERVER="}}
	for name, want := range map[string]string{
		"POSTERN_TOKEN":  "pstt_last", // the last one counts, without the newline of its file
		"POSTERN_SERVER": "",
		"POSTERN_NONE":   "",
	} {
		if got := at.Variable(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
