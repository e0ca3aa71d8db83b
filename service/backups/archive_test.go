package backups_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"postern/service/backups"
)

const keys = "c2VjcmV0LWtleS1vZi0zMi1ieXRlcy1pbi1iYXNlNjQ=\n"

var described = backups.Manifest{
	Generator: "postern v1.2.3",
	CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	Schema:    86,
}

// sealed returns an archive of a database of several chunks of age, the database, and the
// private key that opens the archive.
func sealed(t *testing.T) (archive, database []byte, identity *age.X25519Identity) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	database = make([]byte, 200_000)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(database) // never fails
	var out bytes.Buffer
	if err := backups.Write(t.Context(), &out, sealTo(t, identity), described, keys, file(t, database)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), database, identity
}

func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "postern.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func sealTo(t *testing.T, identity *age.X25519Identity) backups.Seal {
	t.Helper()
	seal, err := backups.SealTo([]string{identity.Recipient().String()})
	if err != nil {
		t.Fatal(err)
	}
	return seal
}

func openBy(t *testing.T, identity *age.X25519Identity) backups.Opener {
	t.Helper()
	opener, err := backups.OpenBy(strings.NewReader("# created: today\n" + identity.String() + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return opener
}

func TestRead(t *testing.T) {
	archive, database, identity := sealed(t)
	t.Run("returns what was written", func(t *testing.T) {
		var out bytes.Buffer
		content, err := backups.Read(t.Context(), bytes.NewReader(archive), openBy(t, identity), &out)
		if err != nil {
			t.Fatal(err)
		}
		want := described
		want.Format = backups.Format
		if content.Manifest != want {
			t.Errorf("got the manifest %+v, want %+v", content.Manifest, want)
		}
		if content.Keys.Reveal() != keys {
			t.Error("the keys are not those that were written")
		}
		if !bytes.Equal(out.Bytes(), database) {
			t.Error("the database is not the one that was written")
		}
	})
	t.Run("refuses every cut and every changed byte", func(t *testing.T) {
		opener := openBy(t, identity)
		refused := func(what string, at int, changed []byte) {
			if _, err := backups.Read(t.Context(), bytes.NewReader(changed), opener, io.Discard); err == nil {
				t.Errorf("an archive %s at byte %d of %d was accepted", what, at, len(archive))
			}
		}
		for at := 0; at < len(archive); at += 1 + at/7 {
			refused("cut", at, archive[:at])
			changed := bytes.Clone(archive)
			changed[at] ^= 1
			refused("changed", at, changed)
		}
		refused("cut", len(archive)-1, archive[:len(archive)-1])
		refused("continued", len(archive), append(bytes.Clone(archive), 0))
	})
	t.Run("names damage", func(t *testing.T) {
		_, err := backups.Read(t.Context(), bytes.NewReader(archive[:len(archive)/2]), openBy(t, identity), io.Discard)
		if !errors.Is(err, backups.ErrDamaged) {
			t.Errorf("got %v, want ErrDamaged", err)
		}
	})
	t.Run("a full disk is not damage", func(t *testing.T) {
		full := errors.New("no space left on device")
		_, err := backups.Read(t.Context(), bytes.NewReader(archive), openBy(t, identity), &limited{70_000, full})
		if !errors.Is(err, full) || errors.Is(err, backups.ErrDamaged) {
			t.Errorf("got %v, want the writer's error alone", err)
		}
	})
}

// limited fails after n bytes.
type limited struct {
	n   int
	err error
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.n {
		return 0, l.err
	}
	l.n -= len(p)
	return len(p), nil
}

func TestWrite_shortWrite(t *testing.T) {
	archive, database, identity := sealed(t)
	full := errors.New("no space left on device")
	path := file(t, database)
	for _, room := range []int{0, 100, len(archive) / 2, len(archive) - 1} {
		err := backups.Write(t.Context(), &limited{room, full}, sealTo(t, identity), described, keys, path)
		if !errors.Is(err, full) {
			t.Errorf("with room for %d of %d bytes: got %v, want the writer's error", room, len(archive), err)
		}
	}
}

func TestRead_identities(t *testing.T) {
	byKey, database, _ := sealed(t)
	seal, err := backups.SealWith("correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := backups.Write(t.Context(), &out, seal, described, keys, file(t, database)); err != nil {
		t.Fatal(err)
	}
	stranger, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	right, err := backups.OpenWith("correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := backups.OpenWith("wrong horse battery")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		archive []byte
		opener  backups.Opener
		says    string // "" for none
	}{
		"right passphrase":                {out.Bytes(), right, ""},
		"wrong passphrase":                {out.Bytes(), wrong, "the passphrase is wrong"},
		"passphrase for a public key":     {byKey, right, "encrypted to an age public key, not with a passphrase"},
		"private key for a passphrase":    {out.Bytes(), openBy(t, stranger), "encrypted with a passphrase, not to"},
		"private key of another key pair": {byKey, openBy(t, stranger), "the private key can't decrypt"},
		"another file":                    {[]byte("SQLite format 3\x00"), right, "not a Postern backup"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := backups.Read(t.Context(), bytes.NewReader(test.archive), test.opener, io.Discard)
			if test.says == "" && err != nil ||
				test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("got %v, want an error with %q", err, test.says)
			}
		})
	}
}

func TestSeal_tooWeak(t *testing.T) {
	if _, err := backups.SealWith("elevenchars"); err == nil {
		t.Error("a short passphrase is accepted")
	}
	for _, recipient := range []string{"", "age1x", "AGE-SECRET-KEY-1"} {
		if _, err := backups.SealTo([]string{recipient}); err == nil {
			t.Errorf("the recipient %q is accepted", recipient)
		}
	}
}
