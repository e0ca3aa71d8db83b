package main

import (
	"bufio"
	"fmt"
	"strings"
)

// asks reports whether a question can be asked: a person reads the output and types the input.
func (t terminal) asks() bool { return isTerminal(t.out) && readsTerminal(t.in) }

// answered asks a question and reports whether the answer is the wanted one, in any case.
func answered(t terminal, question, want string) bool {
	fmt.Fprint(t.out, printable(question))
	line, _ := bufio.NewReader(t.in).ReadString('\n') // the end of input means no
	return strings.EqualFold(strings.TrimSpace(line), want)
}

// confirm asks for a yes before something that cannot be undone. what completes the sentence
// "Give --yes to …".
func confirm(t terminal, question, what string, yes bool) error {
	switch {
	case yes:
		return nil
	case !t.asks():
		return usageError("this cannot be undone, and there is no terminal to ask in: give --yes to " + what)
	case !answered(t, question+" [y/N] ", "y"):
		return usageError("nothing was changed")
	}
	return nil
}
