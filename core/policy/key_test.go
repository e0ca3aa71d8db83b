package policy_test

import (
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"io"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/uuid"

	"postern/core/policy"
)

// goldenKey is a key that every implementation of the format must accept. The CRC-32
// was computed with zlib.
const goldenKey = "pst_prod_0123456789ABCDEFGHIJKLMNOPQRSTUV4gaLKE"

func TestWellFormedKey_goldenKey(t *testing.T) {
	if !policy.WellFormedKey(goldenKey) {
		t.Errorf("%s is refused", goldenKey)
	}
}

func TestNewKey(t *testing.T) {
	longPrefix, longEnv := strings.Repeat("a", 16), strings.Repeat("b", 40)
	for _, tc := range []struct{ prefix, env, display string }{
		{"pst", "prod", "pst_prod_"},
		{"pst", "", "pst_all_"},
		{"acme1", "eu-west-1", "acme1_eu-west-1_"},
		{longPrefix, longEnv, longPrefix + "_" + longEnv + "_"},
	} {
		key, err := policy.NewKey(tc.prefix, tc.env)
		if err != nil {
			t.Fatalf("NewKey(%q, %q): %v", tc.prefix, tc.env, err)
		}
		if !policy.WellFormedKey(key) {
			t.Errorf("NewKey(%q, %q) = %q, which is malformed", tc.prefix, tc.env, key)
		}
		if got := policy.DisplayPrefix(key); got != tc.display {
			t.Errorf("DisplayPrefix(%q) = %q, want %q", key, got, tc.display)
		}
		if want := len(tc.display) + 38; len(key) != want || len(key) > policy.MaxKey {
			t.Errorf("%q has %d bytes, want %d and at most %d", key, len(key), want, policy.MaxKey)
		}
		if got, want := policy.Last4(key), key[len(key)-4:]; got != want {
			t.Errorf("Last4(%q) = %q", key, got)
		}
		if policy.HashKey(key) != sha256.Sum256([]byte(key)) {
			t.Errorf("HashKey(%q) is not the SHA-256 of the whole key", key)
		}
	}
	for _, bad := range [][2]string{
		{"", "prod"}, {"P", "prod"}, {"p", "prod"}, {"1st", "prod"}, {longPrefix + "a", "prod"},
		{"pst", "Prod"}, {"pst", "a_b"},
	} {
		if key, err := policy.NewKey(bad[0], bad[1]); err == nil {
			t.Errorf("NewKey(%q, %q) = %q, want an error", bad[0], bad[1], key)
		}
	}
}

func TestNewKey_random(t *testing.T) {
	seen, letters := map[string]bool{}, map[rune]bool{}
	for range 200 {
		key, err := policy.NewKey("pst", "prod")
		if err != nil || seen[key] {
			t.Fatalf("NewKey = %q (seen before: %v), %v", key, seen[key], err)
		}
		seen[key] = true
		for _, r := range key[len("pst_prod_"):][:32] {
			letters[r] = true
		}
	}
	if len(letters) != 62 {
		t.Errorf("6,400 secret characters use %d of 62 letters", len(letters))
	}
}

func TestNewKeyFrom_deterministic(t *testing.T) {
	bytes := strings.Repeat("\xff\x00\x3e\xf8", 16) // 255 and 248 are thrown away
	want := "pst_prod_" + strings.Repeat("0", 32)
	for name, r := range map[string]io.Reader{
		"whole":        strings.NewReader(bytes),
		"byte by byte": iotest.OneByteReader(strings.NewReader(bytes)),
	} {
		key, err := policy.NewKeyFrom(r, "pst", "prod")
		if err != nil || !policy.WellFormedKey(key) || key[:len(key)-6] != want {
			t.Errorf("%s: %q, %v, want the secret of %s", name, key, err, want)
		}
	}
	if key, err := policy.NewKeyFrom(strings.NewReader("short"), "pst", "prod"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a reader that ends: %q, %v", key, err)
	}
}

func TestWellFormedKey_refused(t *testing.T) {
	good := goldenKey
	cases := map[string]string{
		"empty":                 "",
		"a word":                "secret",
		"no environment":        strings.Replace(good, "pst_prod_", "pst_", 1),
		"upper-case prefix":     strings.Replace(good, "pst", "PST", 1),
		"one-letter prefix":     strings.Replace(good, "pst", "p", 1),
		"other prefix":          strings.Replace(good, "pst", "abc", 1), // well-formed prefix, but the check covers it
		"other environment":     strings.Replace(good, "prod", "prot", 1),
		"environment case":      strings.Replace(good, "prod", "Prod", 1),
		"empty environment":     strings.Replace(good, "prod", "", 1),
		"secret one short":      good[:9] + good[10:],
		"secret one long":       good[:9] + "0" + good[9:],
		"changed secret":        good[:9] + "1" + good[10:],
		"changed check":         good[:len(good)-1] + "0",
		"trailing space":        good + " ",
		"leading space":         " " + good,
		"not base62":            good[:20] + "-" + good[21:],
		"two keys in one line":  good + ", " + good,
		"one byte too long":     keyOf(policy.MaxKey + 1),
		"a fourth part":         good + "_x",
		"the hash of a key":     "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"non-ASCII in a secret": good[:20] + "é" + good[22:],
	}
	for name, key := range cases {
		if policy.WellFormedKey(key) {
			t.Errorf("%s: %q is taken for a key", name, key)
		}
	}
	if longest := keyOf(policy.MaxKey); !policy.WellFormedKey(longest) {
		t.Errorf("%q isn't taken for a key", longest)
	}
}

// keyOf returns a key of that many bytes, most of them in the name of its environment.
func keyOf(length int) string {
	const secret = "0123456789abcdefghijklmnopqrstuv"
	body := "pst_" + strings.Repeat("e", length-len("pst__")-len(secret)-6) + "_" + secret
	return body + checkOf(body)
}

func TestWellFormedKey_allocations(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		if !policy.WellFormedKey(goldenKey) || policy.HashKey(goldenKey) == [32]byte{} {
			t.Error("the golden key is refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// shapeOfKey is the format as a regular expression, which the parser does not use.
var shapeOfKey = regexp.MustCompile(`^[a-z][a-z0-9]{1,15}_[a-z][a-z0-9-]*_[0-9A-Za-z]{38}$`)

// checkOf returns the CRC-32 of the body in base62, six digits.
func checkOf(body string) string {
	check := big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))).Text(62) // digits, lower case, upper case
	check = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, check)
	return strings.Repeat("0", 6-len(check)) + check
}

func FuzzWellFormedKey(f *testing.F) {
	f.Add(goldenKey)
	hasShape := func(s string) bool { return len(s) <= policy.MaxKey && shapeOfKey.MatchString(s) }
	f.Fuzz(func(t *testing.T, s string) {
		fits := len(s) >= 6 && checkOf(s[:len(s)-6]) == s[len(s)-6:]
		if got, want := policy.WellFormedKey(s), hasShape(s) && fits; got != want {
			t.Fatalf("%q: %v, want %v", s, got, want)
		}
		// With a check that fits, which no fuzzer finds by itself.
		key := s + checkOf(s)
		if got, want := policy.WellFormedKey(key), hasShape(key); got != want {
			t.Fatalf("%q: %v, want %v", key, got, want)
		}
		if !policy.WellFormedKey(key) {
			return
		}
		for i := range len(key) { // CRC-32 sees every change of a single byte
			if policy.WellFormedKey(key[:i] + string(key[i]^1) + key[i+1:]) {
				t.Fatalf("%q stays well-formed when byte %d changes", key, i)
			}
		}
	})
}

func TestConsumerID_uuid(t *testing.T) {
	namespace := uuid.MustParse(policy.ConsumerNamespace)
	for _, tc := range [][2]string{{"prj_1", "billing-service"}, {"", ""}, {"prj_2", strings.Repeat("o", 128)}} {
		want := uuid.NewSHA1(namespace, []byte(tc[0]+"\n"+tc[1])).String()
		if got := policy.ConsumerID(tc[0], tc[1]); got != want {
			t.Errorf("ConsumerID(%q, %q) = %s, want %s", tc[0], tc[1], got, want)
		}
	}
	if got, want := policy.EntityID("env_1"), uuid.NewSHA1(namespace, []byte("env_1")).String(); got != want {
		t.Errorf("EntityID = %s, want %s", got, want)
	}
}

func TestConsumerID_distinct(t *testing.T) {
	if policy.ConsumerID("prj_1", "ab") == policy.ConsumerID("prj_1a", "b") {
		t.Error("project and owner run together")
	}
}

func TestMaskKeys_text(t *testing.T) {
	key, err := policy.NewKey("pst", "prod")
	if err != nil {
		t.Fatal(err)
	}
	masked := "pst_prod_…" + key[len(key)-4:]
	for text, want := range map[string]string{
		"/orders/42":                     "/orders/42",
		"/" + key:                        "/" + masked,
		"/a/" + key + "/b;k=" + key:      "/a/" + masked + "/b;k=" + masked,
		"/" + key + "x":                  "/" + key + "x", // the check is of another
		"/%C3%A9_\xff_ä/" + key + "\xc3": "/%C3%A9_\xff_ä/" + masked + "\xc3",
		"_":                              "_",
		"":                               "",
	} {
		if got := policy.MaskKeys(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
