package bearer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/json"

	"postern/core/diagnosis"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/platform/egress"
)

// The steps of Inspect, in their order.
const (
	stepDiscovery = "discovery" // the discovery document, which names the issuer and its keys
	stepKeys      = "keys"
	stepCache     = "cache" // the keys that this process verifies with
	stepToken     = "token" // its form, claims and signature
	stepDecision  = "decision"
)

// Inspect fetches an issuer's keys as Verify does, whatever is cached, and reports what it finds. With a token it also
// reports what Verify decides about it with these keys if this were the only issuer, and why. Neither the token nor the
// keys are kept.
func (v *Verifier) Inspect(
	ctx context.Context, issuer snapshot.TokenIssuer, token string, now time.Time,
) diagnosis.Report {
	var report diagnosis.Report
	ctx, stop := context.WithTimeout(ctx, fetchTimeout)
	defer stop()
	keys := v.inspectKeys(ctx, issuer, &report)
	v.inspectCache(issuer, now, &report)
	if token == "" {
		return report
	}
	inspectToken(&report, token, issuer, keys, now)
	var into policy.Token
	only := policy.Issuers{Named: []snapshot.TokenIssuer{issuer}}
	denial := v.trial(issuer, keys, now).Verify(ctx, token, only, now, &into)
	if denial != (policy.Denial{}) {
		report.Fail(stepDecision, "The gateway would return %d %s.", denial.Status, denial.Code)
		return report
	}
	report.Pass(stepDecision, "The gateway accepts the token of the user %s until %s.",
		diagnosis.Quote(into.Subject), into.Expires.Format(time.RFC3339))
	return report
}

// trial returns a verifier with nothing but the keys of an issuer, nil if they could not be fetched. It fetches none
// itself. The issuer of a test need not be configured anywhere, and would stay among the verifier's own.
func (v *Verifier) trial(issuer snapshot.TokenIssuer, keys []*publicKey, now time.Time) *Verifier {
	out := New(v.client, v.log)
	out.close()
	set := &keySet{verifier: out, source: sourceOf(&issuer), tried: now, failed: keys == nil}
	if keys != nil {
		set.current.Store(&fetchedKeys{keys: keys, at: now})
	}
	out.sets.LoadOrStore(set.source, set)
	return out
}

// inspectKeys fetches the keys; it returns none if that fails.
func (v *Verifier) inspectKeys(
	ctx context.Context, issuer snapshot.TokenIssuer, report *diagnosis.Report,
) []*publicKey {
	at := issuer.JWKSURL
	if at != "" {
		report.Skip(stepDiscovery, "The keys have their own URL, so no discovery document is fetched.")
	} else {
		var err error
		if at, err = v.discover(ctx, issuer.Issuer); err != nil {
			report.Fail(stepDiscovery, "%s: %s", issuer.Issuer+discoveryPath, reasonOf(err))
			return nil
		}
		report.Pass(stepDiscovery, "The document names this issuer and the keys at %s.", at)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := v.get(ctx, at, &set); err != nil {
		report.Fail(stepKeys, "%s: %s", at, reasonOf(err))
		return nil
	}
	keys := readKeys(set.Keys)
	var names []string
	for _, k := range keys {
		report.Keys = append(report.Keys, diagnosis.Key{ID: k.id, Type: k.kind(), Algorithm: k.algorithm})
		for _, name := range k.algorithms() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(keys) == 0 {
		report.Fail(stepKeys, "%s: None of the %d keys can verify tokens. Supported keys are RSA with %d to %d bits, "+
			"EC with P-256 or P-384, and Ed25519.", at, len(set.Keys), minRSA, maxRSA)
		return nil
	}
	report.Pass(stepKeys, "%d of %d keys can verify tokens. Algorithms: %s.", len(keys), len(set.Keys),
		strings.Join(names, ", "))
	return keys
}

// reasonOf says why a document could not be read.
func reasonOf(err error) string {
	if refused, ok := errors.AsType[*documentError](err); ok {
		return refused.text
	}
	return egress.Reason(err)
}

// inspectCache reports when the keys that Verify uses were fetched.
func (v *Verifier) inspectCache(issuer snapshot.TokenIssuer, now time.Time, report *diagnosis.Report) {
	set, ok := v.sets.Load(sourceOf(&issuer))
	if !ok {
		report.Skip(stepCache, "The gateway hasn't needed the keys yet. It fetches them on the first call.")
		return
	}
	have := set.current.Load()
	switch failed := set.lastFetchFailed(); {
	case have == nil:
		report.Warn(stepCache, "The gateway has no keys, because its last fetch failed. It tries again on the next "+
			"call, but at most once every %s.", fetchEvery)
	case failed:
		report.Warn(stepCache, "The gateway uses keys fetched at %s. Its last fetch failed.",
			have.at.Format(time.RFC3339))
	case !have.fresh(now):
		report.Warn(stepCache, "The gateway's keys, fetched at %s, are too old to verify tokens. The gateway fetches "+
			"them again on the next call.", have.at.Format(time.RFC3339))
	default:
		report.Pass(stepCache, "The gateway last fetched the keys at %s.", have.at.Format(time.RFC3339))
	}
}

// inspectToken explains what is wrong with a token, in the order of Verify's checks. It doesn't replace Verify.
func inspectToken(
	report *diagnosis.Report, token string, issuer snapshot.TokenIssuer, keys []*publicKey, now time.Time,
) {
	var parts compact
	if !parts.take(token) || !parts.parse() {
		report.Fail(stepToken, "This isn't a JSON Web Token in compact form, which has three base64url parts "+
			"separated by dots and at most %d bytes. Opaque tokens are checked by introspection.", maxToken)
		return
	}
	head, ok := readHeader(parts.headerText)
	if !ok {
		report.Fail(stepToken, "Its header is malformed, or requires an extension (crit).")
		return
	}
	found, ok := readClaims(parts.payload, false)
	if !ok {
		report.Fail(stepToken, "Its payload isn't a JSON object with claims of the right types, or contains the same "+
			"member twice.")
		return
	}
	wrong := wrongHeader(head)
	wrong = append(wrong, wrongClaims(&found, issuer, now)...)
	if keys != nil {
		wrong = append(wrong, wrongSignature(head, &parts, keys, now)...)
	}
	if len(wrong) > 0 {
		report.Fail(stepToken, "%s", strings.Join(wrong, " "))
		return
	}
	if keys == nil {
		report.Warn(stepToken, "Its claims are valid. Its signature wasn't verified, because there are no keys.")
		return
	}
	report.Pass(stepToken, "Its claims are valid, and its signature is valid for the key %s.",
		diagnosis.Quote(head.keyID))
}

func wrongHeader(head header) []string {
	if algorithms[head.algorithm].family == 0 {
		return []string{fmt.Sprintf("Its alg is %s. Only public-key signatures are accepted, such as RS256 "+
			"and ES256.", diagnosis.Quote(head.algorithm))}
	}
	if !head.isAcceptable() {
		return []string{fmt.Sprintf("Its typ is %s, so it isn't a token for an API.", diagnosis.Quote(head.typ))}
	}
	return nil
}

func wrongClaims(c *claims, issuer snapshot.TokenIssuer, now time.Time) (wrong []string) {
	if c.Issuer != issuer.Issuer {
		wrong = append(wrong, fmt.Sprintf("Its iss is %s, not %s. They must match exactly.", diagnosis.Quote(c.Issuer),
			issuer.Issuer))
	}
	if !slices.Contains(c.Audience, issuer.Audience) {
		wrong = append(wrong, fmt.Sprintf("Its aud is %s, not %s.",
			diagnosis.Quote(strings.Join(c.Audience, " ")), issuer.Audience))
	}
	at := func(seconds float64) string {
		return time.Unix(int64(max(min(seconds, latestEnd), -latestEnd)), 0).UTC().Format(time.RFC3339)
	}
	limit := float64(now.Unix()) + leeway.Seconds()
	switch {
	case c.Expires == nil:
		wrong = append(wrong, "It has no exp, so a stolen token could be used forever.")
	case *c.Expires+leeway.Seconds() <= float64(now.Unix()):
		wrong = append(wrong, "It expired at "+at(*c.Expires)+".")
	}
	if c.NotBefore != nil && *c.NotBefore > limit {
		wrong = append(wrong, "It isn't valid before "+at(*c.NotBefore)+" (nbf).")
	}
	if c.IssuedAt != nil && *c.IssuedAt > limit {
		wrong = append(wrong, "It was issued in the future, at "+at(*c.IssuedAt)+" (iat). Check the clocks.")
	}
	if !policy.IsSubject(c.Subject) {
		wrong = append(wrong, "Its sub is missing or can't be sent in a header.")
	}
	if _, ok := policy.ReadScopes(append(slices.Clip(c.Scope), c.Scopes...)...); !ok {
		wrong = append(wrong, "Its scopes can't be sent in a header.")
	}
	return wrong
}

func wrongSignature(head header, parts *compact, keys []*publicKey, now time.Time) []string {
	if algorithms[head.algorithm].family == 0 {
		return nil
	}
	fitting := (&fetchedKeys{keys: keys, at: now}).matching(head.keyID, head.algorithm, now)
	switch {
	case len(fitting) == 0 && head.keyID != "":
		return []string{fmt.Sprintf("The issuer has no key with the kid %s for %s. The token may be from another "+
			"issuer, or its key may no longer be published.", diagnosis.Quote(head.keyID), head.algorithm)}
	case len(fitting) == 0:
		return []string{"It has no kid, and the issuer doesn't have exactly one key for " + head.algorithm + "."}
	}
	if !fitting[0].verify(head.algorithm, parts.signed, parts.signature) {
		return []string{"Its signature isn't valid for the issuer's key."}
	}
	return nil
}

// kind names the type of a key.
func (k *publicKey) kind() string {
	switch {
	case k.rsa != nil:
		return fmt.Sprintf("RSA %d", k.rsa.N.BitLen())
	case k.curve != nil:
		return "EC " + k.curve.Params().Name
	case k.edwards != nil:
		return "Ed25519"
	}
	return ""
}

// algorithms lists those that a key supports.
func (k *publicKey) algorithms() []string {
	var out []string
	for _, name := range algorithmNames {
		if k.supports(name) {
			out = append(out, name)
		}
	}
	return out
}

var algorithmNames = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"}

// documentError is why a document that was fetched is not used.
type documentError struct{ text string }

func (e *documentError) Error() string { return e.text }

func documentErrorf(text string, args ...any) error {
	return &documentError{fmt.Sprintf(text, args...)}
}
