package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// output is where a command writes the zip of an export.
type output struct {
	file  string // "" until it has a name
	force bool
}

// stdout is the file name for standard output.
const stdout = "-"

// add adds the flags to a command.
func (o *output) add(command *cobra.Command) {
	command.Flags().StringVarP(&o.file, "output", "o", "", "file to write, or - for standard output. Defaults to "+
		"PROJECT-data.zip or PROJECT-kong.zip")
	command.Flags().BoolVar(&o.force, "force", false, "overwrite the file if it exists")
}

// flags returns the flags of a command that writes to the same place as this one, for the same server.
func (o *output) flags(s cli.Session) string {
	text := ""
	if s.IsFromFlag() {
		text += " --server " + s.Server
	}
	if o.file != "" {
		text += " -o " + terminal.Printable(o.file)
	}
	return text
}

// canWrite returns an error if the zip can't be written there, before an export is queued and waited for.
func (o *output) canWrite(t terminal.Terminal, asJSON bool) error {
	switch {
	case o.file == "":
		return nil
	case o.file != stdout:
		return terminal.CanSave(t.Err, o.file, o.force)
	case o.force:
		return terminal.UsageError("--force and -o - can't be combined: use one of them")
	case asJSON:
		return terminal.UsageError("--json and -o - both write to standard output: use one of them")
	case terminal.IsTerminal(t.Out):
		return terminal.UsageError("can't write a zip to a terminal: redirect the output, or choose a file with -o")
	}
	return nil
}

// nameAfter names the file after its project and format, unless it has a name.
func (o *output) nameAfter(t terminal.Terminal, p contract.Project, format string) error {
	if o.file != "" {
		return nil
	}
	// The server chose the name, which must not lead out of this folder.
	if filepath.Base(p.Name) != p.Name || terminal.Printable(p.Name) != p.Name || p.Name == "" || p.Name[0] == '.' {
		return errors.New("the project's name can't be used as a file name: choose a file name with --output")
	}
	o.file = p.Name + "-" + map[string]string{"gateway": "kong", "data": "data"}[format] + ".zip"
	return terminal.CanSave(t.Err, o.file, o.force)
}

// download waits until an export is ready, writes its zip, and returns the export as it was last. If the zip goes to
// standard output, its size and hash go to standard error.
func (o *output) download(
	ctx context.Context, t terminal.Terminal, api *client.Client, id string,
) (contract.Export, error) {
	shown := terminal.NewProgress(t.Err)
	defer shown.End()
	var last contract.Export
	e, err := api.WaitExport(ctx, id, func(e contract.Export) {
		last = e
		shown.Say(progressOf(e))
	})
	shown.End()
	if err != nil {
		return last, err
	}
	write := func(w io.Writer) error {
		return api.Download(ctx, e, &counted{Writer: w, of: e.SizeBytes, shown: shown})
	}
	if o.file != stdout {
		return e, terminal.WriteFile(o.file, func(part *os.File) error { return write(part) })
	}
	if err := write(t.Out); err != nil {
		return e, fmt.Errorf("the zip is incomplete: %w", err)
	}
	shown.End()
	_, err = fmt.Fprintf(t.Err, "Wrote %s, SHA-256 %s.\n", terminal.Size(e.SizeBytes), e.SHA256)
	return e, err //nolint:wrapcheck // of the terminal
}

// progressOf says how far an export is.
func progressOf(e contract.Export) string {
	text := e.State
	if e.Progress.Part != "" {
		text += ": " + terminal.Printable(e.Progress.Part)
	}
	if e.Progress.RowsTotal > 0 {
		text += fmt.Sprintf(", %d of %d rows", e.Progress.RowsDone, e.Progress.RowsTotal)
	}
	return text
}

// counted shows for each megabyte how much of a download is written.
type counted struct {
	io.Writer
	done, of int64
	shown    *terminal.Progress
}

// Write implements io.Writer.
func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	before := c.done >> 20
	if c.done += int64(n); c.done>>20 > before {
		c.shown.Say(fmt.Sprintf("downloading: %s of %s", terminal.Size(c.done), terminal.Size(c.of)))
	}
	return n, err //nolint:wrapcheck // of the file
}

// savedLine says where the zip of an export was saved.
func savedLine(file string, e contract.Export) string {
	return fmt.Sprintf("Saved %s, %s, SHA-256 %s.\n", terminal.Printable(file), terminal.Size(e.SizeBytes), e.SHA256)
}

func newExportsDownload(t terminal.Terminal) *cobra.Command {
	var in contract.ExportPath
	var to output
	command := cli.RequestCommand(t, asExport, contract.DownloadExport.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			if err := to.canWrite(t, false); err != nil {
				return err
			}
			e, err := client.Do(c.Context(), api, contract.GetExport, in)
			if err != nil {
				return err
			}
			if to.file == "" { // otherwise the project's name isn't needed
				at := contract.ProjectPath{Project: e.Project}
				p, err := client.Do(c.Context(), api, contract.GetProject, at)
				if err != nil {
					return fmt.Errorf("choose a file with -o, because the project's name is unknown: %w", err)
				}
				if err := to.nameAfter(t, p, e.Format); err != nil {
					return err
				}
			}
			if e, err = to.download(c.Context(), t, api, e.ID); err != nil || to.file == stdout {
				return err
			}
			_, err = fmt.Fprint(t.Out, savedLine(to.file, e))
			return err //nolint:wrapcheck // of the terminal
		})
	command.Long = `Download the zip of an export. If the export isn't ready yet, the command waits for it.
The command also verifies the zip's SHA-256. You can download the zip until it expires.`
	to.add(command)
	return command
}
