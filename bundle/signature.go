package bundle

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

const signatureFile = "SHA256SUMS.sig"

// signaturePart signs the sums, and with them every other file. Ed25519 signatures are deterministic, so two exports of
// the same state are equal.
func signaturePart(a *archive, sign func([]byte) ([]byte, error)) Part {
	return Part{Name: signatureFile, Doc: signatureDoc, Write: func(_ context.Context, w io.Writer) error {
		signature, err := sign([]byte(a.sums()))
		if err != nil {
			return fmt.Errorf("sign %s: %w", sumsFile, err)
		}
		_, err = io.WriteString(w, base64.StdEncoding.EncodeToString(signature)+"\n")
		return err
	}}
}

// signature checks the signature against the public keys of an installation. Without
// keys it only checks that a signature, if there is one, is well-formed.
func (v *verifier) signature(by []ed25519.PublicKey) error {
	if _, have := v.files[signatureFile]; !have {
		if len(by) > 0 {
			return problem(signatureFile, "it is missing: this export wasn't signed, or its signature was removed")
		}
		return nil
	}
	text, err := v.read(signatureFile)
	if err != nil {
		return err
	}
	line, ended := strings.CutSuffix(string(text), "\n")
	signature, err := base64.StdEncoding.Strict().DecodeString(line)
	if err != nil || !ended || len(signature) != ed25519.SignatureSize || strings.ContainsAny(line, "\r\n") {
		return problem(signatureFile, "it isn't an Ed25519 signature in base64")
	}
	sums, err := v.read(sumsFile)
	if err != nil {
		return err
	}
	for _, key := range by {
		if ed25519.Verify(key, sums, signature) {
			return nil
		}
	}
	if len(by) > 0 {
		return problem(signatureFile, "it wasn't created with the given key: another installation created or changed "+
			"this export")
	}
	return nil
}
