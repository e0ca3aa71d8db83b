package keys

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"io"
	"strings"

	"postern/core/contract"
	"postern/core/keyfile"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// ImportFrom is Import for a file that is read as it arrives: it sets the file's Rows and SHA256 from body. The result
// names the recognized format. If the file can't be read, the error is a fault whose cause is a *keyfile.Error.
func (s *Service) ImportFrom(
	ctx context.Context, p access.Principal, in contract.KeyImport, file ImportFile, body io.Reader,
) (contract.KeysImported, error) {
	options := keyfile.Options{Now: models.Now()}
	var err error
	if options.Map, err = ReadMapping(in.Map); err != nil {
		return contract.KeysImported{}, err
	}
	sum := sha256.New()
	whole := io.TeeReader(body, sum)
	reader, err := keyfile.Open(whole, options)
	if wrong, ok := errors.AsType[*keyfile.Error](err); ok {
		return contract.KeysImported{}, fileFault(wrong)
	}
	if err != nil {
		return contract.KeysImported{}, err
	}
	file.Rows = reader
	if file.Read != nil {
		file.Rows = watchedRows{reader, file.Read}
	}
	file.SHA256 = func() string {
		_, _ = io.Copy(io.Discard, whole) // what may follow the last row
		return hex.EncodeToString(sum.Sum(nil))
	}
	out, err := s.Import(ctx, p, in, file)
	if err != nil {
		return contract.KeysImported{}, err
	}
	out.Source = string(reader.Source())
	for _, note := range reader.Notes() {
		out.Notes = append(out.Notes, contract.KeyImportNote{
			Code: note.Code, Detail: note.Detail, Row: note.First, Rows: note.Rows,
		})
	}
	return out, nil
}

// watchedRows calls read with each row, including refused ones.
type watchedRows struct {
	Rows
	read func(keyfile.Row)
}

// Next implements Rows.
func (w watchedRows) Next() (keyfile.Row, []keyfile.Refusal, error) {
	row, refused, err := w.Rows.Next()
	if err == nil {
		w.read(row)
	}
	return row, refused, err
}

// ReadMapping parses a comma-separated list of column=field. Errors: Invalid invalid_map.
func ReadMapping(texts []string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range texts {
		pairs, err := csv.NewReader(strings.NewReader(text)).Read()
		if err != nil {
			pairs = []string{text}
		}
		for _, pair := range pairs {
			at := strings.LastIndexByte(pair, '=')
			if at <= 0 || at == len(pair)-1 {
				return nil, fault.InvalidField("/map", "invalid_map", "Use the form column=field, such as apiKey=key.")
			}
			out[pair[:at]] = pair[at+1:]
		}
	}
	return out, nil
}

// fileFault is the fault of a file that can't be read.
func fileFault(err *keyfile.Error) error {
	if err.Mapping {
		return fault.InvalidField("/map", err.Code, "%s", err.Detail).Because(err)
	}
	return fault.New(fault.Invalid, err.Code, "%s", err.Detail).Because(err)
}
