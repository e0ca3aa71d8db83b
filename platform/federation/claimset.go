package federation

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4/json"
)

// ClaimPath is where a claim is: the names of objects from the outermost to the claim.
type ClaimPath []string

// Bounds on claim paths and on what is read of claims.
const (
	maxPath     = 200 // bytes
	maxSegments = 10
	maxValues   = 5000 // of one claim
	maxValue    = 1000 // bytes of one
)

// ParseClaimPath reads a path such as realm_access.roles. A dot in a name is written \. and
// a backslash \\, as in Keycloak's mappers. A claim that is named by a URL, such as
// https://example.com/roles (OpenID Connect Core 1.0, 5.1.2), is one name.
func ParseClaimPath(text string) (ClaimPath, error) {
	if text == "" || len(text) > maxPath || !utf8.ValidString(text) || strings.ContainsFunc(text, isControl) {
		return nil, fmt.Errorf("a claim path must have 1 to %d bytes on one line", maxPath)
	}
	if strings.Contains(text, "://") {
		return ClaimPath{text}, nil
	}
	path, name := ClaimPath{}, strings.Builder{}
	for rest := text; rest != ""; {
		switch {
		case strings.HasPrefix(rest, `\.`), strings.HasPrefix(rest, `\\`):
			name.WriteByte(rest[1])
			rest = rest[2:]
		case rest[0] == '.':
			path = append(path, name.String())
			name.Reset()
			rest = rest[1:]
		default:
			name.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	path = append(path, name.String())
	if slices.Contains(path, "") || len(path) > maxSegments {
		return nil, fmt.Errorf("a claim path can have at most %d names, and names can't be empty", maxSegments)
	}
	return path, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// ClaimSet has the claims of a provider about a user. The zero ClaimSet is empty.
type ClaimSet struct {
	sources     []map[string]any // the ID token's claims, then those of userinfo
	withheld    []string         // claims that are not stated, or not whole
	unavailable []string         // claims that could not be asked for
}

// Stated returns the claims of a JSON object, none if it is not one.
func Stated(object []byte) ClaimSet {
	reader := json.NewDecoder(bytes.NewReader(object))
	reader.SetNumberType(json.UnmarshalJSONNumber)
	var claims map[string]any
	if reader.Decode(&claims) != nil {
		return ClaimSet{}
	}
	return ClaimSet{sources: []map[string]any{claims}}
}

// And returns the claims of both. If both state one, the first counts.
func (s ClaimSet) And(more ClaimSet) ClaimSet {
	return ClaimSet{
		sources:     slices.Concat(s.sources, more.sources),
		withheld:    slices.Concat(s.withheld, more.withheld),
		unavailable: slices.Concat(s.unavailable, more.unavailable),
	}
}

// StatedClaim is a claim with its value as JSON.
type StatedClaim struct{ Name, Value string }

// List returns at most the given number of claims by name. Values that are longer than the given number of bytes are
// shortened.
func (s ClaimSet) List(claims, bytes int) []StatedClaim {
	all := map[string]any{}
	for _, source := range slices.Backward(s.sources) {
		maps.Copy(all, source)
	}
	var out []StatedClaim
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if len(out) == claims {
			break
		}
		value, err := json.Marshal(all[name])
		if err != nil {
			continue
		}
		out = append(out, StatedClaim{shortened(name, maxPath), shortened(string(value), bytes)})
	}
	return out
}

func shortened(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "") + "…"
}

// Finding is the value of a claim set at a path.
type Finding struct {
	Values      []string // texts, numbers and booleans; of a list its members
	Stated      bool
	Withheld    bool // the provider has the claim and did not send it, or not all of it
	Unavailable bool // the provider failed when it was asked for the claim
}

// Find returns what is at a path. A text, a number or a boolean is one value, a list of them one for each. Other values
// are ignored.
//
// A claim is withheld if the set names another source for it (OpenID Connect Core 1.0,
// 5.6.2): Microsoft does so for the groups of users who are in more than 200
// (learn.microsoft.com/entra/identity-platform/id-token-claims-reference#groups-overage-claim).
func (s ClaimSet) Find(path ClaimPath) Finding {
	if len(path) == 0 {
		return Finding{}
	}
	withheld := slices.Contains(s.withheld, path[0])
	for _, source := range s.sources {
		if value, ok := within(source, path); ok {
			return Finding{Values: valuesOf(value), Stated: true, Withheld: withheld}
		}
	}
	return Finding{
		Withheld: withheld || slices.ContainsFunc(s.sources, func(source map[string]any) bool {
			return withholds(source, path[0])
		}),
		Unavailable: slices.Contains(s.unavailable, path[0]),
	}
}

func withholds(source map[string]any, name string) bool {
	distributed, _ := source["_claim_names"].(map[string]any)
	if _, named := distributed[name]; named {
		return true
	}
	_, stated := source[name]
	has, _ := source["hasgroups"].(bool) // of the implicit flow
	return has && name == "groups" && !stated
}

func within(object map[string]any, path ClaimPath) (any, bool) {
	var value any = object
	for _, name := range path {
		inner, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = inner[name]; !ok {
			return nil, false
		}
	}
	return value, value != nil
}

func valuesOf(value any) []string {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var out []string
	for _, one := range list {
		if text, ok := textOf(one); ok && len(text) <= maxValue && len(out) < maxValues {
			out = append(out, text)
		}
	}
	return out
}

func textOf(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return fmt.Sprint(v), true
	}
	return "", false
}
