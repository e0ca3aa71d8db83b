package terminal

import (
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// NewCompletion returns the command that prints what a shell needs to complete the commands of this program. It
// replaces cobra's, whose help is in other words than ours.
func NewCompletion(t Terminal) *cobra.Command {
	command := Family("completion", "Set up shell completion",
		completionOf(t, "bash", (*cobra.Command).GenBashCompletionV2, `Requires the bash-completion package.

To enable completion in this shell:
  source <(postern completion bash)

To enable completion in every new shell on Linux, run this command as root:
  postern completion bash > /etc/bash_completion.d/postern

On macOS with Homebrew:
  postern completion bash > "$(brew --prefix)/etc/bash_completion.d/postern"`),
		completionOf(t, "zsh", plainly((*cobra.Command).GenZshCompletion),
			`Requires compinit. If your ~/.zshrc doesn't run it, add this line:
  autoload -U compinit && compinit

To enable completion in this shell:
  source <(postern completion zsh)

To enable completion in every new shell:
  postern completion zsh > "${fpath[1]}/_postern"`),
		completionOf(t, "fish", (*cobra.Command).GenFishCompletion, `To enable completion in this shell:
  postern completion fish | source

To enable completion in every new shell:
  postern completion fish > ~/.config/fish/completions/postern.fish`),
		completionOf(t, "powershell", plainly((*cobra.Command).GenPowerShellCompletionWithDesc),
			`To enable completion in this shell:
  postern completion powershell | Out-String | Invoke-Expression

To enable completion in every new shell, add that line to your profile. To find
your profile, run "echo $PROFILE".`),
	)
	command.Long = `Print a script that completes commands, flags, and the names of your projects, keys and
other objects when you press Tab. To see how to install the script, run the command for
your shell with --help.`
	command.Example = `  postern completion zsh --help
  source <(postern completion bash)`
	return command
}

// plainly returns the generator of a shell whose scripts always have descriptions.
func plainly(generate func(*cobra.Command, io.Writer) error) func(*cobra.Command, io.Writer, bool) error {
	return func(root *cobra.Command, w io.Writer, _ bool) error { return generate(root, w) }
}

func completionOf(
	t Terminal, shell string, generate func(root *cobra.Command, w io.Writer, describe bool) error, long string,
) *cobra.Command {
	short := "Print the completion script for " + strings.Replace(shell, "powershell", "PowerShell", 1)
	return &cobra.Command{
		Use:   shell,
		Short: short,
		Long:  short + ".\n\n" + long,
		Args:  Exactly(),
		RunE:  func(c *cobra.Command, _ []string) error { return generate(c.Root(), t.Out, true) },
	}
}

// OfferNoFiles has shells offer files only for the flags and arguments of a command and its subcommands that are files.
// Call it after all other completions are set.
func OfferNoFiles(c *cobra.Command) {
	for _, below := range c.Commands() {
		OfferNoFiles(below)
	}
	if c.ValidArgsFunction == nil && !namesFile(strings.TrimPrefix(c.Use, c.Name())) {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if _, has := c.GetFlagCompletionFunc(f.Name); has || f.Value.Type() == "file" || namesFile(f.Usage) {
			return
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // the flag exists
	})
}

// fileNoun matches words such as file, --file, FILE, files, directory and DIR.
var fileNoun = regexp.MustCompile(`(?i)\b(files?|director(y|ies)|dirs?)\b`)

// namesFile reports whether the description of a flag or the arguments of a command name a file.
func namesFile(text string) bool {
	return fileNoun.MatchString(text)
}
