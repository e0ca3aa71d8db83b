package login

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"postern/models"
	"postern/platform/secrets"
)

// The kinds of login_grants.
const (
	kindCode    = "code"
	kindRefresh = "refresh"
)

func codePlace(random string) secrets.Place {
	return secrets.Place{
		Table:   "login_grants",
		Row:     random,
		Column:  "handed",
		Purpose: secrets.ForControl,
	}
}

// newCode returns an authorization code: random bits and, behind a dot, the provider's
// tokens sealed to these bits. The row has the hash of the whole.
func (s *Service) newCode(tx *models.Tx, team, session string, tokens *handed) (string, error) {
	code := secrets.Random()
	if tokens == nil {
		return code, nil
	}
	plain, err := json.Marshal(tokens)
	if err != nil {
		return "", err
	}
	sealed, err := s.Vault.Seal(tx, team, codePlace(session+code), secrets.Secret(plain))
	if err != nil {
		return "", err
	}
	return code + "." + base64.RawURLEncoding.EncodeToString(sealed), nil
}

// handedBy decrypts the tokens that a code carries, nil for none.
func (s *Service) handedBy(tx *models.Tx, session, code string) (*handed, error) {
	random, text, ok := strings.Cut(code, ".")
	if !ok {
		return nil, nil
	}
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	plain, err := s.Vault.Open(tx, codePlace(session+random), sealed)
	if err != nil {
		return nil, err
	}
	var tokens handed
	return &tokens, json.Unmarshal([]byte(plain.Reveal()), &tokens)
}
