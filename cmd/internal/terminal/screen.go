package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"
)

// Screen is a stream that may be a terminal. It says whether text is styled there, and shows long output in a pager.
type Screen struct {
	io.Writer
	file   *os.File
	styled bool
	pager  []string // the program and its arguments; none: output isn't paged
	height int      // of the terminal in lines, 0 if it is none
	held   *bytes.Buffer
}

// Write implements io.Writer.
func (s *Screen) Write(p []byte) (int, error) {
	if s.held != nil {
		return s.held.Write(p)
	}
	return s.Writer.Write(p) //nolint:wrapcheck // of the terminal
}

// Opened returns a terminal whose files are Screens, as its variables want them: NO_COLOR and CLICOLOR_FORCE for styled
// text, and POSTERN_PAGER and PAGER for long output.
func Opened(t Terminal) Terminal {
	if file, ok := t.Out.(*os.File); ok {
		screen := screenOf(t, file)
		if screen.height > 0 {
			screen.pager = pagerOf(t)
		}
		t.Out = screen
	}
	if file, ok := t.Err.(*os.File); ok {
		t.Err = screenOf(t, file)
	}
	return t
}

func screenOf(t Terminal, file *os.File) *Screen {
	out := &Screen{Writer: file, file: file, styled: isDevice(file) && t.Variable("TERM") != "dumb"}
	if t.Variable("NO_COLOR") != "" {
		out.styled = false
	}
	if force := t.Variable("CLICOLOR_FORCE"); force != "" && force != "0" {
		out.styled = true
	}
	if _, height, err := term.GetSize(int(file.Fd())); err == nil {
		out.height = height
	}
	return out
}

// pagerOf returns the program for long output and its arguments.
func pagerOf(t Terminal) []string {
	for _, name := range []string{"POSTERN_PAGER", "PAGER"} {
		if words := strings.Fields(t.Variable(name)); len(words) > 0 {
			return words
		}
	}
	if _, err := exec.LookPath("less"); err != nil {
		return nil
	}
	return []string{"less"}
}

// Paged runs show, and then shows what it has printed: in a pager if it is a terminal that is too small for it.
func Paged(t Terminal, show func() error) error {
	s, ok := t.Out.(*Screen)
	if !ok || len(s.pager) == 0 || s.held != nil {
		return show()
	}
	s.held = &bytes.Buffer{}
	err := show()
	text := s.held.Bytes()
	s.held = nil
	if bytes.Count(text, []byte{'\n'}) < s.height {
		_, printing := s.Write(text)
		return errors.Join(err, printing)
	}
	return errors.Join(err, s.page(t, text))
}

func (s *Screen) page(t Terminal, text []byte) error {
	pager := exec.Command(s.pager[0], s.pager[1:]...) //nolint:gosec,noctx // the user's own; it ends when they leave it
	pager.Stdin, pager.Stdout, pager.Stderr = bytes.NewReader(text), s.Writer, os.Stderr
	pager.Env = slices.Clone(t.Environ)
	if t.Variable("LESS") == "" {
		pager.Env = append(pager.Env, "LESS=FRX") // short text ends it, styles show, and the text stays on the screen
	}
	err := pager.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err == nil || ended {
		return nil
	}
	_, err = s.Writer.Write(text) // without the pager, which can't be started
	return err                    //nolint:wrapcheck // of the terminal
}

// The control sequences (ECMA-48) for styles.
const (
	bold     = "\x1b[1m"
	red      = "\x1b[31m"
	unstyled = "\x1b[0m"
)

// styled returns a text in a style if w shows styles.
func styled(w io.Writer, style, text string) string {
	if s, ok := w.(*Screen); ok && s.styled {
		return style + text + unstyled
	}
	return text
}

// Waiting says on a terminal what a command waits for and how long, from the first second until stop is called.
func (t Terminal) Waiting(text string) (stop func()) {
	return t.WaitingFor(func() string { return text })
}

// WaitingFor is Waiting with a text that changes.
func (t Terminal) WaitingFor(text func() string) (stop func()) {
	line := NewProgress(t.Err)
	if !line.watched {
		return func() {}
	}
	over, cleared := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(cleared)
		for seconds := 1; ; seconds++ {
			select {
			case <-over:
				line.End()
				return
			case <-time.After(time.Second):
				line.Say(fmt.Sprintf("%s (%d s)", text(), seconds))
			}
		}
	}()
	return func() {
		close(over)
		<-cleared
	}
}
