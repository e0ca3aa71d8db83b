package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/fault"
)

// DiagnosisCommand returns a command that runs a test and prints its report, after complete has filled in what flags
// alone don't have. complete is called once, because it can read standard input; it may be nil.
func DiagnosisCommand[In any](
	t terminal.Terminal, as As, op *contract.Op[In, contract.Diagnosis], complete func(*In) error,
) *cobra.Command {
	var in In
	var found contract.Diagnosis
	command := RequestCommand(t, as, op.Operation, &in, func(c *cobra.Command, api *client.Client) (err error) {
		found, err = client.Do(c.Context(), api, op, in)
		return err
	})
	test := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		if complete != nil {
			if err := complete(&in); err != nil {
				return err
			}
		}
		if err := test(c, args); err != nil {
			return err
		}
		return printDiagnosis(t, c, found)
	}
	terminal.AddJSONFlag(command)
	return command
}

// printDiagnosis prints a report. It returns an error for one that fails, so that scripts see it.
func printDiagnosis(t terminal.Terminal, c *cobra.Command, found contract.Diagnosis) error {
	var err error
	if terminal.WantsJSON(c) {
		err = terminal.PrintJSON(t.Out, found)
	} else {
		err = terminal.Details(t.Out, func(row func(...string)) {
			row("STEP", "OUTCOME", "DETAIL")
			for _, step := range found.Steps {
				row(step.Name(), step.Outcome.Name(), step.Detail)
			}
			for _, key := range found.Keys {
				row("key", key.Type, strings.TrimSpace(key.ID+" "+key.Algorithm))
			}
		})
		if target := found.Target; err == nil && target != nil && target.CA != nil {
			of := terminal.Printable(target.CA.Subject)
			_, err = fmt.Fprintf(t.Out, "\nThe certificate of %s:\n%s", of, target.CA.PEM)
		}
	}
	if err == nil && found.Outcome == contract.TestFail {
		return fault.New(fault.Conflict, "test_failed", "the test failed: see the steps above")
	}
	return err
}

// KeyCount counts keys.
func KeyCount(keys, active int64) terminal.Count {
	return terminal.Count{N: keys, One: "key", Detail: fmt.Sprintf("(%d active)", active)}
}

// PrintDeleted prints, before a deletion, what is deleted with the thing itself.
func PrintDeleted(out io.Writer, things ...terminal.Count) error {
	return PrintWith(out, "This also deletes", things...)
}

// PrintWith prints what else a deletion affects, after the beginning of the sentence.
func PrintWith(out io.Writer, begin string, things ...terminal.Count) error {
	var some []string
	for _, c := range things {
		if c.N > 0 {
			some = append(some, c.String())
		}
	}
	if len(some) == 0 {
		_, err := fmt.Fprintln(out, "Nothing else is affected.")
		return err
	}
	_, err := fmt.Fprintf(out, "%s: %s.\n", begin, strings.Join(some, ", "))
	return err
}

// ConfirmName has the name of what is permanently deleted typed, unless yes is set.
func ConfirmName(t terminal.Terminal, noun, name string, yes bool) error {
	return Confirm(t, "You can't undo this. To delete the "+noun+", type its name ("+name+"): ", name,
		"delete the "+noun, yes)
}

// ConfirmDeletion asks before something is deleted that can't be restored, unless yes is set.
func ConfirmDeletion(t terminal.Terminal, noun, name string, yes bool) error {
	return Confirm(t, "Delete the "+noun+" "+name+"? You can't undo this. [y/N] ", "y", "delete the "+noun, yes)
}

// Confirm asks a question before what cannot be undone, unless yes is set. what completes "use --yes to …".
func Confirm(t terminal.Terminal, question, answer, what string, yes bool) error {
	switch {
	case yes:
		return nil
	case !t.Asks():
		return terminal.UsageError("can't ask for confirmation without a terminal: use --yes to " + what)
	case !terminal.Answered(t, question, answer):
		return errors.New("canceled: nothing was changed")
	}
	return nil
}

// PrintStaying prints which projects a deletion leaves.
func PrintStaying(t terminal.Terminal, projects []string) {
	if len(projects) > 0 {
		fmt.Fprintln(t.Out, terminal.Printable("Projects that aren't deleted: "+strings.Join(projects, ", ")+"."))
	}
}
