package contract_test

import (
	"testing"

	"postern/core/contract"
)

func TestKeyPlace_setText(t *testing.T) {
	for text, want := range map[string]contract.KeyPlace{
		"header=X-API-Key":                   {Header: "X-API-Key"},
		"header=Authorization prefix=Bearer": {Header: "Authorization", Prefix: "Bearer"},
		"header=apikey prefix=key= prefix_optional": {
			Header: "apikey", Prefix: "key=", PrefixOptional: true,
		},
		"query=api_key":      {Query: "api_key"},
		"cookie=session":     {Cookie: "session"},
		"websocket_protocol": {WebSocketProtocol: true},
	} {
		var got contract.KeyPlace
		if err := got.SetText(text); err != nil || got != want {
			t.Errorf("%q: %+v, error %v", text, got, err)
		}
		if got.String() != text {
			t.Errorf("%q is written as %q", text, got.String())
		}
	}
	for _, text := range []string{
		"", "X-API-Key", "header=", "header=a query=b", "query=a prefix=Bearer", "cookie=a prefix_optional", "header",
		"prefix=Bearer", "websocket_protocol=true",
	} {
		if err := new(contract.KeyPlace).SetText(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
