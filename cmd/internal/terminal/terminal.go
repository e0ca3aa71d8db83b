// Package terminal is what a command has of the machine that it runs on: streams and variables, questions, tables and
// JSON, files, exit codes, and what is the same in every command. It owns how things are printed and how errors end a
// process. It knows nothing of the product: package cli sends requests, and the packages of the commands say what is
// printed.
package terminal

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Terminal has the streams of a command, so that tests can replace them.
type Terminal struct {
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Environ []string
	Lower   func() error // gives this process a low priority; nil: tests keep theirs
}

// GiveWay leaves the processors to a server on this machine. Where the priority cannot be lowered, the
// command takes its share.
func (t Terminal) GiveWay() {
	if t.Lower != nil {
		_ = t.Lower()
	}
}

// Variable returns an environment variable, or "". The last one of a name counts, as in
// os/exec.
func (t Terminal) Variable(name string) string {
	for _, pair := range slices.Backward(t.Environ) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return strings.TrimSpace(value) // a token read from a file ends with its newline
		}
	}
	return ""
}

// Asks reports whether a question can be asked: a person reads the output and types the input.
func (t Terminal) Asks() bool { return IsTerminal(t.Out) && readsTerminal(t.In) }

// Answered asks a question and reports whether the answer is the wanted one, in any case.
func Answered(t Terminal, question, want string) bool {
	fmt.Fprint(t.Out, Printable(question))
	line, _ := bufio.NewReader(t.In).ReadString('\n') // the end of input means no
	return strings.EqualFold(strings.TrimSpace(line), want)
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool { return isDevice(w) }

// readsTerminal reports whether r is a terminal, so that a question can be asked.
func readsTerminal(r io.Reader) bool { return isDevice(r) }

func isDevice(stream any) bool {
	if screen, ok := stream.(*Screen); ok {
		stream = screen.file
	}
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
