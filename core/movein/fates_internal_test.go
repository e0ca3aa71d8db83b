package movein

import (
	"strings"
	"testing"
)

// Only what has a placeholder without a value is remedied by setting it.
func TestFates_placeholders(t *testing.T) {
	t.Parallel()
	for _, list := range []map[string]fate{fates, pluginFates, closedFates, awsFates} {
		for code, one := range list {
			isAbout := strings.HasSuffix(code, "placeholder") || strings.HasSuffix(code, "unfilled")
			if (one.remedy == setIt || strings.Contains(one.remedy, "set stageVariables")) != isAbout {
				t.Errorf("%s: the remedy is %q", code, one.remedy)
			}
			if isAbout && !strings.Contains(one.note, "placeholder") ||
				strings.Contains(one.note, "or has a placeholder") {
				t.Errorf("%s: the note is %q", code, one.note)
			}
		}
	}
}
