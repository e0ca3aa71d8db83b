package policy_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"postern/core/policy"
)

func TestNormalizePath(t *testing.T) {
	for _, tc := range []struct{ raw, want string }{
		{"/", "/"},
		{"/1.0.0/prod", "/1.0.0/prod"},
		{"/1.0.0/prod/", "/1.0.0/prod/"},
		{"/1.0.0/prod//a/%2e%2e/%41%2fb", "/1.0.0/prod/A%2Fb"}, // spec.md 2
		{"//x", "/x"}, // bundle.md 3, with the three below
		{"/a/%2e%2e/b", "/b"},
		{"/%41", "/A"},
		{"/é", "/%C3%A9"},
		{"/%c3%a9", "/%C3%A9"},
		{"/1.0.0/prod/a%2Fb", "/1.0.0/prod/a%2Fb"},
		{"/a//b///c", "/a/b/c"},
		{"/a/./b", "/a/b"},
		{"/a/.", "/a/"},
		{"/a/..", "/"},
		{"/a/b/..", "/a/"},
		{"/a/b/../", "/a/"},
		{"/a//..", "/"},
		{"/a//../b", "/b"},
		{"/a/b//.//../c", "/a/c"},
		{"/.", "/"},
		{"/./", "/"},
		{"/..a/b..", "/..a/b.."},
		{"/.../a", "/.../a"},
		{"/.well-known/x", "/.well-known/x"},
		{"/a/%2E/b", "/a/b"},
		{"/a/%2e./b", "/b"},
		{"/%7e%5f%2d%2e", "/~_-."},
		{"/%20 %22\"<>`{|}\\^", "/%20%20%22%22%3C%3E%60%7B%7C%7D%5C%5E"},
		{"/a%3bb;c=d,e", "/a%3Bb;c=d,e"},
		{"/!*'();:@&=+$,[]", "/!*'();:@&=+$,[]"},
		{
			"/%21%2a%27%28%29%3b%3a%40%26%3d%2b%24%2c%3f%25%23%5b%5d",
			"/%21%2A%27%28%29%3B%3A%40%26%3D%2B%24%2C%3F%25%23%5B%5D",
		},
		{"/%2541", "/%2541"}, // decoded once, never twice
		{"/%252e%252e/x", "/%252e%252e/x"},
		{"/a%0ab", "/a%0Ab"},
		{"/a/..%2fb", "/a/..%2Fb"},
		{"/0%2f0/../..%2f", "/..%2F"}, // refused wherever it is routed: it hides a dot segment
		{"/\xff", "/%FF"},
	} {
		got, err := policy.NormalizePath(tc.raw)
		if err != nil || got != tc.want {
			t.Errorf("NormalizePath(%q) = %q, %v; want %q", tc.raw, got, err, tc.want)
		}
	}
}

func TestNormalizePath_refused(t *testing.T) {
	for _, raw := range []string{
		"", "a", "*", "http://x/", "/%", "/%4", "/%zz", "/%4g", "/a%00b", "/\x00", "/a\tb", "/a\nb", "/\x7f", "/a#b",
		"/..", "/../", "/../a", "/a/../..", "/a/../../b", "/%2e%2e/a", "/a/%2e%2e/.%2e/b", "/a//../../b",
		"/..%2f", "/a%2f..%2f..%2f..%2fetc", "/a/..%2F..%2Fb",
	} {
		if got, err := policy.NormalizePath(raw); err == nil {
			t.Errorf("NormalizePath(%q) = %q; want it refused", raw, got)
		}
	}
}

func TestSplitPath(t *testing.T) {
	for _, tc := range []struct{ path, version, env, rest string }{
		{"/1.0.0/prod", "1.0.0", "prod", ""},
		{"/1.0.0/prod/", "1.0.0", "prod", "/"},
		{"/1.0.0/prod/A%2Fb", "1.0.0", "prod", "/A%2Fb"},
		{"/1.0.0/prodx", "1.0.0", "prodx", ""},
		{"/1.0.0/prod/a/b/", "1.0.0", "prod", "/a/b/"},
	} {
		version, env, rest, ok := policy.SplitPath(tc.path)
		if !ok || version != tc.version || env != tc.env || rest != tc.rest {
			t.Errorf("SplitPath(%q) = %q, %q, %q, %v", tc.path, version, env, rest, ok)
		}
	}
	for _, path := range []string{"", "/", "/1.0.0", "/1.0.0/"} {
		if version, env, _, ok := policy.SplitPath(path); ok {
			t.Errorf("SplitPath(%q) = %q, %q; want no match", path, version, env)
		}
	}
}

func TestJoinTarget(t *testing.T) {
	for _, tc := range []struct{ target, rest, want string }{
		{"/base", "", "/base"}, // spec.md 2, with the two below
		{"/base", "/", "/base/"},
		{"/base", "/A%2Fb", "/base/A%2Fb"},
		{"/base/", "", "/base"},
		{"/base/", "/", "/base/"},
		{"/base/", "/a", "/base/a"},
		{"", "", "/"},
		{"/", "", "/"},
		{"", "/", "/"},
		{"/", "/a", "/a"},
	} {
		if got := policy.JoinTarget(tc.target, tc.rest); got != tc.want {
			t.Errorf("JoinTarget(%q, %q) = %q, want %q", tc.target, tc.rest, got, tc.want)
		}
	}
}

// The tests of the exported gateway's plugin use the same table.
func TestNormalizePath_table(t *testing.T) {
	table, err := os.ReadFile("testdata/paths.txt")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]int{}
	for line := range strings.Lines(string(table)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if line[0] == '#' || len(columns) < 2 {
			continue
		}
		raw, want, normal := columns[0], columns[1], strings.Join(columns[2:], "")
		verdicts[want]++
		got, err := policy.NormalizePath(raw)
		verdict := "ok"
		switch {
		case errors.Is(err, policy.ErrAboveRoot):
			verdict = "climbs"
		case err != nil:
			verdict = "malformed"
		case policy.HidesDotSegment(got):
			verdict = "bad_path"
		}
		if verdict != want || got != normal {
			t.Errorf("%s: %s, normal form %q; want %s, %q", raw, verdict, got, want, normal)
		}
	}
	least := map[string]int{"ok": 20, "bad_path": 40, "climbs": 5, "malformed": 4}
	for verdict, rows := range verdicts {
		if least[verdict] == 0 {
			t.Errorf("unknown verdict %s", verdict)
		} else if rows < least[verdict] {
			t.Errorf("the table has %d rows with the verdict %s, want at least %d", rows, verdict, least[verdict])
		}
	}
	if len(verdicts) != len(least) {
		t.Errorf("the table has rows %v", verdicts)
	}
}

func TestHidesDotSegment_allocations(t *testing.T) {
	path := "/1.0.0/prod/%25252e%25252e%3Bb/a%2Fb;v=1"
	if n := testing.AllocsPerRun(100, func() { policy.HidesDotSegment(path) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestNormalizePath_allocations(t *testing.T) {
	path := "/1.0.0/prod/orders/42;v=1"
	if n := testing.AllocsPerRun(100, func() { _, _ = policy.NormalizePath(path) }); n != 0 {
		t.Errorf("%v allocations for a path that is normalized already, want 0", n)
	}
}

func FuzzNormalizePath(f *testing.F) {
	for _, seed := range []string{
		"/", "/1.0.0/prod//a/%2e%2e/%41%2fb", "/a/..", "/%2e%2e/x", "//", "/%", "/é", "/a/./b/../c/", "/..%2f..%2f",
		"/%25%32%65", "/a#b", "/.%2e/", "/0%2f0/../..%2f",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		once, err := policy.NormalizePath(raw)
		if err != nil {
			return
		}
		twice, err := policy.NormalizePath(once)
		refused := errors.Is(err, policy.ErrAboveRoot) && policy.HidesDotSegment(once) // no such path is forwarded
		if !refused && (err != nil || twice != once) {
			t.Fatalf("normalizing %q gives %q, and that gives %q, %v", raw, once, twice, err)
		}
		if once[0] != '/' || strings.Contains(once, "//") {
			t.Fatalf("%q normalized to %q", raw, once)
		}
		for _, segment := range strings.Split(once, "/") {
			if segment == "." || segment == ".." {
				t.Fatalf("%q normalized to %q with a dot segment", raw, once)
			}
		}
		for i := range len(once) {
			if c := once[i]; c <= 0x20 || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}#", c) >= 0 {
				t.Fatalf("%q normalized to %q with byte %#x", raw, once, c)
			}
		}
	})
}
