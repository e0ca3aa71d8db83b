package bearer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzPlainClaims checks that what the fast parser accepts, the full parser accepts with
// the same result.
func FuzzPlainClaims(f *testing.F) {
	for _, payload := range []string{
		plainPayload,
		`{"iss":"a","iss":"b"}`, `{"iss":"a","x":1,"x":2}`, `{"iss":"\u0061"}`, `{"ISS":"a","iss":"b"}`, `{"sub":"é"}`,
		`{"exp":1.5}`, `{"exp":1e3}`, `{"exp":01}`, `{"exp":-1}`, `{"exp":""}`, `{"exp":9999999999999999}`,
		`{"exp":null}`, `{"aud":[]}`, `{"aud":["a",]}`, `{"aud":["a","b"]}`, `{"aud":{}}`, `{"scope":null}`,
		`{"x":{"iss":"a"}}`, `{"x":[1]}`, `{}`, `{"a":true,"b":false,"c":null}`, `{"a":tru}`, `{"a":1}{"a":1}`,
		`{"a":1,}`, "{\"a\"\t:\n1 }\r\n", `{"groups":"a","tenant":5}`, "", " ", `[]`, `{"a":"`,
	} {
		f.Add([]byte(payload), true)
		f.Add([]byte(payload), false)
	}
	f.Fuzz(func(t *testing.T, payload []byte, mayBeOurs bool) {
		got, ok := plainClaims(payload, mayBeOurs)
		if !ok {
			return
		}
		want, ok := allClaims(payload, mayBeOurs)
		if !ok {
			t.Fatalf("only the fast parser accepts %q", payload)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(claims{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-full +fast):\n%s", payload, diff)
		}
	})
}

const plainPayload = `{"iss":"http://127.0.0.1:8080/oauth/cli_1","sub":"usr_1","aud":["cli_1"],` +
	`"exp":1790000000,"iat":1780000000,"jti":"jti_1","client_id":"cli_1","sid":"ses_1","scope":"openid email",` +
	`"tenant":"tnt_1","groups":["staff","heads"],"groups_at":1780000001,"provider":"idp_1","upstream":"service"}`

// The fast parser must accept our own tokens.
func TestPlainClaims_ownToken(t *testing.T) {
	got, ok := plainClaims([]byte(plainPayload), true)
	if !ok {
		t.Fatal("refused")
	}
	issued, expires, grouped := 1780000000.0, 1790000000.0, 1780000001.0
	want := claims{
		Issuer:   "http://127.0.0.1:8080/oauth/cli_1",
		Subject:  "usr_1",
		Audience: oneOrMore{"cli_1"},
		Expires:  &expires,
		IssuedAt: &issued,
		Scope:    oneOrMore{"openid email"},
		own: &ownClaims{
			ID:       "jti_1",
			Session:  "ses_1",
			Client:   "cli_1",
			Tenant:   "tnt_1",
			Groups:   []string{"staff", "heads"},
			GroupsAt: &grouped,
			Provider: "idp_1",
			Carries:  "service",
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(claims{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, ok := plainClaims([]byte(strings.Replace(plainPayload, "staff", `st\u0061ff`, 1)), true); ok {
		t.Error("a string with an escape was accepted")
	}
}
