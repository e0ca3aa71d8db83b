package policy

import (
	"encoding/base64"
	"slices"
	"strings"

	"postern/core/snapshot"
)

// KeyPlaces has the places where callers of a version send their keys. A nil *KeyPlaces means X-API-Key alone. It is
// immutable.
type KeyPlaces struct {
	headers       []snapshot.KeyPlace // without Authorization
	authorization *snapshot.KeyPlace  // nil: Authorization isn't a place
	query         []string
	cookies       []string
	protocol      bool // Sec-WebSocket-Protocol is a place

	required, either, inAuthorization, noTokens Denial // as this version says them
	challenge, eitherChallenge                  string
}

// CompileKeyPlaces returns the places of a version, or nil for X-API-Key alone.
func CompileKeyPlaces(a snapshot.APIKeyAuth) *KeyPlaces {
	if a.IsDefault() {
		return nil
	}
	p := &KeyPlaces{challenge: WWWAuthenticateValue, eitherChallenge: EitherRequired.Challenge()}
	for _, place := range a.Places() {
		switch {
		case place.Header != "" && sameHeader(place.Header, "authorization"):
			p.authorization = &place
		case place.Header != "":
			p.headers = append(p.headers, place)
		case place.Query != "":
			p.query = append(p.query, place.Query)
		case place.Cookie != "":
			p.cookies = append(p.cookies, place.Cookie)
		case place.WebSocketProtocol:
			p.protocol = true
		}
	}
	if p.authorization != nil && p.authorization.IsScheme() {
		p.challenge = p.authorization.Prefix + ` realm="postern"`
		p.eitherChallenge = p.challenge + ", Bearer"
		if strings.EqualFold(p.authorization.Prefix, "Bearer") {
			p.eitherChallenge = p.challenge
		}
	}
	says := func(d Denial) Denial {
		d.Message = strings.Replace(d.Message, defaultKeyPlace, KeyPlaceText(a), 1)
		return d
	}
	p.required, p.either = says(CredentialsRequired), says(EitherRequired)
	p.inAuthorization, p.noTokens = says(KeyInAuthorization), says(TokensNotAccepted)
	return p
}

// defaultKeyPlace is KeyPlaceText of X-API-Key, as the denials have it.
const defaultKeyPlace = "in the X-API-Key header"

// KeyPlaceText says where keys belong, after a verb: "in the X-API-Key header", "as Authorization: Bearer".
func KeyPlaceText(a snapshot.APIKeyAuth) string {
	var texts []string
	for _, place := range a.Places() {
		switch {
		case place.Header != "" && place.Prefix != "":
			texts = append(texts, "as "+place.Header+": "+place.Prefix)
		case place.Header != "":
			texts = append(texts, "in the "+place.Header+" header")
		case place.Query != "":
			texts = append(texts, "in the "+place.Query+" query parameter")
		case place.Cookie != "":
			texts = append(texts, "in the "+place.Cookie+" cookie")
		default:
			texts = append(texts, "as the WebSocket protocol "+snapshot.KeyProtocol+"KEY, with KEY in base64url")
		}
	}
	if last := len(texts) - 1; last > 0 {
		return strings.Join(texts[:last], ", ") + " or " + texts[last]
	}
	return strings.Join(texts, "")
}

// Name returns the denial in this version's words, which name the place of its keys.
func (p *KeyPlaces) Name(d Denial) Denial {
	if p == nil {
		return d
	}
	switch d {
	case CredentialsRequired:
		return p.required
	case EitherRequired:
		return p.either
	case KeyInAuthorization:
		return p.inAuthorization
	case TokensNotAccepted:
		return p.noTokens
	}
	return d
}

// Challenge is Denial.Challenge for this version. If keys are sent in Authorization, it names their scheme.
func (p *KeyPlaces) Challenge(d Denial) string {
	switch challenge := d.Challenge(); {
	case p == nil || challenge == "":
		return challenge
	case d == p.either || d == EitherRequired:
		return p.eitherChallenge
	case challenge == WWWAuthenticateValue:
		return p.challenge
	default:
		return challenge
	}
}

// Named lists the denials that name the place of keys.
func (p *KeyPlaces) Named() (required, either, inAuthorization, noTokens Denial) {
	return p.Name(CredentialsRequired), p.Name(EitherRequired), p.Name(KeyInAuthorization), p.Name(TokensNotAccepted)
}

// Challenges returns the challenges for a call without a key: to a version that accepts keys alone, and to one that
// accepts tokens too.
func (p *KeyPlaces) Challenges() (keys, either string) {
	return p.Challenge(p.Name(CredentialsRequired)), p.Challenge(p.Name(EitherRequired))
}

// KeySource gives access to the parts of a call that can contain keys. It finds headers by their exact name, ignoring
// case.
type KeySource interface {
	First(header string) (value string, lines int)
	All(header string) []string
	Query() string // with its question mark, "" for none
}

// PresentedKey is the result of looking for keys in a call.
type PresentedKey struct {
	Count int    // of the values outside of Authorization; a call with more than one is refused
	Text  string // the first of them

	// Authorization has the key of that line, if Sure or Maybe. A call whose other places are empty is refused if that
	// isn't a key and the version is Sure. Otherwise it counts only if it is a key: it can be a token or another
	// credential, which is left alone.
	Authorization string
	Sure, Maybe   bool
}

// Read looks for keys in the places of a call. tokens says whether the version accepts tokens.
func (p *KeyPlaces) Read(from KeySource, tokens bool) (found PresentedKey) {
	add := func(value string) {
		if found.Count++; found.Count == 1 {
			found.Text = value
		}
	}
	for i := range p.headers {
		if value, lines := from.First(p.headers[i].Header); lines > 1 {
			found.Count += lines
		} else if key, ok := keyAfterPrefix(value, &p.headers[i]); lines == 1 && ok {
			add(key)
		}
	}
	if len(p.query) > 0 {
		eachArgument(from.Query(), func(part string) { p.addArgument(part, add) })
	}
	if len(p.cookies) > 0 {
		for _, line := range from.All("Cookie") {
			for pair := range strings.SplitSeq(line, ";") {
				if name, value, _ := strings.Cut(pair, "="); slices.Contains(p.cookies, trimBlanks(name)) {
					add(trimBlanks(value))
				}
			}
		}
	}
	if p.protocol {
		for _, line := range from.All(snapshot.WebSocketProtocolHeader) {
			for entry := range strings.SplitSeq(line, ",") {
				if encoded, ok := strings.CutPrefix(trimBlanks(entry), snapshot.KeyProtocol); ok {
					add(decodeKey(encoded))
				}
			}
		}
	}
	if p.authorization != nil {
		p.readAuthorization(from, tokens, &found)
	}
	return found
}

func (p *KeyPlaces) readAuthorization(from KeySource, tokens bool, found *PresentedKey) {
	line, lines := from.First("Authorization")
	if lines > 1 && !tokens { // of two tokens, the verifier refuses both
		found.Count += lines
	}
	if lines != 1 {
		return
	}
	key, ok := keyAfterPrefix(line, p.authorization)
	if !ok {
		return
	}
	found.Authorization = key
	line = trimBlanks(line)
	_, isToken := BearerToken(line)
	foreign := key == line && strings.ContainsAny(key, " \t") // a credential of another scheme
	found.Sure = WellFormedKey(key) || !foreign && (!tokens || !isToken)
	found.Maybe = !found.Sure
}

// ReadsBearer reports whether keys are sent as Authorization: Bearer.
func (p *KeyPlaces) ReadsBearer() bool {
	return p != nil && p.authorization != nil && strings.EqualFold(p.authorization.Prefix, "Bearer")
}

// keyAfterPrefix returns the key in a line of a header, and false for a line without the prefix.
func keyAfterPrefix(line string, place *snapshot.KeyPlace) (key string, ok bool) {
	line = trimBlanks(line)
	if place.Prefix == "" {
		return line, true
	}
	if n := len(place.Prefix); len(line) >= n && strings.EqualFold(line[:n], place.Prefix) {
		rest := line[n:]
		if rest == "" || !place.IsScheme() || rest[0] == ' ' || rest[0] == '\t' {
			return trimBlanks(rest), true
		}
	}
	return line, place.PrefixOptional
}

func trimBlanks(text string) string { return strings.Trim(text, " \t") }

// decodeKey returns the key in an entry of Sec-WebSocket-Protocol, "" if it isn't base64url.
func decodeKey(encoded string) string {
	key, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return ""
	}
	return string(key)
}

// eachArgument calls fn with the parts of a query.
func eachArgument(query string, fn func(part string)) {
	if query == "" {
		return
	}
	for part := range strings.SplitSeq(query[1:], "&") {
		fn(part)
	}
}

// addArgument adds the value of a part of a query that is a key.
func (p *KeyPlaces) addArgument(part string, add func(value string)) {
	if name, value, _ := strings.Cut(part, "="); slices.Contains(p.query, UnescapeArgument(name)) {
		add(UnescapeArgument(value))
	}
}

// UnescapeArgument decodes %XX, and + to a space, as ngx.unescape_uri does. A % without two digits stays.
func UnescapeArgument(text string) string {
	if !strings.ContainsAny(text, "%+") {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '+' {
			c = ' '
		} else if c == '%' && i+2 < len(text) {
			high, isHigh := unhex(text[i+1])
			low, isLow := unhex(text[i+2])
			if isHigh && isLow {
				c = high<<4 | low
				i += 2
			}
		}
		out = append(out, c)
	}
	return string(out)
}

// Strips reports whether a header can contain a key, in any spelling that an upstream could take for its name. It
// returns false for Authorization, which depends on the call.
func (p *KeyPlaces) Strips(name string) bool {
	for i := range p.headers {
		if SameHeader(p.headers[i].Header, name) {
			return true
		}
	}
	return len(p.cookies) > 0 && sameHeader(name, "cookie") ||
		p.protocol && sameHeader(name, "sec-websocket-protocol")
}

// Strip returns the value of a field that the upstream gets if Strips is true for it, or false if the field is removed.
func (p *KeyPlaces) Strip(name, value string) (rest string, kept bool) {
	switch {
	case len(p.cookies) > 0 && sameHeader(name, "cookie"):
		return p.stripCookies(value)
	case p.protocol && sameHeader(name, "sec-websocket-protocol"):
		return stripProtocols(value)
	}
	return "", false
}

func (p *KeyPlaces) stripCookies(line string) (rest string, kept bool) {
	isKey := func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(p.cookies, trimBlanks(name))
	}
	return without(line, ";", isKey)
}

// stripProtocols removes the protocols that are the gateway's.
func stripProtocols(line string) (rest string, kept bool) {
	return without(line, ",", func(entry string) bool {
		entry = trimBlanks(entry)
		return entry == OwnProtocol || strings.HasPrefix(entry, snapshot.KeyProtocol)
	})
}

// without removes parts of a line, and leaves the bytes of the others alone. It returns false if none is left.
func without(line, separator string, removes func(part string) bool) (rest string, kept bool) {
	var parts []string
	removed := false
	for part := range strings.SplitSeq(line, separator) {
		if removes(part) {
			removed = true
		} else {
			parts = append(parts, part)
		}
	}
	if !removed {
		return line, true
	}
	rest = trimBlanks(strings.Join(parts, separator))
	return rest, rest != ""
}

// StripQuery removes keys from a query with its question mark, and leaves the bytes of other parameters alone. As Kong
// does, it leaves a question mark alone at the end of a target (kong/runloop/handler.lua, access.after).
func (p *KeyPlaces) StripQuery(query string) string {
	if len(p.query) == 0 || query == "" {
		return query
	}
	rest, kept := without(query[1:], "&", func(part string) bool {
		name, _, _ := strings.Cut(part, "=")
		return slices.Contains(p.query, UnescapeArgument(name))
	})
	switch {
	case kept:
		return "?" + rest
	case strings.HasSuffix(query, "?"):
		return "?"
	}
	return ""
}

// OwnProtocol is the gateway's own protocol of WebSockets.
const OwnProtocol = snapshot.GatewayProtocol

// OffersOwnProtocol reports whether a caller offers the gateway's own protocol of WebSockets, with which the gateway
// answers if the upstream selects none.
func (p *KeyPlaces) OffersOwnProtocol(from KeySource) bool {
	if p == nil || !p.protocol {
		return false
	}
	for _, line := range from.All(snapshot.WebSocketProtocolHeader) {
		for entry := range strings.SplitSeq(line, ",") {
			if trimBlanks(entry) == OwnProtocol {
				return true
			}
		}
	}
	return false
}

// HasKey reports whether a header line contains a key, alone or after a scheme. Such a line isn't forwarded.
func HasKey(line, key string) bool {
	line, key = trimBlanks(line), trimBlanks(key)
	before, ok := strings.CutSuffix(line, key)
	return ok && key != "" && (before == "" || before[len(before)-1] == ' ' || before[len(before)-1] == '\t')
}

// CanCarryKeys reports whether a header may be a place for keys. Its name has only letters, digits, hyphens and
// underscores, and the header isn't hop-by-hop, doesn't describe the message or the calling page, and isn't one of the
// gateway's own.
func CanCarryKeys(name string) bool {
	plain := strings.ReplaceAll(name, "_", "-")
	return CanSetForUpstream(plain) && !inFamily(plain, "accept") && !inFamily(plain, "access-control-") &&
		!inFamily(plain, "x-kong-") && !inFamily(plain, "x-accel-") && !IsLimitHeader(plain) &&
		!isAmong(plain, "origin", "user-agent", "referer", "date", "cache-control", "pragma", "priority", "traceparent",
			"tracestate", "last-event-id")
}
