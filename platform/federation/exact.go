package federation

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"postern/platform/exactjson"
)

// exactClient returns a copy of a bounded client for go-oidc and oauth2, which decode with encoding/json: it compares
// names without case, and takes the last of a repeated one. They get JSON in which neither matters.
func exactClient(client *http.Client) *http.Client {
	out := *client
	next := client.Transport
	out.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
			if text, err = exactObject(text); err != nil {
				return nil, err
			}
		}
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		return response, nil
	})
	return &out
}

// noAccessToken replaces a missing access token. Tokens can't have this character (RFC 6749, A.12).
const noAccessToken = "\u00a0"

// exactObject returns an object without the members that encoding/json could take for another one: those whose names
// aren't lowercase ASCII, as all names of OAuth and OpenID Connect are. expires_in becomes a whole number, which
// oauth2 demands, and is left out if it can't be read. An ID token without an access token gets noAccessToken, because
// oauth2 demands one. An AnswerError for a repeated name.
func exactObject(text []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if exactjson.Unmarshal(text, &members) != nil {
		return nil, AnswerError("its response isn't JSON with unique member names")
	}
	for name := range members {
		if strings.ContainsFunc(name, func(r rune) bool { return r >= 'A' && r <= 'Z' || r > '~' }) {
			delete(members, name)
		}
	}
	if raw, ok := members["expires_in"]; ok {
		seconds, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
		if err != nil || seconds < 0 || seconds > math.MaxInt32 {
			delete(members, "expires_in")
		} else {
			members["expires_in"] = json.RawMessage(strconv.FormatInt(int64(seconds), 10))
		}
	}
	_, hasID := members["id_token"]
	if access := string(members["access_token"]); hasID && (access == "" || access == "null" || access == `""`) {
		members["access_token"] = json.RawMessage(strconv.Quote(noAccessToken))
	}
	return json.Marshal(members)
}
