package movein

import (
	"bytes"
	"compress/flate"
	"encoding/gob"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"postern/core/awsfile"
	"postern/core/configfile"
	"postern/core/contract"
	"postern/core/filelimits"
	"postern/core/kongfile"
)

// File is a file that is imported.
type File struct {
	Name string // for people, if there are several
	Text []byte
}

// Files are the files of one import, parsed, without the values of API keys.
type Files struct {
	isAWS     bool // of Kong otherwise
	documents []*configfile.Document
}

// of other files that people try to import
var (
	manifest = regexp.MustCompile(`(?m)^["']?apiVersion["']?\s*:`)
	openAPI  = regexp.MustCompile(`(?m)(^|[{,]\s*)["']?(openapi|swagger)["']?\s*:`)
)

// Recognizes reports whether a file looks like one of another gateway.
func Recognizes(text []byte) bool { return kongfile.Recognizes(text) || awsfile.Recognizes(text) }

// Otherwise says what kind of file can't be imported and what the user can do with it; "" if the kind isn't known.
func Otherwise(text []byte) string {
	switch {
	case Recognizes(text):
		return ""
	case manifest.Match(text):
		return "This is a Kubernetes manifest. Save the Kong file from its data as a separate file, and import that " +
			"file."
	case openAPI.Match(text):
		return "This is an OpenAPI document. Create a project from it with postern create --openapi FILE."
	}
	return ""
}

// Read reads the files of an import. Of API keys, it keeps the hashes only. Errors are *configfile.Error.
func Read(files []File) (*Files, error) {
	switch {
	case int64(len(files)) > filelimits.GatewayFiles.Most:
		return nil, configfile.Beyond(filelimits.GatewayFiles)
	case totalSize(files) > filelimits.GatewaySize.Most:
		return nil, configfile.Beyond(filelimits.GatewaySize)
	}
	out := &Files{}
	names, values := taken{}, int64(0)
	var placeholders []configfile.Placeholder
	for i, file := range files {
		isAWS := !kongfile.Recognizes(file.Text) && (out.isAWS || awsfile.Recognizes(file.Text))
		if i == 0 {
			out.isAWS = isAWS
		}
		d, err := readFile(file.Text, isAWS)
		if err == nil && isAWS != out.isAWS {
			err = configfile.Refuse(0, "Import files from Kong and files from AWS API Gateway separately.")
		}
		name := ""
		if len(files) > 1 {
			name = names.unique(fileName(file.Name), longestFileName)
		}
		if err != nil {
			return nil, configfile.In(name, err)
		}
		values += d.Values() // of which aliases can make many in a small file
		placeholders = configfile.Join(placeholders, d.Placeholders())
		switch {
		case values > filelimits.GatewayValues.Most:
			return nil, configfile.Beyond(filelimits.GatewayValues)
		case int64(len(placeholders)) > filelimits.GatewayPlaceholders.Most:
			return nil, configfile.Beyond(filelimits.GatewayPlaceholders)
		}
		d.Name = name
		out.documents = append(out.documents, d)
	}
	return out, nil
}

// DefaultName returns the name of an import of the files that has no other one.
func (f *Files) DefaultName() string {
	if f.isAWS {
		return awsName
	}
	return contract.DefaultImportName
}

func totalSize(files []File) (size int64) {
	for _, file := range files {
		size += int64(len(file.Text))
	}
	return size
}

func readFile(text []byte, isAWS bool) (*configfile.Document, error) {
	if other := Otherwise(text); other != "" {
		return nil, configfile.Refuse(0, "%s", other)
	}
	if isAWS {
		text, err := configfile.CheckText(text)
		if err != nil {
			return nil, err
		}
		d, err := configfile.Parse(text)
		if err == nil {
			awsfile.HashKeys(d, HashKey)
		}
		return d, err
	}
	d, err := kongfile.Parse(text)
	if err != nil {
		return nil, err
	}
	kongfile.HashKeys(d, HashKey)
	return d, nil
}

// longestFileName is longer than any name of a file with a number.
const longestFileName = 200

// fileName returns the name of a file for pointers and errors.
func fileName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(c rune) rune {
		if c == '#' || c == '/' || unicode.IsSpace(c) || !unicode.IsPrint(c) {
			return '-'
		}
		return c
	}, name)
	return strings.ToValidUTF8(name[:min(len(name), longestFileName/2)], "")
}

// Placeholders returns the placeholders in the order of the files.
func (f *Files) Placeholders() (all []configfile.Placeholder) {
	for _, d := range f.documents {
		all = configfile.Join(all, d.Placeholders())
	}
	return all
}

// Plan returns the plan of importing the files. set has the values of placeholders by their names. Errors:
// *configfile.Error, *OptionError and ErrTooMany.
func (f *Files) Plan(set map[string]string, o Options) (*Plan, error) {
	if f.isAWS {
		files, err := awsfile.Read(f.documents, set)
		if err != nil {
			return nil, err
		}
		return AWS(files, o)
	}
	file, err := kongfile.Files(f.documents, set)
	if err != nil {
		return nil, err
	}
	return Kong(file, o)
}

// storedFiles are Files as bytes have them.
type storedFiles struct {
	IsAWS     bool
	Documents []configfile.Stored
}

// MarshalBinary returns the files as bytes, which have all of their secrets but API keys.
func (f *Files) MarshalBinary() ([]byte, error) {
	stored := storedFiles{IsAWS: f.isAWS}
	for _, d := range f.documents {
		stored.Documents = append(stored.Documents, d.Store())
	}
	var out bytes.Buffer
	packed, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("movein: pack files: %w", err)
	}
	if err := errors.Join(gob.NewEncoder(packed).Encode(stored), packed.Close()); err != nil {
		return nil, fmt.Errorf("movein: pack files: %w", err)
	}
	return out.Bytes(), nil
}

// UnmarshalBinary reads files that MarshalBinary returned.
func (f *Files) UnmarshalBinary(text []byte) error {
	var stored storedFiles
	if err := gob.NewDecoder(flate.NewReader(bytes.NewReader(text))).Decode(&stored); err != nil {
		return fmt.Errorf("movein: unpack files: %w", err)
	}
	f.isAWS, f.documents = stored.IsAWS, nil
	for _, one := range stored.Documents {
		f.documents = append(f.documents, one.Document())
	}
	return nil
}
