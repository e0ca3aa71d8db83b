package egress_test

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"postern/platform/egress"
	"postern/platform/fault"
)

func TestCheckTarget_accepted(t *testing.T) {
	names := newNameServer(t)
	names.answer("api.example.com.", "8.8.8.8", "2001:4860:4860::8888")
	names.answer("my_api.example.com.", "1.1.1.1")
	names.answer("xn--bcher-kva.example.", "1.1.1.1")
	g := newGuard(t, egress.Options{Resolver: names.resolver()})
	for raw, want := range map[string]string{
		"http://api.example.com":                  "http://api.example.com",
		"http://api.example.com/":                 "http://api.example.com/",
		"https://api.example.com/base":            "https://api.example.com/base",
		"HTTPS://API.Example.COM/Base/":           "https://api.example.com/Base/",
		"http://api.example.com:80/x":             "http://api.example.com/x",
		"https://api.example.com:443":             "https://api.example.com",
		"https://api.example.com:80":              "https://api.example.com:80",
		"http://api.example.com:8080":             "http://api.example.com:8080",
		"http://my_api.example.com/a;v=1/@b,c":    "http://my_api.example.com/a;v=1/@b,c",
		"http://api.example.com/%7Euser/a%2Fb":    "http://api.example.com/%7Euser/a%2Fb",
		`http://api.example.com/{"x"}`:            "http://api.example.com/%7B%22x%22%7D",
		"http://xn--bcher-kva.example/":           "http://xn--bcher-kva.example/",
		"http://8.8.8.8/":                         "http://8.8.8.8/",
		"http://[2606:4700:4700:0:0:0:0:1111]:80": "http://[2606:4700:4700::1111]",
		"http://[2606:4700:4700::1111]:8080/":     "http://[2606:4700:4700::1111]:8080/",
	} {
		u, err := g.CheckTarget(t.Context(), raw)
		if err != nil {
			t.Errorf("CheckTarget(%q): %v", raw, err)
		} else if u.String() != want {
			t.Errorf("CheckTarget(%q) = %s, want %s", raw, u, want)
		}
	}
}

// refusedURLs are spellings of a URL that the guard refuses before it resolves a name.
var refusedURLs = map[string]string{
	"empty":                      "",
	"no scheme":                  "api.example.com",
	"scheme-relative":            "//api.example.com",
	"no host":                    "http://",
	"no host but a port":         "http://:80/",
	"no host but a path":         "http:///x",
	"one slash":                  "http:/api.example.com",
	"opaque":                     "http:api.example.com",
	"ftp":                        "ftp://api.example.com",
	"file":                       "file:///etc/passwd",
	"gopher":                     "gopher://127.0.0.1:6379/_x",
	"javascript":                 "javascript:alert(1)",
	"unix socket":                "unix:///run/x.sock",
	"user":                       "http://user@api.example.com",
	"user and password":          "http://user:pw@api.example.com",
	"empty user":                 "http://@api.example.com",
	"host after an at":           "http://8.8.8.8@127.0.0.1/",
	"escaped at":                 "http://8.8.8.8%40127.0.0.1/",
	"fragment":                   "http://api.example.com/#x",
	"empty fragment":             "http://api.example.com/#",
	"query":                      "http://api.example.com/?x=1",
	"empty query":                "http://api.example.com/?",
	"backslash":                  `http://api.example.com\@127.0.0.1/`,
	"backslashes for slashes":    `http:\\127.0.0.1\`,
	"space":                      "http://api.example.com/a b",
	"leading space":              " http://api.example.com/",
	"newline":                    "http://api.example.com/\nHost: x",
	"NUL":                        "http://api.example.com/\x00",
	"NUL escaped":                "http://api.example.com/%00",
	"empty segment":              "http://api.example.com/a//b",
	"dot segment":                "http://api.example.com/a/../b",
	"dot segment, escaped":       "http://api.example.com/a/%2e%2E/b",
	"dot segment, slash escaped": "http://api.example.com/a%2f..%2fb",
	"broken escape":              "http://api.example.com/%zz",
	"square brackets":            "http://api.example.com/[x]",
}

var refusedPorts = map[string]string{
	"empty port":                "http://api.example.com:/",
	"port zero":                 "http://api.example.com:0/",
	"port too high":             "http://api.example.com:65536/",
	"port with a zero in front": "http://api.example.com:080/",
	"port with a sign":          "http://api.example.com:+80/",
	"port in hex":               "http://api.example.com:0x50/",
	"two ports":                 "http://api.example.com:80:80/",
}

// refusedHosts are spellings of a host that another program may read as another address.
var refusedHosts = map[string]string{
	"hex address":            "http://0x7f.1",
	"hex address, whole":     "http://0x7f000001/",
	"hex parts":              "http://0x7f.0x0.0x0.0x1/",
	"decimal address":        "http://2130706433/",
	"octal address":          "http://0177.0.0.1/",
	"short address":          "http://127.1/",
	"three parts":            "http://127.0.1/",
	"number over a byte":     "http://127.0.0.256/",
	"leading zeros":          "http://127.000.000.001/",
	"five parts":             "http://127.0.0.0.1/",
	"a name that ends in 0x": "http://api.0x1/",
	"trailing dot":           "http://localhost./",
	"trailing dot, address":  "http://127.0.0.1./",
	"two dots":               "http://a..b/",
	"leading dot":            "http://.a/",
	"star":                   "http://*.example.com/",
	"leading dash":           "http://-a.example.com/",
	"escape in the host":     "http://%31%32%37.0.0.1/",
	"zone":                   "http://[fe80::1%25eth0]/",
	"brackets around IPv4":   "http://[127.0.0.1]/",
	"mapped address":         "http://[::ffff:127.0.0.1]/",
	"mapped address, hex":    "http://[::ffff:7f00:1]/",
	"IPv6 without brackets":  "http://::1/",
	"unclosed bracket":       "http://[::1/",
	"future address":         "http://[v1.x]/",
	"non-ASCII host":         "http://bücher.example/",
	"fullwidth digits":       "http://１２７.0.0.1/",
	"enclosed digits":        "http://①②⑦.0.0.1/",
	"ideographic full stop":  "http://127。0。0。1/",
	"label too long":         "http://" + strings.Repeat("a", 64) + ".example.com/",
	"name too long":          "http://" + strings.Repeat("a.", 130) + "example.com/",
	"tab in the host":        "http://api.\texample.com/",
}

func TestCheckTarget_spellings(t *testing.T) {
	names := newNameServer(t) // knows no name: none of these may get as far as being resolved
	g := newGuard(t, egress.Options{
		Resolver:        names.resolver(),
		LoopbackAllowed: true,
		Allow:           []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")},
	})
	for _, spellings := range []map[string]string{refusedURLs, refusedPorts, refusedHosts} {
		for name, raw := range spellings {
			t.Run(name, func(t *testing.T) {
				u, err := g.CheckTarget(t.Context(), raw)
				if err == nil {
					t.Fatalf("CheckTarget(%q) = %s, want it refused", raw, u)
				}
				if fault.CodeOf(err) != egress.CodeInvalidURL || fault.KindOf(err) != fault.Invalid {
					t.Errorf("CheckTarget(%q): %v, want invalid_url", raw, err)
				}
			})
		}
	}
}

func TestCheckTarget_forbidden(t *testing.T) {
	names := newNameServer(t)
	g := newGuard(t, egress.Options{Resolver: names.resolver()})
	for _, address := range forbidden {
		names.answer("inside.example.com.", address)
		if netip.MustParseAddr(address).Is4In6() {
			names.answer("inside.example.com.", netip.MustParseAddr(address).Unmap().String()) // what DNS can carry
		}
		for _, raw := range []string{"http://" + net.JoinHostPort(address, "80"), "https://inside.example.com/"} {
			_, err := g.CheckTarget(t.Context(), raw)
			if code := fault.CodeOf(err); code != egress.CodeForbidden && code != egress.CodeInvalidURL {
				t.Errorf("CheckTarget(%s), which is %s: %v, want it refused", raw, address, err)
			}
		}
	}
	for _, address := range public {
		if _, err := g.CheckTarget(t.Context(), "http://"+net.JoinHostPort(address, "80")); err != nil {
			t.Errorf("CheckTarget of public %s: %v", address, err)
		}
	}
}

func TestCheckTarget_oneForbidden(t *testing.T) {
	names := newNameServer(t)
	names.answer("mixed.example.com.", "8.8.8.8", "10.0.0.1")
	names.answer("mixed6.example.com.", "8.8.8.8", "fd00::1")
	g := newGuard(t, egress.Options{Resolver: names.resolver()})
	for _, raw := range []string{"http://mixed.example.com", "http://mixed6.example.com"} {
		_, err := g.CheckTarget(t.Context(), raw)
		if fault.CodeOf(err) != egress.CodeForbidden {
			t.Errorf("CheckTarget(%s): %v, want target_forbidden", raw, err)
		}
		var f *fault.Error
		if errors.As(err, &f) && strings.Contains(f.Public, "10.0.0.1") {
			t.Errorf("the public text shows a private address: %s", f.Public)
		}
	}
}

func TestCheckTarget_unresolvable(t *testing.T) {
	names := newNameServer(t)
	names.answer("empty.example.com.")
	g := newGuard(t, egress.Options{Resolver: names.resolver()})
	for _, raw := range []string{"http://nowhere.example.com", "http://empty.example.com"} {
		if _, err := g.CheckTarget(t.Context(), raw); fault.CodeOf(err) != egress.CodeUnresolvable ||
			fault.KindOf(err) != fault.Invalid {
			t.Errorf("CheckTarget(%s): %v, want target_unresolvable", raw, err)
		}
	}
}

// publicText is what callers read of an error.
func publicText(err error) string {
	if refusal, ok := errors.AsType[*fault.Error](err); ok {
		return refusal.Public
	}
	return ""
}

// TestCheckTarget_ownSecretAddress checks that a caller who tries addresses doesn't learn which one the gateway has,
// unless our names resolve to it. An address in a range that the operator allows is as secret as any other.
func TestCheckTarget_ownSecretAddress(t *testing.T) {
	names := newNameServer(t)
	names.answer("postern.example.com.", "10.1.2.3", "10.9.2.3")
	names.answer("proxy.example.com.", "8.8.8.8", "10.1.2.6")
	g := newGuard(t, egress.Options{
		Resolver: names.resolver(),
		Allow:    []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")},
		Listeners: []string{
			"10.1.2.3:8090", "10.1.2.4:8090", "10.1.2.6:8090", "10.9.2.3:8090", "10.9.2.4:8090", "8.8.8.8:8090",
			"8.8.4.4:8090", "127.0.0.1:8090",
		},
		Names:   []string{"postern.example.com", "gone.example.com"},
		Domains: []string{"proxy.example.com"},
	})
	for raw, known := range map[string]bool{
		"http://127.0.0.1:8090": true,
		"http://8.8.8.8:8090":   true,  // the domain resolves to it
		"http://10.1.2.3:8090":  true,  // the public URL's host does
		"http://10.1.2.6:8090":  true,  // the domain does
		"http://10.1.2.4:8090":  false, // in an allowed range
		"http://8.8.4.4:8090":   false, // such as the origin behind a CDN
		"http://10.9.2.3:8090":  false, // not in an allowed range, although a name resolves to it here
		"http://10.9.2.4:8090":  false,
		"http://10.9.2.5:8090":  false, // not ours
	} {
		_, err := g.CheckTarget(t.Context(), raw)
		want := "This isn't a public address"
		if known {
			want = "This is the gateway's own URL"
		}
		if got := publicText(err); fault.CodeOf(err) != egress.CodeForbidden || !strings.HasPrefix(got, want) {
			t.Errorf("CheckTarget(%s): %q, want %q", raw, got, want)
		}
	}
}

func TestCheckTarget_ownAddresses(t *testing.T) {
	names := newNameServer(t)
	for _, name := range []string{
		"postern.example.com.", "proxy.example.com.", "shop.proxy.example.com.", "notproxy.example.com.",
		"below.postern.example.com.",
	} {
		names.answer(name, "8.8.8.8")
	}
	names.answer("postern.example.com.", "8.8.8.8", "8.8.4.4")
	g := newGuard(t, egress.Options{
		Resolver: names.resolver(), LoopbackAllowed: true,
		Listeners: []string{"127.0.0.1:8080", "127.0.0.1:8090", "8.8.4.4:9000"},
		Names:     []string{"Postern.example.com", "127.0.0.1"},
		Domains:   []string{"proxy.example.com", "localhost"},
		Dashboard: []string{"127.0.0.1:8080", "postern.example.com"},
	})
	const gateway, dashboard = "This is the gateway's own URL.", "This is the URL of this dashboard."
	for raw, says := range map[string]string{
		"http://postern.example.com":        dashboard,
		"http://POSTERN.example.com:9999":   dashboard,
		"http://proxy.example.com":          gateway,
		"http://shop.proxy.example.com/":    gateway,
		"http://notproxy.example.com":       "",
		"http://below.postern.example.com":  "", // only the gateway's domain owns what is below it
		"http://127.0.0.1:8080":             dashboard,
		"http://127.0.0.1:8090/shop/1/prod": gateway,
		"http://127.0.0.5:8090":             gateway,
		"http://[::1]:8090":                 gateway,
		"http://127.0.0.1:8091":             "",
		"http://8.8.4.4:9000":               gateway,
		"http://8.8.4.4":                    "",
	} {
		_, err := g.CheckTarget(t.Context(), raw)
		if code := fault.CodeOf(err); (code == egress.CodeForbidden) != (says != "") || (err != nil) != (says != "") {
			t.Errorf("CheckTarget(%s): %v, want %q", raw, err, says)
		}
		if says != "" && !strings.HasPrefix(publicText(err), says) {
			t.Errorf("CheckTarget(%s): %q, want %q", raw, publicText(err), says)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, seed := range []string{
		"http://api.example.com/base", "https://[::1]:8080/", "http://0x7f.1", "http://a@b", "http://a/%2e%2e",
		"http:\\\\x", "http://1.2.3.4:80/a;b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := egress.ParseTarget(raw)
		if err != nil {
			return
		}
		again, err := egress.ParseTarget(u.String())
		if err != nil || again.String() != u.String() {
			t.Fatalf("%q is read as %s, and that as %v, %v", raw, u, again, err)
		}
		if u.Scheme != "http" && u.Scheme != "https" {
			t.Fatalf("%q is read with the scheme %q", raw, u.Scheme)
		}
		if u.Host == "" {
			t.Fatalf("%q is read as %#v, without a host", raw, u)
		}
		if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			t.Fatalf("%q is read as %#v, want no user, query and fragment", raw, u)
		}
	})
}
