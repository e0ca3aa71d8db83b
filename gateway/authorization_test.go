package gateway_test

import (
	"errors"
	"strings"
	"testing"

	"postern/gateway"
)

// seals opens sealed tokens: by the id of the token that carries one, and its sealed text.
type seals map[string]string

var errSealed = errors.New("the data key is gone")

func (s seals) Open(tokenID, sealed string) (string, error) {
	if token, ok := s[tokenID+" "+sealed]; ok {
		return token, nil
	}
	return "", errSealed
}

// A gateway that cannot open what is sealed forwards no call that needs it.
func TestIntrospection_withoutOpener(t *testing.T) {
	r := newRig(t, nil, withHosted(), func(_ *rig, o *gateway.Options) { o.Opener = nil })
	sealed := r.get("/shop/1.0.0/prod/x", noKey, "Authorization: Bearer access")
	r.wantCode("a sealed token", sealed, 503, "provider_token_unavailable")
	other := r.get("/shop/1.0.0/prod/x", noKey, "Authorization: Bearer service")
	r.wantCode("another token", other, 200, "")
}

// The token that one call's upstream got is not sent with the connection's next call.
func TestIntrospection_tokenForwarded(t *testing.T) {
	for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		r := newRig(t, nil, append([]rigOption{withHosted()}, more...)...)
		r.transcript(exchangeCase{
			bytes: request("GET", "/1.0.0/prod/a", "shop.proxy.test", "Authorization: Bearer access") +
				get("/1.0.0/prod/b", "Authorization: Basic mine"),
		})
		var got []string
		for _, call := range r.upstreamCalls() {
			got = append(got, call.header.Get("Authorization"))
		}
		if strings.Join(got, "|") != "Bearer gho_the.provider's|Basic mine|" {
			t.Errorf("%s: the upstream got %q", path, got)
		}
	}
}
