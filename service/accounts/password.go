package accounts

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"sync/atomic"

	"golang.org/x/crypto/argon2"

	"postern/platform/fault"
)

const (
	saltBytes = 16
	sumBytes  = 32
)

// PasswordCost is the cost of hashing a password with argon2id (RFC 9106, 3.1). The zero
// value stands for productionCost; only tests set another.
type PasswordCost struct {
	Passes  uint32
	Memory  uint32 // KiB
	Threads uint8
}

// productionCost is RFC 9106's second recommended option (64 MiB) with one lane.
var productionCost = PasswordCost{Passes: 3, Memory: 64 * 1024, Threads: 1}

func (c PasswordCost) orProduction() PasswordCost {
	if c == (PasswordCost{}) {
		return productionCost
	}
	return c
}

// hashing bounds how many passwords are hashed at once, and with it the memory that
// attackers can make the process use: 64 MiB each.
var hashing = make(chan struct{}, 2)

// waiting counts requests that hash a password or wait for it. With a queue longer than
// maxWaiting the last request would wait for minutes.
var waiting atomic.Int64

const maxWaiting = 20

// decoyHash is verified for unknown addresses, so that they take as long as known ones.
// Its password is unknown.
var decoyHash = productionCost.encode(make([]byte, saltBytes), make([]byte, sumBytes))

// hash returns the password's hash in the format of encode.
func (c PasswordCost) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("accounts: read random bytes: %w", err)
	}
	sum, err := c.derive(ctx, password, salt)
	if err != nil {
		return "", err
	}
	return c.encode(salt, sum), nil
}

func (c PasswordCost) derive(ctx context.Context, password string, salt []byte) ([]byte, error) {
	if waiting.Add(1) > maxWaiting {
		waiting.Add(-1)
		return nil, fault.New(fault.TooMany, "too_many_attempts", "Too many people are signing in right now. Try "+
			"again in a few seconds.")
	}
	defer waiting.Add(-1)
	select {
	case hashing <- struct{}{}:
		defer func() { <-hashing }()
	case <-ctx.Done():
		return nil, fmt.Errorf("accounts: wait to hash a password: %w", ctx.Err())
	}
	c = c.orProduction()
	return argon2.IDKey([]byte(password), salt, c.Passes, c.Memory, c.Threads, sumBytes), nil
}

// encode returns the PHC string format, so that the parameters can be raised later and old
// hashes still be recognized.
func (c PasswordCost) encode(salt, sum []byte) string {
	c = c.orProduction()
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.Memory, c.Passes, c.Threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum))
}

// verify reports whether the password has the encoded hash.
func (c PasswordCost) verify(ctx context.Context, encoded, password string) (bool, error) {
	parts := strings.Split(encoded, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, fmt.Errorf("accounts: a stored password isn't in the argon2id format")
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false, fmt.Errorf("accounts: a stored password's salt: %w", err)
	}
	want, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil {
		return false, fmt.Errorf("accounts: a stored password's hash: %w", err)
	}
	got, err := c.derive(ctx, password, salt)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}
