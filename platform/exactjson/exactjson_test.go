package exactjson_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"postern/platform/exactjson"
)

var (
	bytesInTable   = regexp.MustCompile(`\\x[0-9a-f]{2}`)
	repeatsInTable = regexp.MustCompile(`\{\{(\d+) (.+?)\}\}`)
)

// decodeRow returns the text that the table has in its notation.
func decodeRow(text string) string {
	text = repeatsInTable.ReplaceAllStringFunc(text, func(repeat string) string {
		parts := repeatsInTable.FindStringSubmatch(repeat)
		times, _ := strconv.Atoi(parts[1])
		return strings.Repeat(parts[2], times)
	})
	return bytesInTable.ReplaceAllStringFunc(text, func(one string) string {
		code, _ := strconv.ParseUint(one[2:], 16, 8)
		return string([]byte{byte(code)})
	})
}

func TestUnmarshal(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/texts.txt")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]int{}
	for line := range strings.Lines(string(table)) {
		verdict, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		verdicts[verdict]++
		text = decodeRow(text)
		var some struct {
			Subject any `json:"sub"`
		}
		for what, out := range map[string]any{"a struct": &some, "a map": &map[string]any{}} {
			if err := exactjson.Unmarshal([]byte(text), out); (err == nil) != (verdict == "ok") {
				t.Errorf("%s into %s: %v, want %s", text, what, err, verdict)
			}
		}
		if strings.Contains(text, `"victim"`) && some.Subject == "victim" && verdict == "ok" {
			t.Errorf("%s names the victim", text)
		}
	}
	if len(verdicts) != 2 || verdicts["ok"] < 5 || verdicts["refused"] < 5 {
		t.Errorf("the table has %v", verdicts)
	}
}
