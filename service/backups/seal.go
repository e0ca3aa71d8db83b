package backups

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"

	"postern/platform/secrets"
)

// MinPassphrase is the least length of a passphrase. Anyone who has an archive can try
// as many as they like.
const MinPassphrase = 12

// Seal says who can open an archive.
type Seal struct{ recipients []age.Recipient }

// SealWith returns the seal of a passphrase.
func SealWith(passphrase secrets.Secret) (Seal, error) {
	if len([]rune(passphrase.Reveal())) < MinPassphrase {
		return Seal{}, fmt.Errorf("the passphrase has fewer than %d characters: use a longer one, such as the output "+
			"of `openssl rand -base64 24`", MinPassphrase)
	}
	recipient, err := age.NewScryptRecipient(passphrase.Reveal())
	if err != nil {
		return Seal{}, err
	}
	return Seal{[]age.Recipient{recipient}}, nil
}

// SealTo returns the seal of public keys of age (age1…), each of whose private keys opens
// the archive.
func SealTo(recipients []string) (Seal, error) {
	var s Seal
	for _, text := range recipients {
		parsed, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil || len(parsed) != 1 {
			return Seal{}, fmt.Errorf("%q is not an age public key: use the output of `age-keygen -y`, which begins "+
				"with age1", text)
		}
		s.recipients = append(s.recipients, parsed...)
	}
	return s, nil
}

// Opener opens archives.
type Opener struct {
	identities []age.Identity
	passphrase bool
}

// OpenWith returns the opener of a passphrase.
func OpenWith(passphrase secrets.Secret) (Opener, error) {
	identity, err := age.NewScryptIdentity(passphrase.Reveal())
	if err != nil {
		return Opener{}, err
	}
	return Opener{identities: []age.Identity{identity}, passphrase: true}, nil
}

// OpenBy returns the opener of the private keys in a file of age-keygen.
func OpenBy(identities io.Reader) (Opener, error) {
	parsed, err := age.ParseIdentities(identities)
	if err != nil {
		// The parser's text is left out: it may quote the file.
		return Opener{}, errors.New("it doesn't contain an age private key: use the file that `age-keygen -o` wrote, " +
			"which has a line that begins with AGE-SECRET-KEY-1")
	}
	return Opener{identities: parsed}, nil
}

// explain returns the error of a header that the opener does not open.
func (o Opener) explain(err error) error {
	mismatch, ok := errors.AsType[*age.NoIdentityMatchError](err)
	if !ok {
		return fmt.Errorf("this is not a Postern backup, or its beginning is damaged: use a file that `postern "+
			"backup` wrote (%w)", err)
	}
	byPassphrase := slices.Contains(mismatch.StanzaTypes, "scrypt")
	switch {
	case o.passphrase && byPassphrase:
		return errors.New("the passphrase is wrong")
	case o.passphrase:
		return errors.New("the backup is encrypted to an age public key, not with a passphrase: use --identity with " +
			"the file of the private key")
	case byPassphrase:
		return errors.New("the backup is encrypted with a passphrase, not to an age public key: use " +
			"POSTERN_BACKUP_PASSPHRASE or --passphrase-file")
	}
	return errors.New("the private key can't decrypt this backup")
}
