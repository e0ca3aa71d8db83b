package federation_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"postern/platform/federation"
)

func TestClaims_authentication(t *testing.T) {
	at := time.Unix(1700000000, 0).UTC()
	tests := []struct {
		name, claims string
		want         federation.Authentication
	}{
		{"nothing", `{}`, federation.Authentication{}},
		{
			"all",
			`{"auth_time":1700000000,"acr":"urn:gold","amr":["pwd","otp"]}`,
			federation.Authentication{At: at, Context: "urn:gold", Methods: "pwd otp"},
		},
		{"a time as text", `{"auth_time":"1700000000"}`, federation.Authentication{At: at}},
		{"a time with a fraction", `{"auth_time":1700000000.9}`, federation.Authentication{At: at}},
		{"a time that is none", `{"auth_time":"yesterday"}`, federation.Authentication{}},
		{"a time of null", `{"auth_time":null,"acr":null,"amr":null}`, federation.Authentication{}},
		{"a time before 1970", `{"auth_time":-1}`, federation.Authentication{}},
		{"a time beyond any", `{"auth_time":1e300}`, federation.Authentication{}},
		{"one method", `{"amr":"pwd"}`, federation.Authentication{Methods: "pwd"}},
		{"methods of other types", `{"amr":[1,{"a":"b"},"pwd","pwd",""]}`, federation.Authentication{Methods: "pwd"}},
		{"a context that is a number", `{"acr":1}`, federation.Authentication{}},
		{"a context of two words", `{"acr":"gold silver"}`, federation.Authentication{}},
		{"a context that breaks lines", `{"acr":"a\nb","amr":["a b","a\u202eb"]}`, federation.Authentication{}},
		{"a context without end", `{"acr":"` + strings.Repeat("x", 256) + `"}`, federation.Authentication{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var claims federation.Claims
			if err := json.Unmarshal([]byte(tt.claims), &claims); err != nil {
				t.Fatal(err)
			}
			if got := claims.Authentication(); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
