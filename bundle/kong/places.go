package kong

import (
	"slices"
	"strings"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// apiKeyDoc says where callers of a route send their keys, and how refusals word that.
type apiKeyDoc struct {
	In              []snapshot.KeyPlace `json:"in"`
	Messages        map[string]string   `json:"messages"` // by the plugin's name of the refusal
	Challenge       string              `json:"challenge"`
	EitherChallenge string              `json:"either_challenge"`
}

// apiKeyOf returns nil for X-API-Key, which is the plugin's default, and for a version that doesn't accept keys.
func apiKeyOf(access snapshot.Access) *apiKeyDoc {
	if !access.Allows(snapshot.APIKey) || access.APIKey.IsDefault() {
		return nil
	}
	compiled := policy.CompileKeyPlaces(access.APIKey)
	required, either, inAuthorization, noTokens := compiled.Named()
	out := &apiKeyDoc{In: access.APIKey.Places(), Messages: map[string]string{
		"credentials_required": required.Message,
		"either_required":      either.Message,
		"key_in_authorization": inAuthorization.Message,
		"tokens_not_accepted":  noTokens.Message,
	}}
	out.Challenge, out.EitherChallenge = compiled.Challenges()
	return out
}

// sendsMetadata reports whether a version of the project sends the metadata of keys to its upstream.
func sendsMetadata(p *snapshot.Project) bool {
	return slices.ContainsFunc(p.Versions, func(v snapshot.Version) bool { return v.Access.SendsMetadata() })
}

// keyMark stands for a key in a probe and in the files that send one.
const keyMark = "{key}"

// samplePlace returns the place where scripts send keys, and false if there is none: a shell can't encode a key for the
// protocols of a WebSocket.
func samplePlace(a snapshot.APIKeyAuth) (snapshot.KeyPlace, bool) {
	for _, place := range a.Places() {
		if !place.WebSocketProtocol {
			return place, true
		}
	}
	return snapshot.KeyPlace{}, false
}

// carrying returns a header line and a query that carry a key; "" for none. The key may be keyMark.
func carrying(place snapshot.KeyPlace, key string) (header, query string) {
	const stand = "KEY" // that needs no escaping
	sample := place.Sample(stand)
	return strings.Replace(sample.Header, stand, key, 1), strings.Replace(sample.Query, stand, key, 1)
}

// keyPlacesMark tells start.sh where to send keys on paths where that isn't X-API-Key: a word per path, which is
// PATH|HEADER|QUERY. The header is written with a tilde for each blank.
func keyPlacesMark(b *bundle.Build) string {
	var words []string
	for _, pl := range layoutOf(b).places {
		access := pl.version.Access
		if apiKeyOf(access) == nil {
			continue
		}
		header, query := "", ""
		if place, ok := samplePlace(access.APIKey); ok {
			header, query = carrying(place, keyMark)
		}
		for _, r := range pl.routes {
			if r.domain == nil {
				words = append(words, r.path+"/|"+strings.ReplaceAll(header, " ", "~")+"|"+query)
			}
		}
	}
	return strings.Join(words, " ")
}

// exampleCall returns the arguments of curl for a call to a path with a key.
func exampleCall(b *bundle.Build, path string) string {
	address := "http://127.0.0.1:8000" + path
	for _, pl := range layoutOf(b).places {
		if pl.routes[0].path+"/" != path {
			continue
		}
		sample := pl.version.Access.APIKey.Sample("KEY")
		if sample.Header == "" {
			return "'" + sample.URL(address) + "'"
		}
		return "-H '" + sample.Header + "' " + address
	}
	return "-H '" + snapshot.APIKeyAuth{}.Sample("KEY").Header + "' " + address
}
