package export

import (
	archive "archive/zip"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/core/filelimits"
)

// verified is the output of verify --json.
type verified struct {
	File       string                `json:"file"`
	SHA256     string                `json:"sha256"`
	Signature  string                `json:"signature"` // one of the three below
	Project    string                `json:"project"`
	Format     bundle.Format         `json:"format"`
	Generator  string                `json:"generator"`
	ExportedAt string                `json:"exported_at"`
	Revision   int64                 `json:"revision"`
	Entries    int                   `json:"entries"`
	Keys       int64                 `json:"keys"`
	Items      int64                 `json:"items"`
	Ledger     contract.LedgerTotals `json:"ledger"`
}

const (
	signatureValid     = "valid"     // by the key of --signed-by
	signatureUnchecked = "unchecked" // present, but no key was given
	signatureNone      = "none"
)

func newVerify(t terminal.Terminal) *cobra.Command {
	var sum, key string
	command := &cobra.Command{
		Use:   "verify FILE",
		Short: "Verify an exported zip offline",
		Long: `Verify an exported zip offline, without unpacking it. The command checks that:
  - the zip is safe to unpack
  - every file matches its checksum, and no files are missing or extra
  - the ledger accounts for everything in the zip
  - every generated file matches the project

These checks detect accidental and partial changes. They can't detect that a zip was
replaced with a valid export of another project. To verify the origin of the zip,
use --sha256 with the checksum that the server shows for the export, or --signed-by
with the server's key from /.well-known/postern-export-key.`,
		Example: `  postern verify shop-data.zip
  postern verify shop-data.zip --sha256 9f86d081…
  postern verify shop-data.zip --signed-by export-key.pem`,
		Args: terminal.Exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			against, err := readAgainst(sum, key)
			if err != nil {
				return err
			}
			zip, err := terminal.OpenInput(t.In, args[0], filelimits.MaxZip)
			if err != nil {
				return err
			}
			defer zip.Close()
			report, err := verifyFile(c.Context(), t, zip, against)
			if err != nil {
				return err
			}
			out := verifiedOf(zip.Path, report, against)
			if terminal.WantsJSON(c) {
				return terminal.PrintJSON(t.Out, out)
			}
			return printVerified(t, out)
		},
	}
	terminal.Described(command, [2]string{"FILE", "exported zip, or - for standard input"})
	command.Flags().StringVar(&sum, "sha256", "", "SHA-256 checksum that the zip must have, in hexadecimal")
	command.Flags().
		StringVar(&key, "signed-by", "", "public `KEY` that verifies the zip's signature: a PEM file, "+
			"or the key in base64")
	terminal.AddJSONFlag(command)
	return command
}

func readAgainst(sum, key string) (bundle.Against, error) {
	against := bundle.Against{Targets: targets.All()}
	if sum != "" {
		raw, err := hex.DecodeString(sum)
		if err != nil || len(raw) != 32 {
			return against, terminal.UsageError("--sha256 must be 64 hexadecimal digits")
		}
		against.SHA256 = (*[32]byte)(raw)
	}
	if key == "" {
		return against, nil
	}
	var err error
	against.SignedBy, err = readPublicKeys(key)
	return against, err
}

// readPublicKeys reads Ed25519 keys from a PEM file (RFC 7468, section 13), or decodes
// key as one key in base64.
func readPublicKeys(key string) ([]ed25519.PublicKey, error) {
	text, err := os.ReadFile(key)
	if errors.Is(err, fs.ErrNotExist) {
		raw, decoding := base64.StdEncoding.DecodeString(strings.TrimSpace(key))
		if decoding != nil || len(raw) != ed25519.PublicKeySize {
			return nil, terminal.UsageError(
				fmt.Sprintf("--signed-by must be a PEM file or an Ed25519 key in base64, not %q", key))
		}
		return []ed25519.PublicKey{raw}, nil
	}
	if err != nil {
		return nil, terminal.OfFlag("signed-by", terminal.CannotRead(err))
	}
	var keys []ed25519.PublicKey
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		public, ok := parsed.(ed25519.PublicKey)
		if err != nil || !ok {
			return nil, terminal.UsageError("--signed-by: " + key + " contains a key that isn't an Ed25519 public key")
		}
		keys = append(keys, public)
	}
	if len(keys) == 0 {
		return nil, terminal.UsageError("--signed-by: " + key + " contains no public key in PEM")
	}
	return keys, nil
}

// verifyFile is VerifyFile, and says on a terminal that it takes a while.
func verifyFile(
	ctx context.Context, t terminal.Terminal, zip *terminal.Input, against bundle.Against,
) (bundle.Report, error) {
	defer t.Waiting("Verifying " + terminal.Printable(zip.Path))()
	return VerifyFile(ctx, zip, against)
}

// VerifyFile verifies the zip in a file.
func VerifyFile(ctx context.Context, zip *terminal.Input, against bundle.Against) (bundle.Report, error) {
	report, err := bundle.Verify(ctx, zip, zip.Size, against)
	if err != nil {
		if errors.Is(err, archive.ErrFormat) {
			return report, fmt.Errorf("%s isn't a complete zip file", zip.Path)
		}
		return report, fmt.Errorf("%s: %w", zip.Path, err)
	}
	return report, nil
}

// exportedAt formats the time in a manifest, which is of RFC 3339, as other times are printed.
func exportedAt(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return terminal.When(&at)
}

func verifiedOf(name string, report bundle.Report, against bundle.Against) verified {
	signature := signatureNone
	switch {
	case report.Signed && len(against.SignedBy) > 0:
		signature = signatureValid
	case report.Signed:
		signature = signatureUnchecked
	}
	return verified{
		File:       name,
		SHA256:     hex.EncodeToString(report.SHA256[:]),
		Signature:  signature,
		Project:    report.Manifest.Project.Name,
		Format:     report.Manifest.Options.Format,
		Generator:  report.Manifest.Generator,
		ExportedAt: report.Manifest.ExportedAt,
		Revision:   report.Manifest.Revision,
		Entries:    report.Entries,
		Keys:       report.Keys,
		Items:      report.Items,
		Ledger:     report.Summary,
	}
}

// signatureTexts are the messages for the states of a signature.
var signatureTexts = map[string]string{
	signatureValid:     "valid, signed by the given key",
	signatureUnchecked: "not checked. Use --signed-by KEY to check that the server created it",
	signatureNone:      "not signed",
}

func printVerified(t terminal.Terminal, v verified) error {
	fmt.Fprintf(t.Out, "%s is intact.\n\n", v.File)
	own, all := v.Ledger.Configured, v.Ledger.LedgerCounts
	return terminal.Details(t.Out, func(row func(...string)) {
		row("  project", fmt.Sprintf("%s, revision %d, as %s", v.Project, v.Revision, v.Format))
		row("  exported", exportedAt(v.ExportedAt)+" by "+v.Generator)
		row("  sha256", v.SHA256)
		row("  signature", signatureTexts[v.Signature])
		row("  checked", fmt.Sprintf("%d files match SHA256SUMS. No files are missing or extra", v.Entries))
		row("", "every generated file matches the project")
		row("", terminal.Count{N: v.Keys, One: "API key"}.String())
		row("", fmt.Sprintf("%d ledger items, which all refer to existing content", v.Items))
		row("  ledger", "configured: "+countsText(own))
		row("", "the same for every project: "+countsText(contract.LedgerCounts{
			Exact:       all.Exact - own.Exact,
			Approximate: all.Approximate - own.Approximate,
			Lossy:       all.Lossy - own.Lossy,
			Skipped:     all.Skipped - own.Skipped,
		}))
	})
}

// countsText lists the counts by status.
func countsText(c contract.LedgerCounts) string {
	return fmt.Sprintf("%d exact, %d approximate, %d lossy, %d skipped", c.Exact, c.Approximate, c.Lossy, c.Skipped)
}
