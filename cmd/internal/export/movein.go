package export

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/core/movein"
)

// moveIn has the server plan the import of files, shows the plan, and has it applied.
func (f importFlags) moveIn(
	t terminal.Terminal, c *cobra.Command, files []movein.File, set map[string]string,
) error {
	if !f.yes && !t.Asks() { // before anything is sent
		return cli.Confirm(t, "", "", "import", false)
	}
	_, by, err := cli.SignedIn(t, c)
	if err != nil {
		return err
	}
	op, body, err := bodyOf(files)
	if err != nil {
		return err
	}
	name := files[0].Name
	if more := len(files) - 1; more > 0 {
		name += fmt.Sprintf(" and %d more", more)
	}
	ctx, in := c.Context(), contract.NewImport{Team: f.in.Team}
	plan, err := upload(ctx, t, by, op, in, body, body.Size(), name)
	if err != nil {
		return err
	}
	did, err := f.apply(ctx, t, by.Client, &plan, set, terminal.WantsJSON(c))
	if err != nil {
		// If it can't be deleted now, it is after 24 hours.
		_, _ = client.Do(context.WithoutCancel(ctx), by.Client, contract.DeleteImportPlan,
			contract.ImportPath{Import: plan.ID})
		return err
	}
	if terminal.WantsJSON(c) {
		return terminal.PrintJSON(t.Out, did)
	}
	return printMovedIn(t.Out, &did, &plan.ByHand)
}

// bodyOf returns the operation that plans an import, and its body: a file, or a form with several.
func bodyOf(files []movein.File) (*contract.Op[contract.NewImport, contract.PlannedImport], *bytes.Reader, error) {
	op := *contract.PlanImport
	if len(files) == 1 {
		return &op, bytes.NewReader(files[0].Text), nil
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, file := range files {
		part, err := form.CreateFormFile("file", file.Name)
		if err == nil {
			_, err = part.Write(file.Text)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("create the form: %w", err)
		}
	}
	if err := form.Close(); err != nil {
		return nil, nil, fmt.Errorf("create the form: %w", err)
	}
	op.Body = form.FormDataContentType()
	return &op, bytes.NewReader(body.Bytes()), nil
}

// apply sets the choices for a plan, shows it, asks, and has it written.
func (f importFlags) apply(
	ctx context.Context, t terminal.Terminal, api *client.Client, plan *contract.PlannedImport, set map[string]string,
	asJSON bool,
) (did contract.MovedIn, err error) {
	if err := choose(ctx, api, plan, f.gateway.change(set)); err != nil {
		return did, err
	}
	if !asJSON {
		if _, err := io.WriteString(t.Out, planText(&plan.ImportPlan, plan.Ledger)+targetsText(plan)+"\n"); err != nil {
			return did, err //nolint:wrapcheck // of the terminal
		}
	}
	weak := terminal.Count{N: plan.Keys.Weak, One: "key"}.String() + " can be guessed. Import them too? [y/N] "
	if plan.Keys.Weak > 0 && !plan.AllowWeak && !f.yes && terminal.Answered(t, weak, "y") {
		if err := choose(ctx, api, plan, contract.ImportPlanChange{AllowWeak: new(true)}); err != nil {
			return did, err
		}
	}
	question := fmt.Sprintf("Apply the plan for %s and %s? [y/N] ",
		terminal.Count{N: int64(len(plan.Projects)), One: "project"},
		terminal.Count{N: plan.Keys.Imported, One: "key"})
	if err := cli.Confirm(t, question, "y", "import", f.yes); err != nil {
		return did, err
	}
	defer t.Waiting("Importing")()
	return client.Do(ctx, api.Patient(), contract.ApplyImport, contract.ImportApplication{
		ImportPath: contract.ImportPath{Import: plan.ID}, Condition: contract.Condition{IfMatch: plan.ETag},
	})
}

// choose changes the choices for a plan.
func choose(
	ctx context.Context, api *client.Client, plan *contract.PlannedImport, change contract.ImportPlanChange,
) error {
	changed, err := client.Do(ctx, api.Patient(), contract.UpdateImportPlan, contract.ImportPlanUpdate{
		ImportPath: contract.ImportPath{Import: plan.ID}, Condition: contract.Condition{IfMatch: plan.ETag},
		Body: change,
	})
	if err == nil {
		*plan = changed
	}
	return err
}

// change returns the choices as the API has them.
func (f *gatewayFlags) change(set map[string]string) contract.ImportPlanChange {
	list := func(texts []string) *[]string {
		texts = slices.Concat([]string{}, texts)
		return &texts
	}
	change := contract.ImportPlanChange{
		Name: &f.name, Open: list(f.open), Hosts: list(f.hosts), Trust: list(f.trust), Theirs: &f.theirs,
		AllowWeak: &f.allowWeak, RetryOnTimeout: &f.retryOnTimeout, Set: map[string]contract.Secret{},
	}
	for name, value := range set {
		change.Set[name] = contract.Secret(value)
	}
	return change
}

// printMovedIn prints what an import has created, and what is left to do by hand if that is known.
func printMovedIn(w io.Writer, did *contract.MovedIn, by *contract.ImportByHand) error {
	if did.ID == "" {
		_, err := io.WriteString(w, "Everything is up to date. Nothing was changed.\n")
		return err //nolint:wrapcheck // of the terminal
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Imported as %s: %s.\n\n", did.ID, movedText(did))
	if by == nil {
		fmt.Fprintf(&out, "Imported from %s on %s, with the product %s and the tenant %s:\n",
			terminal.Printable(did.Source), terminal.When(&did.CreatedAt), did.Product, did.Tenant)
	}
	for i := range did.Projects {
		p := &did.Projects[i]
		fmt.Fprintf(&out, "  project %s\n", terminal.Printable(p.Name))
		for _, url := range p.URLs {
			fmt.Fprintf(&out, "    %s\n", terminal.Printable(url))
		}
		for _, version := range p.Closed {
			fmt.Fprintf(&out, "    closed version: %s. It refuses every call\n", terminal.Printable(version))
		}
	}
	writeMovedList(&out, "Kept, because they were changed here", &did.Kept)
	writeMovedList(&out, "In Postern but no longer in the files", &did.Vanished)
	out.WriteByte('\n')
	if by != nil {
		writeByHand(&out, by)
	} else {
		WriteToDos(&out, did.ToDo)
	}
	if by != nil && len(by.Hosts) > 0 {
		host := terminal.Printable(by.Hosts[0])
		out.WriteString(indented("To see the TXT record of a host name: postern domains list PROJECT. An operator " +
			"can approve a host name without a record: postern domains approve PROJECT " + host + "."))
	}
	if did.CannotUndo != "" {
		out.WriteString(strings.Join(strings.Fields(terminal.Printable(did.CannotUndo)), " ") + "\n")
	} else {
		fmt.Fprintf(&out, "To undo the import: postern imports undo %s\n", did.ID)
	}
	_, err := io.WriteString(w, out.String())
	return err //nolint:wrapcheck // of the terminal
}

// movedText says how much an import has created, changed and left alone.
func movedText(did *contract.MovedIn) string {
	var parts []string
	for _, one := range []struct {
		what string
		of   *contract.MovedCounts
	}{{"created", &did.Created}, {"updated", &did.Updated}} {
		var things []string
		for _, count := range []terminal.Count{
			{N: one.of.Projects, One: "project"},
			{N: one.of.Versions, One: "version"},
			{N: one.of.Environments, One: "environment"},
			{N: one.of.Domains, One: "custom domain"},
			{N: one.of.Groups, One: "group"},
			{N: one.of.Owners, One: "owner"},
			{N: one.of.Keys, One: "key"},
		} {
			if count.N > 0 {
				things = append(things, count.String())
			}
		}
		if len(things) > 0 {
			parts = append(parts, one.what+" "+strings.Join(things, ", "))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("%d unchanged", did.Unchanged)), "; ")
}

func writeMovedList(out *strings.Builder, title string, list *contract.MovedList) {
	for i, one := range list.Items {
		if i == 0 {
			fmt.Fprintf(out, "\n%s: %d\n", title, list.Total)
		}
		out.WriteString(indented(terminal.Printable(one.Kind + " " + one.Name + ": " + one.Detail)))
	}
}

func newImports(t terminal.Terminal) *cobra.Command {
	return terminal.Family("imports", "Manage imports from other gateways",
		cli.ListCommand(t, cli.AsPerson, contract.ListImports, []string{"ID", "STATE", "NAME", "STARTED"},
			func(one contract.ImportSummary) []string {
				return []string{one.ID, one.State, one.Name, terminal.When(&one.CreatedAt)}
			}),
		newShowImport(t),
		cli.DoneCommand(t, asImport, contract.DeleteImportPlan, "Deleted the plan %s."),
		newUndo(t))
}

// asImport runs a command with the first credential that may access the import in its first argument.
var asImport = cli.AsHolderOf("import ", ". To find its ID, run `postern imports list`")

// newShowImport shows a plan, or the result of an import that was applied.
func newShowImport(t terminal.Terminal) *cobra.Command {
	var in contract.ImportPath
	command := cli.RequestCommand(t, asImport, contract.GetImportPlan.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			if contract.IsAppliedImport(in.Import) {
				did, err := client.Do(c.Context(), api, contract.GetImportResult, in)
				switch {
				case err != nil:
					return err
				case terminal.WantsJSON(c):
					return terminal.PrintJSON(t.Out, did)
				}
				return printMovedIn(t.Out, &did, nil)
			}
			p, err := client.Do(c.Context(), api, contract.GetImportPlan, in)
			switch {
			case err != nil:
				return err
			case terminal.WantsJSON(c):
				return terminal.PrintJSON(t.Out, p)
			}
			_, err = io.WriteString(t.Out, planText(&p.ImportPlan, p.Ledger)+targetsText(&p))
			return err //nolint:wrapcheck // of the terminal
		})
	command.Short = "Show an import's plan or result"
	command.Long = `Show an import's plan, or what an applied import created, updated and left
unchanged.`
	terminal.AddJSONFlag(command)
	return command
}

func newUndo(t terminal.Terminal) *cobra.Command {
	var yes bool
	command := cli.DoneCommand(t, asImport, contract.UndoImport, "Undid the import %s. Everything that it created "+
		"was deleted.")
	command.Use += " [--yes]"
	command.Long += "\n\nThe command asks for confirmation. Without a terminal, use --yes."
	terminal.AddYesFlag(command, &yes)
	undo := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		question := "Delete the projects and keys that " + args[0] + " created? You can't undo this. [y/N] "
		if err := cli.Confirm(t, question, "y", "undo the import", yes); err != nil {
			return err
		}
		return undo(c, args)
	}
	return command
}
