package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/cmd/internal/terminal"
	"postern/core/configfile"
	"postern/core/contract"
	"postern/core/filelimits"
	"postern/core/movein"
)

// gatewayFlags are the choices for the plan of another gateway's files.
type gatewayFlags struct {
	open, set, env, hosts, trust []string
	allowWeak, retryOnTimeout    bool
	theirs                       bool
	name                         string // of --name, which zips have too
}

// gatewayFlagNames are the flags that zips don't have.
var gatewayFlagNames = []string{"host", "open", "set", "env", "trust", "allow-weak", "theirs", "retry-on-timeout"}

func (f *gatewayFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVar(&f.hosts, "host", nil, "other gateways: `HOST` for routes that don't have one "+
		"(repeatable)")
	flags.StringArrayVar(&f.open, "open", nil, "other gateways: name or ID of a `ROUTE` or consumer to open without "+
		"the checks that can't be imported (repeatable)")
	flags.StringArrayVar(&f.set, "set", nil, "other gateways: value of a placeholder, as `NAME=VALUE` (repeatable)")
	flags.StringArrayVar(&f.env, "env", nil, "other gateways: `NAME` of a placeholder to fill in from the "+
		"environment variable with the same name (repeatable)")
	flags.StringArrayVar(&f.trust, "trust", nil, "other gateways: accept the current certificate of the "+
		"https target `HOST` (repeatable)")
	for pointer, flag := range map[string]string{
		"/hosts": "--host", "/open": "--open", "/set": "--set", "/trust": "--trust", "/file": "FILE",
	} {
		terminal.NamePointer(command, pointer, flag)
	}
	flags.BoolVar(&f.allowWeak, "allow-weak", false, "other gateways: also import keys that can be guessed")
	flags.BoolVar(&f.theirs, "theirs", false, "other gateways: overwrite changes made since an earlier import")
	flags.BoolVar(&f.retryOnTimeout, "retry-on-timeout", false, "Kong: retry calls after a timeout, as Kong does")
}

func (f *gatewayFlags) areSet(c *cobra.Command) bool {
	return slices.ContainsFunc(gatewayFlagNames, func(name string) bool { return c.Flags().Changed(name) })
}

// readFiles returns the files of other gateways with these names, and none for an exported zip. Any other file is an
// error.
func readFiles(inputs []*terminal.Input) ([]movein.File, error) {
	var files []movein.File
	left := filelimits.GatewaySize.Most
	for _, in := range inputs {
		text, isZip, err := readFile(in, left)
		switch {
		case err != nil:
			return nil, err
		case isZip && len(inputs) > 1:
			return nil, terminal.UsageError(in.Path + " is a zip: import it separately")
		case isZip:
			return nil, nil
		}
		left -= int64(len(text))
		files = append(files, movein.File{Name: in.Name, Text: text})
	}
	return files, nil
}

// readFile returns the text of a file that looks like one of another gateway, of at most that many bytes. It doesn't
// read zips.
func readFile(in *terminal.Input, most int64) (text []byte, isZip bool, err error) {
	text, err = io.ReadAll(io.NewSectionReader(in, 0, min(in.Size, most+1)))
	if err != nil {
		return nil, false, terminal.CannotRead(err)
	}
	if bytes.HasPrefix(text, []byte("PK")) {
		return nil, true, nil
	}
	if int64(len(text)) > most {
		return nil, false, errors.New("cannot import: " + filelimits.GatewaySize.Refusal())
	}
	if other := movein.Otherwise(text); other != "" {
		return nil, false, fmt.Errorf("cannot import %s: %s", in.Name, other)
	}
	if !movein.Recognizes(text) {
		return nil, false, fmt.Errorf("%s isn't a supported file. Use an exported zip, a Kong file in YAML or JSON "+
			"with the member _format_version, or an export from AWS API Gateway", in.Name)
	}
	return text, false, nil
}

// importFiles imports files of another gateway, or shows the plan of their import.
func (f importFlags) importFiles(t terminal.Terminal, c *cobra.Command, files []movein.File) error {
	for _, name := range []string{"sha256", "signed-by"} {
		if c.Flags().Changed(name) {
			return terminal.UsageError("--" + name + " is for exported zips, but this is a file from another gateway")
		}
	}
	if f.gateway.name = f.in.Name; f.in.Name != "" && !contract.IsName(f.in.Name) {
		return terminal.UsageError("--name must have 2 to 40 lowercase letters, digits or hyphens, beginning with a " +
			"letter and not ending with a hyphen")
	}
	set, err := f.gateway.values(t)
	if err != nil {
		return err
	}
	read, err := movein.Read(files)
	if err != nil {
		return cannotImport(files, err)
	}
	for _, name := range f.gateway.placeholders() {
		known := read.Placeholders()
		if !slices.ContainsFunc(known, func(p configfile.Placeholder) bool { return p.Name == name }) {
			return fmt.Errorf("the files don't contain the placeholder %q. Their placeholders: %s", name,
				namesOf(known))
		}
	}
	if f.in.DryRun {
		return cannotImport(files, f.showPlan(t, c, read, set))
	}
	return f.moveIn(t, c, files, set)
}

// cannotImport adds the name of the file to an error about its contents. If there are several, the error has it.
func cannotImport(files []movein.File, err error) error {
	_, ofFile := errors.AsType[*configfile.Error](err)
	switch {
	case ofFile && len(files) == 1:
		return fmt.Errorf("cannot import %s: %w", files[0].Name, err)
	case ofFile:
		return fmt.Errorf("cannot import: %w", err)
	}
	return err
}

// showPlan shows the plan of an import. It makes the plan on this machine, so no secret leaves it.
func (f importFlags) showPlan(
	t terminal.Terminal, c *cobra.Command, files *movein.Files, set map[string]string,
) error {
	plan, err := files.Plan(set, movein.Options{
		Name: f.gateway.name, Open: f.gateway.open, Hosts: f.gateway.hosts, Trust: f.gateway.trust,
		AllowWeak: f.gateway.allowWeak, Theirs: f.gateway.theirs, RetryOnTimeout: f.gateway.retryOnTimeout,
		Now: time.Now(),
	})
	if err != nil {
		return err //nolint:wrapcheck // it is written for people
	}
	if terminal.WantsJSON(c) {
		return terminal.PrintJSON(t.Out, plan)
	}
	_, err = io.WriteString(t.Out, planText(&plan.ImportPlan, plan.Lines())+"\nNothing was changed.\n")
	return err //nolint:wrapcheck // of the terminal
}

// values returns the values of placeholders.
func (f *gatewayFlags) values(t terminal.Terminal) (map[string]string, error) {
	out := map[string]string{}
	var names []string
	for _, pair := range f.set {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, terminal.UsageError("--set must be NAME=VALUE")
		}
		if slices.Contains(f.env, name) {
			return nil, terminal.UsageError("--set and --env both set " + name + ": use one of them")
		}
		names, out[name] = append(names, name), value
	}
	if err := terminal.Once("set", names); err != nil {
		return nil, err
	}
	for _, name := range f.env {
		value, ok := variable(t.Environ, name)
		if !ok {
			return nil, fmt.Errorf("--env %s: this environment variable isn't set", name)
		}
		out[name] = value
	}
	return out, nil
}

func variable(environ []string, name string) (string, bool) {
	for _, pair := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// placeholders returns the names that flags give values.
func (f *gatewayFlags) placeholders() []string {
	names := slices.Clone(f.env)
	for _, pair := range f.set {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name)
	}
	return names
}

func namesOf(all []configfile.Placeholder) string {
	if len(all) == 0 {
		return "none"
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// settingFlags are the flags for the settings that the texts of a plan name.
var settingFlags = map[string]string{
	"allow_weak": "--allow-weak", "closed": `"Closed"`, "hosts": "--host", "name": "--name", "open": "--open",
	"retry_on_timeout": "--retry-on-timeout", "set": "--set NAME=VALUE or --env NAME", "trust": "--trust HOST",
}

// planText returns a plan for people: what would be created, the ledger, what stays closed, and what to do by hand.
func planText(p *contract.ImportPlan, ledger []contract.LedgerLine) string {
	var out strings.Builder
	s := p.Summary
	entities := terminal.Count{N: s.Total(), One: "entity"}
	fmt.Fprintf(&out, "Plan for %s (%s): %d unchanged, %d with differences, %d in part, %d not at all.\n\n",
		entities, terminal.Printable(p.Source), s.Exact, s.Approximate, s.Lossy, s.Skipped)
	if len(p.Projects) > 0 {
		fmt.Fprintf(&out, "The plan contains the product %s and the tenant %s, with:\n", p.Product, p.Tenant)
	}
	for i := range p.Projects {
		writeProject(&out, &p.Projects[i])
	}
	if p.OwnerCount > 0 {
		fmt.Fprintf(&out, "  owners: %d, keys: %d (%d frozen, %d expired), groups: "+
			"%d\n", p.OwnerCount, p.Keys.Imported,
			p.Keys.Frozen, p.Keys.Expired, len(p.Groups))
	}
	if len(p.Projects) > 0 || p.OwnerCount > 0 {
		out.WriteByte('\n')
	}
	lines := slices.Clone(movein.NameSettingsIn(ledger, settingFlags))
	for i := range lines {
		lines[i].Code = "" // of several reasons, which the note has
	}
	writeLedger(&out, lines, "Move", true)
	writeClosed(&out, p.Closed)
	writeByHand(&out, &p.ByHand)
	writeWeak(&out, p)
	for i, note := range p.Notes {
		if i == 0 {
			out.WriteString("Notes\n")
		}
		out.WriteString(indented(terminal.Printable(movein.NameSettings(note.Detail, settingFlags))))
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

func writeProject(out *strings.Builder, p *contract.PlannedProject) {
	fmt.Fprintf(out, "  project %s\n", p.Name)
	for i := range p.Versions {
		v := &p.Versions[i]
		target := v.Environment.Target
		for _, one := range v.Environment.Upstream.Targets {
			target = strings.TrimPrefix(target+", "+one.URL, ", ")
		}
		fmt.Fprintf(out, "    version %s, %s: %s\n", v.Name, movein.AccessText(v), terminal.Printable(target))
		for _, d := range v.Domains {
			methods := ""
			if len(d.Methods) > 0 {
				methods = " (" + strings.Join(d.Methods, ", ") + ")"
			}
			fmt.Fprintf(out, "      %s%s\n", terminal.Printable(d.Host+d.PathPrefix), terminal.Printable(methods))
		}
	}
}

func writeClosed(out *strings.Builder, all []contract.ClosedEntity) {
	for i, c := range all {
		if i == 0 {
			out.WriteString("Closed\n")
		}
		text := fmt.Sprintf("%s %s (%s): %s.", c.Kind, c.Name, c.Place(), strings.Join(c.Reasons, "; "))
		if c.Open != "" {
			text += " To open it: " + c.Open
		}
		out.WriteString(indented(terminal.Printable(text)))
	}
	if len(all) > 0 {
		out.WriteByte('\n')
	}
}

func writeByHand(out *strings.Builder, by *contract.ImportByHand) {
	var placeholders []string
	for _, one := range by.Placeholders {
		placeholders = append(placeholders, fmt.Sprintf("%s (%s)", one.Name, one.Place()))
	}
	lines := []string{}
	for _, one := range []struct {
		what string
		list []string
	}{
		{"Placeholders without a value (--set NAME=VALUE or --env NAME): ", placeholders},
		{
			"Host names. Each needs a TXT record, a certificate and, when you switch, a DNS record that points here: ",
			by.Hosts,
		},
		{"Addresses of targets to add to POSTERN_EGRESS_ALLOW: ", by.EgressCIDRs},
		{"Targets whose private addresses may need to be added to POSTERN_EGRESS_ALLOW: ", by.EgressNames},
		{"Host names with certificates in the files: ", by.Certificates},
	} {
		if len(one.list) > 0 {
			lines = append(lines, one.what+strings.Join(one.list, ", ")+".")
		}
	}
	for i, line := range lines {
		if i == 0 {
			out.WriteString("Manual steps\n")
		}
		out.WriteString(indented(terminal.Printable(line)))
	}
	if len(lines) > 0 {
		out.WriteByte('\n')
	}
}

// writeWeak says how many keys can be guessed.
func writeWeak(out *strings.Builder, p *contract.ImportPlan) {
	if p.Keys.Weak > 0 {
		fmt.Fprintf(out, "Keys that can be guessed: %d. Import them with --allow-weak, or replace them.\n\n",
			p.Keys.Weak)
	}
}
