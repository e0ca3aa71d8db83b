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

// The parameters are RFC 9106's second recommended option (64 MiB), one lane.
const (
	argonTime    = 3
	argonMemory  = 64 * 1024 // KiB
	argonThreads = 1
	saltBytes    = 16
	sumBytes     = 32
)

// hashing bounds how many passwords are hashed at once, and with it the memory that
// attackers can make the process use: 64 MiB each.
var hashing = make(chan struct{}, 2)

// waiting counts requests that hash a password or wait for it. With a queue longer than
// maxWaiting the last request would wait for minutes.
var waiting atomic.Int64

const maxWaiting = 20

// decoyHash is verified for unknown addresses, so that they take as long as known ones.
// Its password is unknown.
var decoyHash = encode(make([]byte, saltBytes), make([]byte, sumBytes))

func hashPassword(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("accounts: no randomness: %w", err)
	}
	sum, err := derive(ctx, password, salt)
	if err != nil {
		return "", err
	}
	return encode(salt, sum), nil
}

func derive(ctx context.Context, password string, salt []byte) ([]byte, error) {
	if waiting.Add(1) > maxWaiting {
		waiting.Add(-1)
		return nil, fault.New(fault.TooMany, "too_many_attempts", "Too many people are signing in at this moment. "+
			"Try again in a few seconds.")
	}
	defer waiting.Add(-1)
	select {
	case hashing <- struct{}{}:
		defer func() { <-hashing }()
	case <-ctx.Done():
		return nil, fmt.Errorf("accounts: wait to hash a password: %w", ctx.Err())
	}
	return argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, sumBytes), nil
}

// encode returns the PHC string format, so that the parameters can be raised later and old
// hashes still be recognized.
func encode(salt, sum []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum))
}

func verifyPassword(ctx context.Context, encoded, password string) (bool, error) {
	parts := strings.Split(encoded, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, fmt.Errorf("accounts: a stored password is not in argon2id's format")
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false, fmt.Errorf("accounts: a stored password's salt: %w", err)
	}
	want, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil {
		return false, fmt.Errorf("accounts: a stored password's hash: %w", err)
	}
	got, err := derive(ctx, password, salt)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}
