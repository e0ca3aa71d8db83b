package exactjson_test

import (
	"os"
	"strings"
	"testing"

	"postern/platform/exactjson"
)

func TestUnmarshal(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/names.txt")
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
