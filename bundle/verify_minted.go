package bundle

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"

	"postern/core/filelimits"
	"postern/core/policy"
)

// mintedCheck reads a tenant's minted.csv in parallel with the key rows, which are in the same order, and compares each
// new key with the sum in its row. It is nil if the file doesn't exist.
type mintedCheck struct {
	name   string
	file   io.Closer
	ration *ration
	rows   *csv.Reader
}

// openMinted opens the file of new keys for keysFile. It returns nil if there are none.
func (v *verifier) openMinted(keysFile string) (*mintedCheck, error) {
	name := mintedBeside(keysFile)
	if _, have := v.files[name]; !have {
		return nil, nil
	}
	file, err := v.open(name)
	if err != nil {
		return nil, err
	}
	m := &mintedCheck{name: name, file: file, ration: &ration{from: file}}
	m.rows = csv.NewReader(m.ration)
	m.rows.ReuseRecord = true
	if head, err := m.read(); err != nil || strings.Join(head, ",") != mintedHead {
		file.Close()
		return nil, problem(name, "it doesn't begin with %s", mintedHead)
	}
	return m, nil
}

func mintedBeside(keysFile string) string {
	return strings.TrimSuffix(keysFile, "keys.jsonl") + "minted.csv"
}

func (m *mintedCheck) read() ([]string, error) {
	m.ration.left = int(filelimits.ZipRow.Most)
	return m.rows.Read()
}

// next compares the next new key with its row.
func (m *mintedCheck) next(keysFile string, row keyDoc) error {
	if m == nil {
		return problem(mintedBeside(keysFile), "it is missing, even though %s has a new key", row.ID)
	}
	record, err := m.read()
	switch {
	case errors.Is(err, io.EOF):
		return problem(m.name, "it doesn't contain a key for %s", row.ID)
	case err != nil:
		return problem(m.name, "it doesn't have the expected format: %s", err)
	case record[0] != row.ID:
		return problem(m.name, "it has %q instead of %s", record[0], row.ID)
	case record[1] != disarmed(row.Owner), record[2] != disarmed(valueOf(row.Environment)),
		record[3] != disarmed(row.Description):
		return problem(m.name, "the owner, environment or description of %s differs from %s",
			row.ID, keysFile)
	case record[len(record)-2] != valueOf(optionalTime(timeOrZero(row.ExpiresAt))):
		return problem(m.name, "the expiration time of %s differs from %s", row.ID, keysFile)
	case hexSum(policy.HashKey(record[len(record)-1])) != *row.MintedSHA256:
		return problem(m.name, "the SHA-256 of the new key for %s differs from %s", row.ID, keysFile)
	}
	return nil
}

// disarmed returns the value that a CSV reader parses from its cell. CSV readers convert
// CRLF to LF.
func disarmed(value string) string { return strings.ReplaceAll(disarm(value), "\r\n", "\n") }

func valueOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// end checks that no record is left.
func (m *mintedCheck) end() error {
	if m == nil {
		return nil
	}
	if _, err := m.read(); !errors.Is(err, io.EOF) {
		return problem(m.name, "it has more keys than there are rows")
	}
	return nil
}

func (m *mintedCheck) close() {
	if m != nil {
		m.file.Close()
	}
}

// ration limits the memory that a reader of CSV or JSON uses for one row.
type ration struct {
	from io.Reader
	left int // bytes
}

func (r *ration) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errors.New(filelimits.ZipRow.Refusal())
	}
	n, err := r.from.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}
