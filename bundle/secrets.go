package bundle

import (
	"context"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"

	"postern/bundle/jsonfile"
	"postern/core/snapshot"
	"postern/platform/fault"
)

// The files of an export with secrets: in plaintext, or encrypted to a recipient.
const (
	secretsFile = "secrets.json"
	sealedFile  = "secrets.json.age"
)

// secretsDoc has the secrets that other systems issued to the team: of identity providers, token endpoints and
// upstreams. Keys, passwords and the secrets of app clients are kept only as hashes, as in the hosted service.
type secretsDoc struct {
	Secrets []secretDoc `json:"secrets"`
}

type secretDoc struct {
	Item  string `json:"item"` // of the ledger
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ParseRecipient parses an X25519 age public key (age1…).
func ParseRecipient(text string) (age.Recipient, error) {
	recipient, err := age.ParseX25519Recipient(text)
	if err != nil {
		return nil, fault.InvalidField("/recipient", "invalid_recipient",
			"Use an age public key as printed by age-keygen: age1 followed by 58 letters and digits.")
	}
	return recipient, nil
}

// SecretItems lists the project's ledger items whose secret can be exported, in the order of the ledger.
func (b *Build) SecretItems() []Subject {
	var out []Subject
	for _, s := range b.fixedSubjects() {
		if s.hasSecret() {
			out = append(out, s)
		}
	}
	return out
}

// hasSecret reports whether another system gave the team a secret for the subject.
func (s Subject) hasSecret() bool {
	switch s.Feature {
	case snapshot.FeatureUpstreamHeader, snapshot.FeatureUpstreamCert, snapshot.FeatureCallSigning:
		return true
	case snapshot.FeatureIntrospection:
		return s.Version.Access.Introspection().HasSecret
	case snapshot.FeatureProvider:
		return s.Provider.Settings != nil && s.Provider.Settings.HasSecret
	}
	return false
}

// ItemID returns the id of the subject's item in the ledger.
func (s Subject) ItemID() string { return string(s.Feature) + ":" + s.ID }

// secrets returns the file of secrets; none if the options leave them out.
func (b *Build) secrets() []Part {
	switch {
	case !b.Options.Secrets:
		return nil
	case b.Options.Recipient == "":
		return []Part{{Name: secretsFile, Doc: secretsFileDoc, Write: func(_ context.Context, w io.Writer) error {
			return b.writeSecrets(w)
		}}}
	}
	return []Part{{Name: sealedFile, Doc: sealedFileDoc, Random: true,
		Write: func(_ context.Context, w io.Writer) error {
			recipient, err := ParseRecipient(b.Options.Recipient)
			if err != nil {
				return err
			}
			sealed, err := age.Encrypt(w, recipient)
			if err != nil {
				return fmt.Errorf("bundle: encrypt secrets: %w", err)
			}
			if err := b.writeSecrets(sealed); err != nil {
				return err
			}
			return sealed.Close()
		}}}
}

func (b *Build) writeSecrets(w io.Writer) error {
	doc := secretsDoc{Secrets: []secretDoc{}}
	for _, s := range b.SecretItems() {
		value, err := b.secret(s.ItemID())
		if err != nil {
			return fmt.Errorf("bundle: the secret of %s: %w", s.ItemID(), err)
		}
		doc.Secrets = append(doc.Secrets, secretDoc{s.ItemID(), s.Name, value})
	}
	return jsonfile.Write(w, doc)
}

// HasSecret reports whether this export contains the secret of a subject.
func (b *Build) HasSecret(s Subject) bool { return b.Options.Secrets && s.hasSecret() }

// readSecrets returns the secret of an item in secrets.json. A sealed file can't be read.
func (v *verifier) readSecrets() (func(item string) (string, error), error) {
	none := func(item string) (string, error) {
		return "", problem(secretsFile, "it doesn't contain the secret of %s", item)
	}
	if _, have := v.files[sealedFile]; have {
		return none, v.checkSealed()
	}
	if _, have := v.files[secretsFile]; !have {
		return none, nil
	}
	doc, err := decodeWhole[secretsDoc](v, secretsFile)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, one := range doc.Secrets {
		values[one.Item] = one.Value
	}
	return func(item string) (string, error) {
		if value, have := values[item]; have {
			return value, nil
		}
		return none(item)
	}, nil
}

// checkSealed checks that the sealed file is one of age, and not plaintext with its name.
func (v *verifier) checkSealed() error {
	text, err := v.read(sealedFile)
	if err != nil {
		return err
	}
	if _, err := age.ExtractHeader(strings.NewReader(string(text))); err != nil {
		return problem(sealedFile, "it isn't encrypted with age")
	}
	return nil
}
