package main

import (
	"fmt"
	"io"
)

// progress shows the progress of a command on one line of a terminal, and nothing if
// the output is not a terminal.
type progress struct {
	w       io.Writer
	watched bool
	shown   bool
}

func newProgress(w io.Writer) *progress { return &progress{w: w, watched: isTerminal(w)} }

// The control sequences (ECMA-48) that return to the start of the line and clear it.
const startOver = "\r\x1b[K"

// say shows a text in the place of the one before.
func (p *progress) say(text string) {
	if p.watched {
		fmt.Fprint(p.w, startOver+text)
		p.shown = true
	}
}

func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.w, startOver)
	}
}
