package federation

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4/json"
)

// MaxProfile bounds a Profile, in bytes of JSON.
const MaxProfile = 8 << 10

// Profile has the claims of the scope profile (Core, 5.1 and 5.4) except name, as a provider sent them. Its JSON is
// that of a token.
type Profile struct {
	PreferredUsername string `json:"preferred_username,omitempty"`
	GivenName         string `json:"given_name,omitempty"`
	FamilyName        string `json:"family_name,omitempty"`
	MiddleName        string `json:"middle_name,omitempty"`
	Nickname          string `json:"nickname,omitempty"`
	Locale            string `json:"locale,omitempty"`
	ZoneInfo          string `json:"zoneinfo,omitempty"`
	Gender            string `json:"gender,omitempty"`
	Birthdate         string `json:"birthdate,omitempty"`
	Picture           string `json:"picture,omitempty"`
	ProfilePage       string `json:"profile,omitempty"`
	Website           string `json:"website,omitempty"`
	UpdatedAt         int64  `json:"updated_at,omitempty"` // seconds since 1970
}

// ProfileClaim is a text of a Profile.
type ProfileClaim struct {
	Name string
	Text *string
}

// Texts lists the texts, also empty ones, in the order in which they are kept where there are too many bytes.
func (p *Profile) Texts() []ProfileClaim {
	return []ProfileClaim{
		{"preferred_username", &p.PreferredUsername},
		{"given_name", &p.GivenName},
		{"family_name", &p.FamilyName},
		{"middle_name", &p.MiddleName},
		{"nickname", &p.Nickname},
		{"locale", &p.Locale},
		{"zoneinfo", &p.ZoneInfo},
		{"gender", &p.Gender},
		{"birthdate", &p.Birthdate},
		{"picture", &p.Picture},
		{"profile", &p.ProfilePage},
		{"website", &p.Website},
	}
}

// ProfileOf returns the profile that a set states. Texts that cannot be shown are left out, and so are those that
// would make it longer than MaxProfile.
func ProfileOf(set ClaimSet) Profile {
	var out Profile
	for _, claim := range out.Texts() {
		text, _ := set.value(claim.Name).(string)
		if !isPrintable(text) {
			continue
		}
		*claim.Text = text
		if len(out.JSON()) > MaxProfile {
			*claim.Text = ""
		}
	}
	if number, ok := set.value("updated_at").(json.Number); ok {
		if seconds, err := number.Float64(); err == nil && math.Abs(seconds) < 1<<40 {
			out.UpdatedAt = int64(seconds)
		}
	}
	if len(out.JSON()) > MaxProfile {
		out.UpdatedAt = 0
	}
	return out
}

// ParseProfile returns the profile in its JSON, the empty one for "". Members that no profile has are left out.
func ParseProfile(text string) Profile { return ProfileOf(Stated([]byte(text))) }

// JSON returns the profile as an object, "" for the empty one.
func (p Profile) JSON() string {
	if p == (Profile{}) {
		return ""
	}
	text, err := json.Marshal(p)
	if err != nil {
		panic("federation: a profile isn't JSON: " + err.Error()) // it has texts and a number
	}
	return string(text)
}

// value returns the first value of a claim in JSON, nil for none.
func (s ClaimSet) value(name string) any {
	for _, source := range s.sources {
		if value, ok := source[name]; ok {
			return value
		}
	}
	return nil
}

func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError
	})
}
