package export

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// kongFlags are the choices for the plan of a Kong file.
type kongFlags struct {
	open, set, env, hosts, trust []string
	allowWeak, retryOnTimeout    bool
	theirs                       bool
	name                         string // of --name, which zips have too
}

// kongFlagNames are the flags that only Kong files have.
var kongFlagNames = []string{"host", "open", "set", "env", "trust", "allow-weak", "theirs", "retry-on-timeout"}

func (f *kongFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVar(&f.hosts, "host", nil, "Kong files: `HOST` name of routes that don't have one; repeatable")
	flags.StringArrayVar(&f.open, "open", nil, "Kong files: name or ID of a `ROUTE` or consumer to open without the "+
		"plugins that can't be imported; repeatable")
	flags.StringArrayVar(&f.set, "set", nil, "Kong files: value of a placeholder, as `NAME=VALUE`; repeatable")
	flags.StringArrayVar(&f.env, "env", nil, "Kong files: `NAME` of a placeholder to fill from the environment "+
		"variable of the same name; repeatable")
	flags.StringArrayVar(&f.trust, "trust", nil, "Kong files: `HOST` of an https target whose certificate is accepted "+
		"as it is now; repeatable")
	for pointer, flag := range map[string]string{
		"/hosts": "--host", "/open": "--open", "/set": "--set", "/trust": "--trust", "/file": "FILE",
	} {
		terminal.NamePointer(command, pointer, flag)
	}
	flags.BoolVar(&f.allowWeak, "allow-weak", false, "Kong files: also import keys that can be guessed")
	flags.BoolVar(&f.theirs, "theirs", false, "Kong files: overwrite what was changed here since an earlier import")
	flags.BoolVar(&f.retryOnTimeout, "retry-on-timeout", false, "Kong files: send calls again after a timeout, as "+
		"Kong "+
		"does")
}

func (f *kongFlags) areSet(c *cobra.Command) bool {
	return slices.ContainsFunc(kongFlagNames, func(name string) bool { return c.Flags().Changed(name) })
}

// readKong returns the text of a file if it looks like one of Kong, and false for an exported zip. Any other file is an
// error.
func readKong(name string) (text []byte, found bool, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, false, fmt.Errorf("cannot read the file: %w", err)
	}
	defer file.Close()
	var begin [4]byte
	if n, _ := io.ReadFull(file, begin[:]); string(begin[:min(n, 2)]) == "PK" {
		return nil, false, nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, false, fmt.Errorf("cannot read the file: %w", err)
	}
	text, err = io.ReadAll(io.LimitReader(file, filelimits.GatewaySize.Most+1))
	if err != nil {
		return nil, false, fmt.Errorf("cannot read the file: %w", err)
	}
	if other := movein.Otherwise(text); other != "" {
		return nil, false, fmt.Errorf("cannot import %s: %s", filepath.Base(name), other)
	}
	if !movein.Recognizes(text) {
		return nil, false, fmt.Errorf("%s isn't a supported file. Use an exported zip, or a Kong file in YAML or "+
			"JSON with the member _format_version", filepath.Base(name))
	}
	return text, true, nil
}

// importKong imports a Kong file, or shows the plan of its import.
func (f importFlags) importKong(t terminal.Terminal, c *cobra.Command, text []byte) error {
	for _, name := range []string{"sha256", "signed-by"} {
		if c.Flags().Changed(name) {
			return terminal.UsageError("--" + name + " is for exported zips, and this is a Kong file")
		}
	}
	if f.kong.name = f.in.Name; f.in.Name != "" && !contract.IsName(f.in.Name) {
		return terminal.UsageError("--name needs 2 to 40 lowercase letters, digits or hyphens, beginning with a " +
			"letter and not ending with a hyphen")
	}
	set, err := f.kong.values(t)
	if err != nil {
		return err
	}
	read, err := movein.Read([]movein.File{{Text: text}})
	if err != nil {
		return fmt.Errorf("cannot read the Kong file: %w", err)
	}
	for _, name := range f.kong.placeholders() {
		known := read.Placeholders()
		if !slices.ContainsFunc(known, func(p configfile.Placeholder) bool { return p.Name == name }) {
			return fmt.Errorf("the file has no placeholder %q. Its placeholders: %s", name, namesOf(known))
		}
	}
	if f.in.DryRun {
		return f.planKong(t, c, read, set)
	}
	return f.moveIn(t, c, text, set)
}

// planKong shows the plan of a Kong file. It makes the plan on this machine, so no secret leaves it.
func (f importFlags) planKong(
	t terminal.Terminal, c *cobra.Command, files *movein.Files, set map[string]string,
) error {
	plan, err := files.Plan(set, movein.Options{
		Name: f.kong.name, Open: f.kong.open, Hosts: lowerAll(f.kong.hosts), Trust: f.kong.trust,
		AllowWeak: f.kong.allowWeak, Theirs: f.kong.theirs, RetryOnTimeout: f.kong.retryOnTimeout, Now: time.Now(),
	})
	if err != nil {
		return err //nolint:wrapcheck // it is written for people
	}
	if terminal.WantsJSON(c) {
		return terminal.PrintJSON(t.Out, plan)
	}
	_, err = io.WriteString(t.Out, kongText(&plan.ImportPlan, plan.Lines())+"\nNothing was changed.\n")
	return err //nolint:wrapcheck // of the terminal
}

// values returns the values of placeholders.
func (f *kongFlags) values(t terminal.Terminal) (map[string]string, error) {
	out := map[string]string{}
	for _, pair := range f.set {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, terminal.UsageError("--set needs NAME=VALUE")
		}
		out[name] = value
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
func (f *kongFlags) placeholders() []string {
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

func lowerAll(names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, strings.ToLower(name))
	}
	return out
}

// kongText returns a plan for people: what would be created, the ledger, what stays closed, and what to do by hand.
func kongText(p *contract.ImportPlan, ledger []contract.LedgerLine) string {
	var out strings.Builder
	s := p.Summary
	fmt.Fprintf(&out, "Plan for a file with %d entities (%s): %d move exactly, %d with differences, %d in part, %d "+
		"not at all.\n\n", s.Total(), terminal.Printable(p.Source), s.Exact, s.Approximate, s.Lossy, s.Skipped)
	if len(p.Projects) > 0 {
		fmt.Fprintf(&out, "Would create the product %s and the tenant %s, with:\n", p.Product, p.Tenant)
	}
	for i := range p.Projects {
		writeProject(&out, &p.Projects[i])
	}
	if p.OwnerCount > 0 {
		fmt.Fprintf(&out, "  owners: %d, keys: %d (%d frozen, %d expired), groups: "+
			"%d\n", p.OwnerCount, p.Keys.Imported,
			p.Keys.Frozen, p.Keys.Expired, len(p.Groups))
	}
	out.WriteByte('\n')
	writeLedger(&out, ledger, "Move", true)
	writeClosed(&out, p.Closed)
	writeByHand(&out, &p.ByHand)
	writeWeak(&out, p)
	for i, note := range p.Notes {
		if i == 0 {
			out.WriteString("Notes\n")
		}
		out.WriteString(indented(terminal.Printable(note.Detail)))
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
		text := fmt.Sprintf("%s %s (line %d): %s.", c.Kind, c.Name, c.Line, strings.Join(c.Reasons, "; "))
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
		placeholders = append(placeholders, fmt.Sprintf("%s (line %d)", one.Name, one.Line))
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
		{"Targets that probably have private addresses, to add to POSTERN_EGRESS_ALLOW: ", by.EgressNames},
		{"Names with certificates in the file: ", by.Certificates},
	} {
		if len(one.list) > 0 {
			lines = append(lines, one.what+strings.Join(one.list, ", ")+".")
		}
	}
	for i, line := range lines {
		if i == 0 {
			out.WriteString("By hand\n")
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
