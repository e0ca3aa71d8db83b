package appclients

import "testing"

func TestCheckURI(t *testing.T) {
	for uri, fits := range map[string]bool{
		"https://app.example.com/callback":       true,
		"http://127.0.0.1/callback":              true,
		"http://127.0.0.1:8400/callback":         true,
		"http://[::1]/callback":                  true,
		"http://localhost:3000/callback":         true,
		"com.example.app:/callback":              true,
		"com.example.app://callback":             true,
		"com.example.app:///callback":            true,
		"com.example.my-app:/a?b=c":              true,
		"com.googleusercontent.apps.123-abc:/cb": true,

		"https://app.example.com:65535/callback": true,

		"https://app.example.com:0/callback":     false,
		"https://app.example.com:99999/callback": false,
		"http://127.0.0.1:99999/callback":        false,
		"http://app.example.com/callback":        false,
		"http://127.0.0.1.example.com/":          false,
		"app:/callback":                          false, // no dot: any app could have it
		"app://callback":                         false,
		"javascript:alert(1)":                    false,
		"data:text/html,x":                       false,
		"file:///etc/passwd":                     false,
		"com.example.app:callback":               false,
		"com.example.app:":                       false,
		"app.example.com:8443/callback":          false, // https:// was forgotten
		"Com.Example.App:/callback":              false, // schemes come back in lower case
		".com.example:/callback":                 false,
		"com..example:/callback":                 false,
		"com.example.:/callback":                 false,
		"com.example.app:/callback#fragment":     false,
		"com.example.app://ana:pw@callback":      false,
		"com.example.app:/call back":             false,
		"com.example.app:/a;b":                   false, // would end a directive of the pages' policy
		"//app.example.com/callback":             false,
		"":                                       false,
	} {
		if detail := checkURI(uri); (detail == "") != fits {
			t.Errorf("checkURI(%q) = %q, want it to fit: %t", uri, detail, fits)
		}
	}
}

func TestIsRegistered(t *testing.T) {
	registered := []string{
		"https://app.example.com/callback",
		"https://127.0.0.1/callback",
		"http://127.0.0.1/callback",
		"http://[::1]:8400/callback?a=b",
		"http://localhost:3000/callback",
		"com.example.app:/callback",
	}
	for uri, want := range map[string]bool{
		"https://app.example.com/callback":      true,
		"http://127.0.0.1/callback":             true,
		"http://127.0.0.1:51004/callback":       true,
		"http://127.0.0.1:65535/callback":       true,
		"http://[::1]/callback?a=b":             true,
		"http://[::1]:51004/callback?a=b":       true,
		"http://localhost:3000/callback":        true,
		"com.example.app:/callback":             true,
		"https://app.example.com:8443/callback": false,
		"https://127.0.0.1:8443/callback":       false,
		"http://localhost:51004/callback":       false,
		"http://localhost/callback":             false,
		"http://127.0.0.1:0/callback":           false,
		"http://127.0.0.1:65536/callback":       false,
		"http://127.0.0.1:/callback":            false,
		"http://127.0.0.1:51004/callback/":      false,
		"http://127.0.0.1:51004/callback?x=y":   false,
		"http://127.0.0.1:51004/callback#x":     false,
		"http://127.0.0.1:51004":                false,
		"http://127.0.0.2:51004/callback":       false,
		"http://[::1]:51004/callback":           false,
		"http://127.0.0.1:80@evil.com/callback": false,
		"http://127.0.0.1@evil.com/callback":    false,
		"http://127.0.0.1.evil.com/callback":    false,
		"HTTP://127.0.0.1:51004/callback":       false,
		"com.example.app://callback":            false,
		"com.example.app:/callback/x":           false,
	} {
		if got := IsRegistered(registered, uri); got != want {
			t.Errorf("IsRegistered(%q) = %t, want %t", uri, got, want)
		}
	}
}
