package secrets_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"postern/platform/secrets"
)

const canary = "canary-4f1c"

var place = secrets.Place{
	Table:   "providers",
	Row:     "idp_1",
	Column:  "client_secret",
	Purpose: secrets.ForControl,
}

func TestGiven(t *testing.T) {
	for _, tt := range [][2]string{{"a", "a"}, {"a\n", "a"}, {"\r\n a b\t ", "a b"}, {"\n", ""}} {
		text, want := tt[0], tt[1]
		if got := secrets.Given(text).Reveal(); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestSecret_hidden(t *testing.T) {
	s := secrets.Secret(canary)
	holder := struct{ Password secrets.Secret }{s}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "holder", holder)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s, "holder", holder)
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%c"} {
		fmt.Fprintf(&log, verb+verb, s, holder)
	}
	if shown := log.String() + string(encoded) + errors.New(s.String()).Error(); strings.Contains(shown, canary) ||
		strings.Contains(shown, fmt.Sprintf("%x", canary)) {
		t.Errorf("the secret is shown: %s", shown)
	}
	if string(encoded) != `{"Password":"***"}` {
		t.Errorf("as JSON it is %s", encoded)
	}
	if _, err := s.Value(); err == nil {
		t.Error("a database takes the secret as it is")
	}
	if s.Reveal() != canary {
		t.Error("the value is lost")
	}
}

func TestSealed_place(t *testing.T) {
	vault, store := newVault(t, newKey(1)), &memory{}
	sealed, err := vault.Seal(store, "team_1", place, canary)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte(canary)) {
		t.Fatal("it is not sealed")
	}
	if got, err := vault.Open(store, place, sealed); err != nil || got != canary {
		t.Errorf("opens as %q, %v", got.Reveal(), err)
	}
	for _, other := range []secrets.Place{
		{Table: "accounts", Row: "idp_1", Column: "client_secret"},
		{Table: "providers", Row: "idp_2", Column: "client_secret"},
		{Table: "providers", Row: "idp_1", Column: "other"},
		{Table: "providersidp_1", Row: "", Column: "client_secret"},
	} {
		if got, err := vault.Open(store, other, sealed); err == nil {
			t.Errorf("opens at %+v as %q", other, got.Reveal())
		}
	}
	for i := range sealed {
		broken := bytes.Clone(sealed)
		broken[i] ^= 1
		if _, err := vault.Open(store, place, broken); err == nil {
			t.Errorf("opens with byte %d changed", i)
		}
		if _, err := vault.Open(store, place, sealed[:i]); err == nil {
			t.Errorf("opens when cut off after %d bytes", i)
		}
	}
}

func TestDataKey_perTeam(t *testing.T) {
	vault, store := newVault(t, newKey(1)), &memory{}
	for _, team := range []string{"team_1", "team_2", "team_1"} {
		if _, err := vault.Seal(store, team, place, canary); err != nil {
			t.Fatal(err)
		}
	}
	if len(store.keys) != 2 {
		t.Errorf("two teams have %d data keys", len(store.keys))
	}
}

// The three steps in which a key-encryption key is replaced.
func TestKey_rotation(t *testing.T) {
	older, newer := newKey(1), newKey(2)
	store := &memory{}
	sealed, err := newVault(t, older).Seal(store, "team_1", place, canary)
	if err != nil {
		t.Fatal(err)
	}
	both := newVault(t, newer+","+older)
	if got, err := both.Open(store, place, sealed); err != nil || got != canary {
		t.Fatalf("with both keys it opens as %q, %v", got.Reveal(), err)
	}
	if _, err := newVault(t, newer).Open(store, place, sealed); err == nil {
		t.Error("opens with a key that has not wrapped anything")
	}
	if store.keys[0], err = both.Rewrap(store.keys[0]); err != nil {
		t.Fatal(err)
	}
	if got, err := newVault(t, newer).Open(store, place, sealed); err != nil || got != canary {
		t.Errorf("with the new key alone it opens as %q, %v", got.Reveal(), err)
	}
	// A replica that has not been restarted since has the new key as its second.
	if _, err := newVault(t, older+" "+newer).Open(store, place, sealed); err != nil {
		t.Error(err)
	}
	if _, err := newVault(t, older).Open(store, place, sealed); err == nil {
		t.Error("the old key opens what was rewrapped")
	}
}

func TestKey_invalid(t *testing.T) {
	tooShort := base64.StdEncoding.EncodeToString([]byte("too short"))
	for _, keys := range []string{"", " , ", "not base64!", tooShort, newKey(1) + "," + newKey(1)} {
		_, err := secrets.NewVault(secrets.Secret(keys))
		if err == nil {
			t.Errorf("%q is accepted", keys)
		} else if trimmed := strings.Trim(keys, " ,"); trimmed != "" && strings.Contains(err.Error(), trimmed) {
			t.Errorf("the error repeats the key: %v", err)
		}
	}
}

func TestKeyFile_created(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets.key")
	got := make([]secrets.Secret, 16)
	var group sync.WaitGroup
	for i := range got {
		group.Go(func() {
			var err error
			if got[i], err = secrets.KeyFile(path); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, key := range got {
		if key == "" || key != got[0] {
			t.Fatal("concurrent calls got different keys")
		}
	}
	newVault(t, got[0].Reveal())
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(path + ".*"); err != nil || len(left) > 0 {
		t.Errorf("drafts are left: %v, %v", left, err)
	}
}

func newKey(fill byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, secrets.KeySize))
}

func newVault(t *testing.T, keys string) *secrets.Vault {
	t.Helper()
	vault, err := secrets.NewVault(secrets.Secret(keys))
	if err != nil {
		t.Fatal(err)
	}
	return vault
}

// memory is a Store without a database.
type memory struct{ keys []secrets.DataKey }

func (m *memory) DataKeyOfTeam(team string, purpose secrets.Purpose) (secrets.DataKey, bool, error) {
	for _, key := range m.keys {
		if key.Team == team && key.Purpose() == purpose {
			return key, true, nil
		}
	}
	return secrets.DataKey{}, false, nil
}

func (m *memory) DataKeyByID(id string) (secrets.DataKey, error) {
	for _, key := range m.keys {
		if key.ID == id {
			return key, nil
		}
	}
	return secrets.DataKey{}, errors.New("no such key")
}

func (m *memory) AddDataKey(
	team string, purpose secrets.Purpose, wrap func(secrets.DataKey) (secrets.DataKey, error),
) (secrets.DataKey, error) {
	key, err := wrap(secrets.DataKey{ID: fmt.Sprintf("%s_%d", purpose.Kind(), len(m.keys)), Team: team})
	m.keys = append(m.keys, key)
	return key, err
}

// counted is a store that counts the reads of data keys.
type counted struct {
	memory
	reads int
}

func (c *counted) DataKeyByID(id string) (secrets.DataKey, error) {
	c.reads++
	return c.memory.DataKeyByID(id)
}

func TestKeptKeys_once(t *testing.T) {
	vault, store, kept := newVault(t, newKey(1)), &counted{}, &secrets.KeptKeys{}
	other := place
	other.Row = "idp_2"
	first, err := vault.Seal(store, "team_a", place, canary)
	if err != nil {
		t.Fatal(err)
	}
	second, err := vault.Seal(store, "team_a", other, "another")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Open(vault, &memory{}, place, first); err == nil {
		t.Error("it opens without its data key")
	}
	for range 3 {
		if got, err := kept.Open(vault, store, place, first); err != nil || got.Reveal() != canary {
			t.Fatalf("got %v, %v", got, err)
		}
	}
	if got, err := kept.Open(vault, store, other, second); err != nil || got.Reveal() != "another" {
		t.Errorf("got %v, %v", got, err)
	}
	if store.reads != 1 {
		t.Errorf("%d reads of the data key, want 1", store.reads)
	}
	for name, sealed := range map[string]secrets.Sealed{
		"at another place": first,
		"cut off":          second[:len(second)-1],
		"empty":            nil,
		"only a length":    {9},
	} {
		if got, err := kept.Open(vault, store, other, sealed); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: opens as %v, or shows it: %v", name, got, err)
		}
	}
}
