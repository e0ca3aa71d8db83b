package keyfile_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"postern/core/keyfile"
	"postern/testkit/keyfiles"
)

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func read(t *testing.T, text []byte, mapping map[string]string) (rows []keyfile.Row, refused []keyfile.Refusal,
	r *keyfile.Reader, err error,
) {
	t.Helper()
	r, err = keyfile.Open(bytes.NewReader(text), keyfile.Options{Map: mapping, Now: now})
	if err != nil {
		return nil, nil, nil, err
	}
	for {
		row, wrong, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, refused, r, nil
		}
		if err != nil {
			return rows, refused, r, err
		}
		if len(wrong) > 0 {
			refused = append(refused, wrong...)
		} else {
			rows = append(rows, row)
		}
	}
}

func outcome(r keyfile.Row) keyfiles.Outcome {
	if r.State == "active" && !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(now) {
		return keyfiles.Expired
	}
	return keyfiles.Outcome(r.State)
}

func TestOpen_sources(t *testing.T) {
	t.Parallel()
	for _, file := range keyfiles.All() {
		t.Run(file.Name, func(t *testing.T) {
			t.Parallel()
			text := file.Text(t)
			rows, refused, r, err := read(t, text, file.Map)
			if file.Code != "" {
				checkError(t, err, file.Code)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Source() != file.Source {
				t.Fatalf("read as %s, want %s", r.Source(), file.Source)
			}
			total := 0
			for _, key := range file.Keys {
				if key.Outcome == keyfiles.Refused {
					checkRefused(t, refused, key)
					continue
				}
				total++
				checkTaken(t, rows, key)
			}
			if len(rows) != total {
				t.Errorf("%d rows, want %d", len(rows), total)
			}
			for _, wrong := range refused {
				checkHidden(t, file, wrong.Pointer+" "+wrong.Detail)
			}
			for _, note := range r.Notes() {
				if note.Detail == "" || note.Rows == 0 || note.First == 0 {
					t.Errorf("the note %s is %+v", note.Code, note)
				}
			}
		})
	}
}

func checkError(t *testing.T, err error, code string) *keyfile.Error {
	t.Helper()
	var refused *keyfile.Error
	if !errors.As(err, &refused) {
		t.Fatalf("the error is %v, want %s", err, code)
	}
	if refused.Code != code {
		t.Errorf("the error is %s: %s, want %s", refused.Code, refused.Detail, code)
	}
	return refused
}

func checkTaken(t *testing.T, rows []keyfile.Row, key keyfiles.Key) {
	t.Helper()
	for _, row := range rows {
		if row.Number != key.Row || row.Part != key.Part {
			continue
		}
		if row.SHA256 != sha256.Sum256([]byte(key.Plaintext)) {
			t.Errorf("row %d has another key than %s", key.Row, key.Plaintext)
		}
		if got := outcome(row); got != key.Outcome {
			t.Errorf("row %d is %s until %s, want %s", key.Row, row.State, row.ExpiresAt, key.Outcome)
		}
		if key.Owner != "" && row.Owner != key.Owner || row.Owner == "" {
			t.Errorf("row %d is of %q, want %q", key.Row, row.Owner, key.Owner)
		}
		return
	}
	t.Errorf("row %d.%d was not taken", key.Row, key.Part)
}

func checkRefused(t *testing.T, refused []keyfile.Refusal, key keyfiles.Key) {
	t.Helper()
	for _, wrong := range refused {
		if wrong.Row == key.Row && wrong.Code == key.Code {
			if len(wrong.Detail) < 30 {
				t.Errorf("row %d is refused without a fix: %s", key.Row, wrong.Detail)
			}
			return
		}
	}
	t.Errorf("row %d was not refused with %s: %+v", key.Row, key.Code, refused)
}

// checkHidden checks that a text has no more than four characters of any key.
func checkHidden(t *testing.T, file keyfiles.File, text string) {
	t.Helper()
	for _, key := range file.Keys {
		for i := 0; i+5 <= len(key.Plaintext); i++ {
			if strings.Contains(text, key.Plaintext[i:i+5]) {
				t.Errorf("%q has a part of %s", text, key.Plaintext)
				return
			}
		}
	}
}
