package projects

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"postern/core/snapshot"
	"postern/platform/egress"
	"postern/platform/fault"
)

// checkIssuerAddresses checks the addresses that the gateway fetches issuers' keys from,
// as targets are checked. It looks up host names, so it is called outside of transactions.
// It skips addresses that checkIssuers refuses by their form, or as the server's own.
func (s *Service) checkIssuerAddresses(
	ctx context.Context, prefix string, pairs []snapshot.TokenIssuer,
) ([]fault.Field, error) {
	if len(pairs) > maxIssuers {
		return nil, nil
	}
	ctx, stop := context.WithTimeout(ctx, resolveWithin)
	defer stop()
	refusals := map[string]*fault.Error{}
	var wrong []fault.Field
	for i, pair := range pairs {
		at := fmt.Sprintf("%s%s/%d", prefix, pairsPointer, i)
		for _, address := range []struct{ member, raw string }{{"/iss", pair.Issuer}, {"/jwks_url", pair.JWKSURL}} {
			if checkTrusted(address.raw, "") != nil || snapshot.IsOwnIssuer(s.PublicURL, address.raw) {
				continue
			}
			refusal, ok := refusals[address.raw]
			if !ok {
				var err error
				if refusal, err = s.checkAddress(ctx, address.raw); err != nil {
					return nil, err
				}
				refusals[address.raw] = refusal
			}
			// With a jwks_url the issuer is only compared, never dialed.
			isNameOnly := address.member == "/iss" && pair.JWKSURL != ""
			if refusal == nil || isNameOnly && refusal.Code == egress.CodeUnresolvable {
				continue
			}
			wrong = append(wrong, fault.Field{Pointer: at + address.member, Code: refusal.Code, Detail: refusal.Public})
		}
	}
	return wrong, nil
}

// newIssuers returns want with the pairs in have blanked, so that an issuer whose name
// does not resolve at the moment does not block other changes.
func newIssuers(have, want []snapshot.TokenIssuer) []snapshot.TokenIssuer {
	out := slices.Clone(want)
	for i, pair := range want {
		if slices.Contains(have, pair) {
			out[i] = snapshot.TokenIssuer{}
		}
	}
	return out
}

// checkAddress returns the guard's refusal of the address, nil if it is allowed. Any
// other failure is the error.
func (s *Service) checkAddress(ctx context.Context, raw string) (*fault.Error, error) {
	_, err := s.Targets.CheckTarget(ctx, raw)
	if refusal, ok := errors.AsType[*fault.Error](err); ok && refusal.Kind == fault.Invalid {
		return refusal, nil
	}
	return nil, err
}
