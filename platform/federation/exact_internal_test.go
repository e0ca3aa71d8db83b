package federation

import (
	"errors"
	"testing"

	"postern/platform/exactjson"
)

// Names of claims are compared byte by byte, and a repeated one is refused.
func TestClaims_names(t *testing.T) {
	tests := map[string]struct {
		payload  string
		subject  string // "": refused
		nonce    string
		verified bool
	}{
		"plain":             {`{"sub":"1","nonce":"n","email":"a@b.c","email_verified":true}`, "1", "n", true},
		"another sub":       {`{"sub":"1","Sub":"victim"}`, "1", "", false},
		"another sub first": {`{"SUB":"victim","sub":"1"}`, "1", "", false},
		"a long s":          {`{"sub":"1","\u017fub":"victim"}`, "1", "", false},
		"another nonce":     {`{"sub":"1","nonce":"wrong","NONCE":"n"}`, "1", "wrong", false},
		"another email_verified": {
			`{"sub":"1","email":"a@b.c","email_verified":false,"EMAIL_VERIFIED":true}`, "1", "", false,
		},
		"a repeated sub":         {`{"sub":"1","sub":"victim"}`, "", "", false},
		"a repeated name inside": {`{"sub":"1","realm":{"roles":[],"roles":["admin"]}}`, "", "", false},
		"a name that isn't text": {`{"sub":"1","name":{"first":"Ana"},"preferred_username":7}`, "1", "", false},
		"a sub that isn't text":  {`{"sub":1}`, "", "", false},
	}
	for name, tt := range tests {
		var got protocolClaims
		err := exactjson.Unmarshal([]byte(tt.payload), &got)
		if (err != nil) != (tt.subject == "") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err == nil && (got.Subject != tt.subject || got.Nonce != tt.nonce || got.emailVerified() != tt.verified) {
			t.Errorf("%s: read as sub %q, nonce %q, verified %t", name, got.Subject, got.Nonce, got.emailVerified())
		}
	}
}

// The structs that go-oidc and oauth2 decode have no name that encoding/json could mistake for another.
func TestExactObject(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"plain":              {`{"access_token":"a","expires_in":3600}`, `{"access_token":"a","expires_in":3600}`},
		"other cases":        {`{"issuer":"a","Issuer":"b","JWKS_URI":"c","token_\u212Aey":"d"}`, `{"issuer":"a"}`},
		"a fraction":         {`{"expires_in":3600.5}`, `{"expires_in":3600}`},
		"as text":            {`{"expires_in":"3600"}`, `{"expires_in":3600}`},
		"no number":          {`{"expires_in":"soon"}`, `{}`},
		"a repeated name":    {`{"access_token":"a","access_token":"b"}`, ""},
		"what is not a JSON": {`{"access_token":`, ""},
	}
	for name, tt := range tests {
		got, err := exactObject([]byte(tt.in))
		if string(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, tt.want)
		}
		if _, refused := errors.AsType[AnswerError](err); refused != (tt.want == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
