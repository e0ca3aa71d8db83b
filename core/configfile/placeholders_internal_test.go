package configfile

import "testing"

// Only lines without a placeholder aren't searched for them.
func TestMayHavePlaceholder(t *testing.T) {
	for text, want := range map[string]bool{
		`key: ${{ env "DECK_KEY" }}`:            true,
		"key: {{ .Values.key }}":                true,
		"key: ${KEY}":                           true,
		"key: $KEY":                             true,
		"key: {vault://env/key}":                true,
		"key: __API_KEY__":                      true,
		"key: <your-key>":                       true,
		"key: <YOUR KEY>":                       true,
		"key: REPLACE_ME":                       true,
		"key: replaceme":                        true,
		"key: Change-Me_now":                    true,
		"key: cHaNgE_mE":                        true,
		`{"name":"rate-limiting","config":{}}`:  false,
		"username: tom_m, volume: 1, my-me: no": false,
		"_format_version: x":                    false,
	} {
		if matches := forms.MatchString(text); matches != want {
			t.Errorf("%s: matches %t", text, matches)
		}
		if got := mayHavePlaceholder([]byte(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
