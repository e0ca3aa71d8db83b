package projects

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/fault"
)

// checkIssuerAddresses judges the addresses that the gateway asks for an issuer's keys,
// as targets are judged. It resolves names, so it is called outside of transactions.
// Addresses that checkIssuers refuses by their spelling, or as our own, are left to it.
func (s *Service) checkIssuerAddresses(
	ctx context.Context,
	prefix string,
	pairs []snapshot.TokenIssuer,
) ([]fault.Field, error) {
	if len(pairs) > maxIssuers {
		return nil, nil
	}
	ctx, stop := context.WithTimeout(ctx, resolveWithin)
	defer stop()
	judged := map[string]*fault.Error{}
	var wrong []fault.Field
	for i, pair := range pairs {
		at := fmt.Sprintf("%s%s/%d", prefix, pairsPointer, i)
		for _, address := range []struct{ member, raw string }{{"/iss", pair.Issuer}, {"/jwks_url", pair.JWKSURL}} {
			if checkTrusted(address.raw, "") != nil || snapshot.IsOwnIssuer(s.PublicURL, address.raw) {
				continue
			}
			refusal, ok := judged[address.raw]
			if !ok {
				var err error
				if refusal, err = s.judgeAddress(ctx, address.raw); err != nil {
					return nil, err
				}
				judged[address.raw] = refusal
			}
			// With a jwks_url the issuer is a name that is compared and never dialled.
			isNameOnly := address.member == "/iss" && pair.JWKSURL != ""
			if refusal == nil || isNameOnly && refusal.Code == egress.CodeUnresolvable {
				continue
			}
			wrong = append(wrong, fault.Field{Pointer: at + address.member, Code: refusal.Code, Detail: refusal.Public})
		}
	}
	return wrong, nil
}

// newIssuers blanks the pairs that the version has already: an issuer whose name does
// not resolve right now does not keep a team from saving the rest of its settings.
func newIssuers(have []models.TokenIssuer, want []snapshot.TokenIssuer) []snapshot.TokenIssuer {
	out := slices.Clone(want)
	for i, pair := range want {
		if slices.Contains(have, models.TokenIssuer(pair)) {
			out[i] = snapshot.TokenIssuer{}
		}
	}
	return out
}

// judgeAddress returns the guard's refusal of the address, or nil; any other failure is
// the error.
func (s *Service) judgeAddress(ctx context.Context, raw string) (*fault.Error, error) {
	_, err := s.Targets.CheckTarget(ctx, raw)
	if refusal, ok := errors.AsType[*fault.Error](err); ok && refusal.Kind == fault.Invalid {
		return refusal, nil
	}
	return nil, err
}
