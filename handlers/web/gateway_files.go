package web

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"

	"postern/core/filelimits"
	"postern/core/movein"
	"postern/platform/fault"
)

// GatewayFiles are the files of other gateways in one request.
type GatewayFiles struct {
	ForZips string // what to do with a zip, a sentence
	All     []movein.File

	size int64
}

// Add reads a further file. Errors: TooLarge; Malformed; Invalid with the field /file for a zip and for a file too
// many.
func (f *GatewayFiles) Add(name string, in io.Reader) error {
	if int64(len(f.All)) == filelimits.GatewayFiles.Most {
		return fault.InvalidField("/file", "too_many_files", "%s", filelimits.GatewayFiles.Sentence())
	}
	left := filelimits.GatewaySize.Most - f.size
	text, err := io.ReadAll(io.LimitReader(in, left+1))
	switch {
	case err != nil:
		return fault.New(fault.Malformed, "malformed", "The file can't be read.").Because(err)
	case bytes.HasPrefix(text, []byte("PK")):
		return fault.InvalidField("/file", "zip", "%s", f.ForZips)
	case int64(len(text)) > left:
		return fault.New(fault.TooLarge, "too_large", "%s", filelimits.GatewaySize.Sentence())
	}
	f.size += int64(len(text))
	f.All = append(f.All, movein.File{Name: name, Text: text})
	return nil
}

// SHA256 returns a hash of all names and texts, which is the same if the same files are sent again in another form.
func (f *GatewayFiles) SHA256() [sha256.Size]byte {
	sum := sha256.New()
	for _, one := range f.All {
		fmt.Fprintf(sum, "%d %d %s", len(one.Name), len(one.Text), one.Name)
		sum.Write(one.Text)
	}
	return [sha256.Size]byte(sum.Sum(nil))
}
