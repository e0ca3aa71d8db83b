package secrets_test

import (
	"bytes"
	"io"
	"testing"

	"postern/platform/secrets"
)

var streamPlace = secrets.Place{Table: "files", Row: "state", Purpose: secrets.ForControl}

func sealed(t *testing.T, vault *secrets.Vault, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := vault.SealStream(&out, streamPlace)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func opened(vault *secrets.Vault, at secrets.Place, stream []byte) ([]byte, error) {
	r, err := vault.OpenStream(bytes.NewReader(stream), at)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func TestSealStream(t *testing.T) {
	vault := newVault(t, newKey(1))
	content := bytes.Repeat([]byte(canary), 400_000) // several segments of 1 MiB
	stream := sealed(t, vault, content)
	if bytes.Contains(stream, []byte(canary)) {
		t.Fatal("the content can be read")
	}
	got, err := opened(vault, streamPlace, stream)
	if err != nil || !bytes.Equal(got, content) {
		t.Fatalf("%d bytes come back, %v", len(got), err)
	}
	if _, err := opened(newVault(t, newKey(2)+","+newKey(1)), streamPlace, stream); err != nil {
		t.Errorf("after the key was replaced: %v", err)
	}

	flipped := func(at int) []byte {
		out := bytes.Clone(stream)
		out[at] ^= 1
		return out
	}
	for name, tc := range map[string]struct {
		vault  *secrets.Vault
		at     secrets.Place
		stream []byte
	}{
		"another key":                {newVault(t, newKey(2)), streamPlace, stream},
		"another place":              {vault, secrets.Place{Table: "files", Row: "other"}, stream},
		"a byte of the key changed":  {vault, streamPlace, flipped(40)},
		"a byte of the text changed": {vault, streamPlace, flipped(len(stream) / 2)},
		"cut off in a segment":       {vault, streamPlace, stream[:len(stream)-100]},
		"cut off between segments":   {vault, streamPlace, stream[:2<<20]},
		"cut off in the key":         {vault, streamPlace, stream[:20]},
		"empty":                      {vault, streamPlace, nil},
		"no sealed stream":           {vault, streamPlace, bytes.Repeat([]byte{0xff}, 1000)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := opened(tc.vault, tc.at, tc.stream); err == nil {
				t.Error("it is read")
			}
		})
	}
}
