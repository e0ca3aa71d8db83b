package federation

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
)

// Authentication has an ID token's claims about the user's authentication (Core, 2). Its texts are safe to pass on.
type Authentication struct {
	At      time.Time // auth_time; zero if the token lacks one
	Context string    // acr; "" if the token lacks one
	Methods string    // amr, separated by spaces; "" if the token lacks one
}

// Bounds on what is read of acr and amr.
const (
	maxContext = 255 // bytes
	maxMethod  = 64  // bytes of one
	maxMethods = 20
)

// authTime reads auth_time: seconds since 1970, which some issuers send as text or with a
// fraction. Anything else isn't a time.
type authTime struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (a *authTime) UnmarshalJSON(raw []byte) error {
	var seconds float64
	text := strings.Trim(string(raw), `"`)
	readable := json.Unmarshal([]byte(text), &seconds) == nil
	if readable && seconds > 0 && seconds <= math.MaxInt32*100 {
		a.Time = time.Unix(int64(seconds), 0).UTC()
	}
	return nil
}

// reference reads acr. Anything but a fitting text counts as absent.
type reference string

// UnmarshalJSON implements json.Unmarshaler.
func (r *reference) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil && isReference(text, maxContext) {
		*r = reference(text)
	}
	return nil
}

// references reads amr, a list of texts, which some issuers send as one text. Values that
// do not fit are left out.
type references []string

// UnmarshalJSON implements json.Unmarshaler.
func (r *references) UnmarshalJSON(raw []byte) error {
	var list []any
	var one string
	if json.Unmarshal(raw, &one) == nil {
		list = []any{one}
	} else if json.Unmarshal(raw, &list) != nil {
		list = nil
	}
	for _, value := range list {
		text, _ := value.(string)
		if isReference(text, maxMethod) && !slices.Contains(*r, text) && len(*r) < maxMethods {
			*r = append(*r, text)
		}
	}
	return nil
}

// isReference reports whether a text is one visible ASCII word.
func isReference(text string, most int) bool {
	return text != "" && len(text) <= most &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

// Authentication returns what the claims state about the authentication.
func (c Claims) Authentication() Authentication {
	return Authentication{At: c.AuthTime.Time, Context: string(c.ACR), Methods: strings.Join(c.AMR, " ")}
}
