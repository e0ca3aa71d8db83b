package policy_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/policy"
)

func spellings(name string) []string {
	return []string{
		name, strings.ToLower(name), strings.ToUpper(name),
		strings.ReplaceAll(name, "-", "_"), strings.ToLower(strings.ReplaceAll(name, "-", "_")),
		strings.Replace(name, "-", "_", 1),
	}
}

func TestIsIdentityHeader_spellings(t *testing.T) {
	for _, name := range policy.IdentityHeaders() {
		for _, spelling := range spellings(name) {
			if !policy.IsIdentityHeader(spelling) {
				t.Errorf("%s is not taken for an identity header", spelling)
			}
		}
	}
	for _, name := range policy.ForwardedHeaders() {
		for _, spelling := range spellings(name) {
			if !policy.IsForwardedHeader(spelling) || policy.IsIdentityHeader(spelling) {
				t.Errorf("%s is not taken for a forwarded header alone", spelling)
			}
		}
	}
	for _, family := range policy.HeaderFamilies() {
		for _, spelling := range append(spellings(family+"Made-Up"), family, strings.ReplaceAll(family, "-", "_")) {
			if policy.IsIdentityHeader(spelling) == policy.IsForwardedHeader(spelling) {
				t.Errorf("%s is not taken for one of its family", spelling)
			}
		}
	}
	for _, spelling := range append(spellings("Transfer-Encoding"), spellings("Content-Length")...) {
		if !policy.IsFramingHeader(spelling) {
			t.Errorf("%s is not taken for framing", spelling)
		}
	}
	for _, spelling := range spellings("X-API-Key") {
		if !policy.IsKeyHeader(spelling) {
			t.Errorf("%s is not taken for the key header", spelling)
		}
	}
}

func TestIsIdentityHeader_others(t *testing.T) {
	for _, name := range []string{
		"", "X", "X-", "V", "Vib", "Authorization", "Accept-Encoding", "X-Request-Id",
		"X-Consumer", "X-Consumers-ID", "Y-Consumer-ID", "X.Consumer.ID",
		"X-Tenant", "X-Tenants-Id", "X-Project", "X-Projects-Id", "X-Credentials", "X-Anonymous",
		"X-Forwarded", "X-Forwarder-For", "X-Real-I", "X-Real-IPs",
		"Forwarde", "Forwarded-For", "Forwarding", "Content-Lengths", "Content-Type", "Transfer-Encodings",
	} {
		if policy.IsIdentityHeader(name) || policy.IsForwardedHeader(name) || policy.IsKeyHeader(name) ||
			policy.IsFramingHeader(name) {
			t.Errorf("%q is taken for one of ours", name)
		}
	}
}

// The table is shared with the tests of the exported gateway's plugin.
func TestIsIdentityHeader_table(t *testing.T) {
	table, err := os.ReadFile("testdata/headers.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		name, fate, isRow := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !isRow || strings.HasPrefix(line, "#") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			gateways := policy.IsIdentityHeader(name) || policy.IsForwardedHeader(name) || policy.IsFramingHeader(name)
			got := [2]bool{gateways, policy.IsKeyHeader(name)}
			want, known := map[string][2]bool{
				"removed":  {true, false},
				"replaced": {true, false},
				"set":      {true, false},
				"appended": {true, false},
				"key":      {false, true},
				"kept":     {false, false},
			}[fate]
			if !known || got != want {
				t.Errorf("%s: for gateways alone, a key: %v; want %v", fate, got, want)
			}
		})
	}
}

func TestMetadataValue(t *testing.T) {
	for in, want := range map[contract.Metadata]string{
		"":                            "",
		`{"plan":"gold","n":1.50}`:    `{"plan":"gold","n":1.50}`,
		`{"a":"b\u003cc","d":"\"\\"}`: `{"a":"b\u003cc","d":"\"\\"}`,
		`{"city":"Zürich"}`:           `{"city":"Z\u00fcrich"}`,
		`{"日":"€"}`:                   `{"\u65e5":"\u20ac"}`,
		`{"a":"😀"}`:                   `{"a":"\ud83d\ude00"}`,
		"{\"a\":\"\x7f\ufffd\"}":      `{"a":"\u007f\ufffd"}`,
	} {
		got := policy.MetadataValue(in)
		if got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
		if in == "" {
			continue
		}
		var sent, read any
		if err := errors.Join(json.Unmarshal([]byte(in), &sent), json.Unmarshal([]byte(got), &read)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(sent, read) {
			t.Errorf("%s: the upstream reads %v", in, read)
		}
	}
}

func TestDecide_metadata(t *testing.T) {
	for name, tc := range map[string]struct {
		send *bool
		want string
	}{
		"by default": {},
		"not sent":   {send: new(false)},
		"sent":       {send: new(true), want: `{"city":"Z\u00fcrich"}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := call(func(c *policy.Call) {
				c.Key.Metadata, c.Access.APIKey.SendMetadata = `{"city":"Zürich"}`, tc.send
			})
			if got := policy.Decide(&c); !got.Allow || got.Identity.Metadata != tc.want {
				t.Errorf("allowed %t with %q, want %q", got.Allow, got.Identity.Metadata, tc.want)
			}
		})
	}
}
