package secrets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/streamingaead"
)

// SealStream returns a writer that encrypts to w what OpenStream reads for the same
// place. Close completes it, and leaves w open. Each stream has a data key of its own,
// wrapped at its beginning, so that nothing but the vault is needed to read it.
func (v *Vault) SealStream(w io.Writer, at Place) (io.WriteCloser, error) {
	handle, err := keyset.NewHandle(streamingaead.AES256GCMHKDF1MBKeyTemplate())
	if err != nil {
		return nil, err
	}
	var key bytes.Buffer
	err = handle.WriteWithAssociatedData(keyset.NewBinaryWriter(&key), v.wrapping, at.associatedData())
	if err != nil {
		return nil, fmt.Errorf("secrets: wrap the key of a stream: %w", err)
	}
	if _, err := w.Write(binary.BigEndian.AppendUint32(nil, uint32(key.Len()))); err != nil {
		return nil, err
	}
	if _, err := w.Write(key.Bytes()); err != nil {
		return nil, err
	}
	cipher, err := streamingaead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("secrets: seal a stream: %w", err)
	}
	return cipher.NewEncryptingWriter(w, at.associatedData())
}

// maxStreamKey bounds the wrapped key at the beginning of a stream.
const maxStreamKey = 64 << 10

// OpenStream returns a reader of what SealStream wrote for the same place. Each piece
// that it returns is authentic; that nothing is missing at the end is certain only
// once it has returned io.EOF.
func (v *Vault) OpenStream(r io.Reader, at Place) (io.Reader, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, fmt.Errorf("secrets: open a stream: %w", err)
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxStreamKey {
		return nil, errors.New("secrets: this is not a sealed stream")
	}
	key := make([]byte, n)
	if _, err := io.ReadFull(r, key); err != nil {
		return nil, fmt.Errorf("secrets: open a stream: %w", err)
	}
	handle, err := keyset.ReadWithAssociatedData(
		keyset.NewBinaryReader(bytes.NewReader(key)),
		v.wrapping,
		at.associatedData(),
	)
	if err != nil {
		return nil, fmt.Errorf("secrets: unwrap the key of a stream: %w", err)
	}
	cipher, err := streamingaead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("secrets: open a stream: %w", err)
	}
	return cipher.NewDecryptingReader(r, at.associatedData())
}
