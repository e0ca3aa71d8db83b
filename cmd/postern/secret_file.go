package main

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"postern/core/contract"
)

// maxSecretFile bounds what is read as a secret, in bytes.
const maxSecretFile = 16 << 10

// readSecret reads a file, or standard input for "-", without the trailing newline.
func readSecret(t terminal, path string) (string, error) {
	in := t.in
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("read the secret: %w", err)
		}
		defer file.Close()
		in = file
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxSecretFile))
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" {
		return "", usageError("the secret is empty")
	}
	return secret, nil
}

// secretFlag sets a secret of a request to what a file has, because every user of a machine can read command lines.
type secretFlag struct {
	t    terminal
	into reflect.Value // a *contract.Secret
}

// String implements pflag.Value.
func (f *secretFlag) String() string { return "" }

// Type implements pflag.Value.
func (f *secretFlag) Type() string { return fileForm }

// Set implements pflag.Value.
func (f *secretFlag) Set(path string) error {
	secret, err := readSecret(f.t, path)
	if err == nil {
		f.into.Set(reflect.ValueOf(new(contract.Secret(secret))))
	}
	return err
}
