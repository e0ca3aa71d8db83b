package backups

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"testing"

	"filippo.io/age"
)

// An archive of a later program is refused before its database is unpacked, whatever comes
// after the manifest.
func TestRead_newerFormat(t *testing.T) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	sealed, err := age.Encrypt(&out, identity.Recipient())
	if err != nil {
		t.Fatal(err)
	}
	packed := gzip.NewWriter(sealed)
	archive := tar.NewWriter(packed)
	described := fmt.Appendf(nil, `{"format": %d, "generator": "postern v9.0.0"}`, Format+1)
	if err := archive.WriteHeader(entry(manifestFile, int64(len(described)), Manifest{})); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write(described); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(archive.Close(), packed.Close(), sealed.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = Read(t.Context(), &out, Opener{identities: []age.Identity{identity}}, io.Discard)
	newer, ok := errors.AsType[*NewerFormatError](err)
	if !ok || newer.Manifest.Generator != "postern v9.0.0" {
		t.Errorf("got %v, want a NewerFormatError that names the program", err)
	}
}
