package secrets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/streamingaead"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// SealStream returns a writer that encrypts to w; OpenStream decrypts for the same
// place. Close completes the stream and leaves w open. Each stream begins with its own
// data key, wrapped, so that opening it needs the vault and no store. A place for gateways
// is opened with a gateway key as well.
func (v *Vault) SealStream(w io.Writer, at Place) (io.WriteCloser, error) {
	wrapping, err := v.streamWrapping(at)
	if err != nil {
		return nil, err
	}
	handle, err := keyset.NewHandle(streamingaead.AES256GCMHKDF1MBKeyTemplate())
	if err != nil {
		return nil, err
	}
	var key bytes.Buffer
	err = handle.WriteWithAssociatedData(keyset.NewBinaryWriter(&key), wrapping, at.associatedData())
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

// OpenStream returns a reader that decrypts a stream of SealStream for the same place.
// All data that it returns is authentic; only io.EOF proves that the end is not cut
// off.
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
	wrapping, err := v.streamWrapping(at)
	if err != nil {
		return nil, err
	}
	handle, err := keyset.ReadWithAssociatedData(keyset.NewBinaryReader(bytes.NewReader(key)), wrapping,
		at.associatedData())
	if err != nil {
		return nil, fmt.Errorf("secrets: unwrap the key of a stream: %w", err)
	}
	cipher, err := streamingaead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("secrets: open a stream: %w", err)
	}
	return cipher.NewDecryptingReader(r, at.associatedData())
}

// streamWrapping returns the cipher that wraps the keys of streams for a place.
func (v *Vault) streamWrapping(at Place) (tink.AEAD, error) {
	if at.Purpose == ForGateways {
		return v.gateway, nil
	}
	if v.control == nil {
		return nil, ErrOnlyGateways
	}
	return v.control, nil
}
