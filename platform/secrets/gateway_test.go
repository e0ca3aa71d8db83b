package secrets_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"postern/platform/secrets"
)

var gatewayPlace = secrets.Place{
	Table:   "upstream_headers",
	Row:     "env_1",
	Column:  "X-Key",
	Purpose: secrets.ForGateways,
}

// Gateways store the derived key: another salt or info would lock them out. The expected key is HMAC-SHA-256, applied
// twice as RFC 5869 says.
func TestGatewayKeys(t *testing.T) {
	got, err := secrets.GatewayKeys(secrets.Secret(newKey(1) + ", " + newKey(2)))
	if err != nil {
		t.Fatal(err)
	}
	const want = "gateway:9ShSNs+wsFiUtLs8Gn+/hxjSjh/peBux7hYKV7nBtzg=,gateway:"
	if !strings.HasPrefix(got.Reveal(), want) || strings.Contains(got.Reveal(), newKey(2)) {
		t.Errorf("got %s", got.Reveal())
	}
	if again, err := secrets.GatewayKeys(got); err != nil || again != got {
		t.Errorf("those of gateway keys are %s, %v", again.Reveal(), err)
	}
}

// A gateway opens what is sealed for gateways, nothing else, and cannot seal for others.
func TestVault_gateway(t *testing.T) {
	whole, gateway, store := newVault(t, newKey(1)), gatewayVault(t, newKey(1)), &memory{}
	if whole.OnlyGateways() || !gateway.OnlyGateways() {
		t.Error("OnlyGateways is wrong")
	}
	forGateways, err := whole.Seal(store, "team_1", gatewayPlace, canary)
	if err != nil {
		t.Fatal(err)
	}
	forControl, err := whole.Seal(store, "team_1", place, canary)
	if err != nil {
		t.Fatal(err)
	}
	for _, vault := range []*secrets.Vault{whole, gateway} {
		if got, err := vault.Open(store, gatewayPlace, forGateways); err != nil || got != canary {
			t.Errorf("what is sealed for gateways opens as %q, %v", got.Reveal(), err)
		}
	}
	if got, err := whole.Open(store, place, forControl); err != nil || got != canary {
		t.Errorf("opens as %q, %v", got.Reveal(), err)
	}
	if got, err := gateway.Open(store, place, forControl); !errors.Is(err, secrets.ErrOnlyGateways) {
		t.Errorf("a gateway opens %q, %v", got.Reveal(), err)
	}
	for _, at := range []secrets.Place{place, gatewayPlace} {
		if _, err := gateway.Seal(store, "team_2", at, canary); !errors.Is(err, secrets.ErrOnlyGateways) {
			t.Errorf("a gateway creates a data key: %v", err)
		}
	}
	if _, err := gateway.Seal(store, "team_1", place, canary); !errors.Is(err, secrets.ErrOnlyGateways) {
		t.Errorf("a gateway seals for the control plane: %v", err)
	}
	undecided := secrets.Place{Table: "t", Row: "1", Column: "c"}
	if _, err := whole.Seal(store, "team_1", undecided, canary); err == nil {
		t.Error("a value without a purpose is sealed")
	}
}

// The wrapped form for the control plane is of no use to a gateway, wherever it is put.
func TestGatewayVault_swappedForms(t *testing.T) {
	whole, gateway, store := newVault(t, newKey(1)), gatewayVault(t, newKey(1)), &memory{}
	sealed, err := whole.Seal(store, "team_1", place, canary)
	if err != nil {
		t.Fatal(err)
	}
	store.keys[0].GatewayWrapped = store.keys[0].Wrapped
	if got, err := gateway.Open(store, place, sealed); err == nil {
		t.Errorf("opens as %q", got.Reveal())
	}
}

// Values that gateways need and values that they don't need are sealed with two data keys.
func TestSeal_dataKeys(t *testing.T) {
	store := &memory{}
	for _, at := range []secrets.Place{gatewayPlace, place, gatewayPlace} {
		if _, err := newVault(t, newKey(1)).Seal(store, "team_1", at, canary); err != nil {
			t.Fatal(err)
		}
	}
	if len(store.keys) != 2 || store.keys[0].Purpose() != secrets.ForGateways ||
		store.keys[1].Purpose() != secrets.ForControl {
		t.Fatalf("the data keys are %+v", store.keys)
	}
	if len(store.keys[0].GatewayWrapped) == 0 || len(store.keys[1].GatewayWrapped) > 0 {
		t.Error("the gateway key wraps the wrong data key")
	}
}

func TestGatewayKey_rotation(t *testing.T) {
	older, newer := newKey(1), newKey(2)
	store := &memory{}
	if _, err := newVault(t, older).Seal(store, "team_1", place, canary); err != nil {
		t.Fatal(err)
	}
	sealed, err := newVault(t, older).Seal(store, "team_1", gatewayPlace, canary)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gatewayVault(t, newer).Open(store, gatewayPlace, sealed); err == nil {
		t.Error("opens with a key that has not wrapped anything")
	}
	for i := range store.keys {
		if store.keys[i], err = newVault(t, newer+","+older).Rewrap(store.keys[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, keys := range []string{newer, older + "," + newer} {
		if got, err := gatewayVault(t, keys).Open(store, gatewayPlace, sealed); err != nil || got != canary {
			t.Errorf("opens as %q, %v", got.Reveal(), err)
		}
	}
	if _, err := gatewayVault(t, older).Open(store, gatewayPlace, sealed); err == nil {
		t.Error("the old key opens what was rewrapped")
	}
	if len(store.keys[0].GatewayWrapped) > 0 {
		t.Error("rewrapping gives gateways a data key")
	}
}

func TestMark_gatewayKey(t *testing.T) {
	whole, gateway := newVault(t, newKey(1)), gatewayVault(t, newKey(1))
	mark, err := whole.Mark()
	if err != nil {
		t.Fatal(err)
	}
	if mark, err = whole.Rewrap(mark); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(gateway.Check(mark), whole.Check(mark)); err != nil {
		t.Error(err)
	}
	if err := gatewayVault(t, newKey(2)).Check(mark); err == nil || errors.Is(err, secrets.ErrOnlyGateways) {
		t.Errorf("with another gateway key: %v", err)
	}
}

func TestNewVault_gatewayKeys(t *testing.T) {
	gateway, err := secrets.GatewayKeys(secrets.Secret(newKey(1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, keys := range []string{
		gateway.Reveal() + "," + newKey(2),
		newKey(2) + "," + gateway.Reveal(),
		gateway.Reveal() + "," + gateway.Reveal(),
		"gateway:",
		"gateway:" + base64.StdEncoding.EncodeToString([]byte("too short")),
	} {
		_, err := secrets.NewVault(secrets.Secret(keys))
		if err == nil {
			t.Errorf("%q is accepted", keys)
		} else if strings.Contains(err.Error(), keys) {
			t.Errorf("the error repeats the key: %v", err)
		}
	}
}

func TestSealStream_forGateways(t *testing.T) {
	whole, gateway := newVault(t, newKey(1)), gatewayVault(t, newKey(1))
	at := streamPlace
	at.Purpose = secrets.ForGateways
	controls := sealed(t, whole, []byte(canary)) // at a place of the control plane
	streamOf := func(vault *secrets.Vault) []byte {
		var out strings.Builder
		w, err := vault.SealStream(&out, at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(canary)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return []byte(out.String())
	}
	for name, tc := range map[string]struct {
		vault    *secrets.Vault
		at       secrets.Place
		stream   []byte
		readable bool
	}{
		"a gateway opens its own":                       {gateway, at, streamOf(gateway), true},
		"a gateway opens that of the whole key":         {gateway, at, streamOf(whole), true},
		"the whole key opens that of a gateway":         {whole, at, streamOf(gateway), true},
		"a gateway opens none of the control plane":     {gateway, streamPlace, controls, false},
		"one of the control plane is not for gateways":  {whole, at, controls, false},
		"the gateway key seals none of a control plane": {whole, streamPlace, streamOf(gateway), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := opened(tc.vault, tc.at, tc.stream)
			if readable := err == nil && string(got) == canary; readable != tc.readable {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	if _, err := gateway.SealStream(&strings.Builder{}, streamPlace); !errors.Is(err, secrets.ErrOnlyGateways) {
		t.Errorf("a gateway seals a stream of the control plane: %v", err)
	}
}

func gatewayVault(t *testing.T, keys string) *secrets.Vault {
	t.Helper()
	derived, err := secrets.GatewayKeys(secrets.Secret(keys))
	if err != nil {
		t.Fatal(err)
	}
	return newVault(t, derived.Reveal())
}
