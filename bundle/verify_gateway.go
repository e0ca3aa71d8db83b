package bundle

import (
	"fmt"
	"slices"
	"strings"

	"postern/core/policy"
	"postern/core/snapshot"
)

const gatewayFile = "gateway/gateway.yaml"

// gatewayKeys is the prefix of the JSON Pointers to the entries of gateway.yaml's key
// table.
const gatewayKeys = "/plugins/0/config/keys/"

// gatewayFiles are files that every export of format gateway has.
var gatewayFiles = []string{
	gatewayFile,
	"gateway/plugins/kong/plugins/postern-auth/handler.lua",
	"gateway/plugins/kong/plugins/postern-auth/schema.lua",
	"gateway/plugins/kong/plugins/postern-auth/limits.lua",
	"gateway/plugins/kong/plugins/postern-auth/addresses.lua",
	"gateway/docker-compose.yaml",
	"gateway/start.sh",
	"gateway/README.md",
	"gateway/add-key.sh",
	"verify/probes.jsonl",
	"verify/verify.sh",
}

// required checks that the files of an export with these options exist.
func (v *verifier) required(options ManifestOptions, config projectDoc) error {
	names := []string{guideFile, readmeFile, reportTextFile}
	switch options.Format {
	case FormatData:
	case FormatGateway:
		names = append(names, gatewayFiles...)
	default:
		return problem(manifestFile, "format %q is neither %s nor %s", options.Format, FormatData, FormatGateway)
	}
	for _, t := range config.Tenants {
		folder := tenantFolder(t.Name) + "keys/"
		switch options.Keys {
		case KeysNone:
		case KeysHashes:
			names = append(names, folder+"keys.jsonl")
		case KeysMint:
			names = append(names, folder+"keys.jsonl", folder+"minted.csv", folder+"NOTICE.md")
		default:
			return problem(manifestFile, "keys is %q, not %s, %s or %s",
				options.Keys, KeysHashes, KeysMint, KeysNone)
		}
	}
	for _, name := range names {
		if _, have := v.files[name]; !have {
			return problem(name, "it is missing")
		}
	}
	return nil
}

// gatewayNeeds records the entries that the gateway's key table must have for a row, one for each sum of an accepted
// key.
func (l *ledgerCheck) gatewayNeeds(row keyDoc, k *snapshot.Key, ref rowRef) {
	if l.report.Manifest.Options.Format != FormatGateway {
		return
	}
	if k.State != snapshot.KeyActive && k.State != snapshot.KeyFrozen {
		for _, sum := range []*string{&row.SHA256, row.PreviousSHA256} {
			if l.revoked && sum != nil {
				l.entries[l.hash(*sum+" "+essence(RevokedEntry))] = ref
			}
		}
		return
	}
	line := k.ID + " tenant=" + k.TenantID
	if k.Environment != "" {
		line += " env=" + k.Environment
	}
	if k.Limits != nil {
		line += " limits=" + limitsLine(*k.Limits)
	}
	if len(k.AllowedIPs) > 0 {
		line += " ips=" + strings.Join(rangeTexts(k.AllowedIPs), ",")
	}
	if k.State == snapshot.KeyFrozen {
		line += " frozen"
	}
	if k.OwnerFrozen {
		line += " user_frozen"
	}
	line += KeptIdentity(k, l.metadata) + " consumer=" + policy.ConsumerID(k.ProjectID, k.Owner) + " owner=" + k.Owner
	for _, sum := range []*string{&row.SHA256, row.PreviousSHA256, row.MintedSHA256} {
		if sum != nil {
			l.entries[l.hash(*sum+" "+line)] = ref
		}
	}
}

// RevokedEntry is the entry of a revoked key in the gateway's key table.
const RevokedEntry = "revoked"

// NeedsRevoked reports whether the gateway's key table has revoked keys for a version of a project that may have
// imported keys. If callers send keys in Authorization, the gateway treats the value as a token or as a credential for
// the upstream, unless it is a key in any state. In other places, an unknown key gets the same response as a revoked
// one.
func NeedsRevoked(auth snapshot.RequestsAuth, imported bool) bool {
	return ReadsAuthorization(auth) || imported && auth.TakesTokens()
}

// ReadsAuthorization reports whether callers of a version send keys in Authorization.
func ReadsAuthorization(auth snapshot.RequestsAuth) bool {
	return auth.Allows(snapshot.APIKey) && slices.ContainsFunc(auth.APIKey.Places(), func(p snapshot.KeyPlace) bool {
		return policy.SameHeader(p.Header, "Authorization")
	})
}

// limitsLine returns limits in the form of the gateway's key table: "none", or for
// example "hour:100,day:1000", shortest window first.
func limitsLine(limits snapshot.Limits) string {
	var parts []string
	for _, window := range limited(limits) {
		parts = append(parts, fmt.Sprintf("%s:%d", window, limits[window]))
	}
	if len(parts) == 0 {
		return noLimit
	}
	return strings.Join(parts, ",")
}

// gatewayKey removes an entry of the gateway's key table from those that are required.
func (l *ledgerCheck) gatewayKey(name, at string, value any) error {
	sum, ok := strings.CutPrefix(at, gatewayKeys)
	if name != gatewayFile || !ok {
		return nil
	}
	line, ok := value.(string)
	id := l.hash(sum + " " + essence(line))
	if _, have := l.entries[id]; !ok || !have {
		return problem(name, "no key row has the id, owner, environment, limits, ranges and state of the entry %s, "+
			"or the entry appears twice", sum)
	}
	delete(l.entries, id)
	return nil
}

// essence removes the parts of an entry that its row has in another form. The owner comes last and may contain spaces;
// no other value does.
func essence(line string) string {
	head, owner, _ := strings.Cut(line, " owner=")
	var kept []string
	for _, word := range strings.Split(head, " ") {
		if !strings.HasPrefix(word, "type=") && !strings.HasPrefix(word, "scopes=") &&
			!strings.HasPrefix(word, "until=") {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ") + " owner=" + owner
}

// gatewayHasAll checks that the gateway's key table has every required entry.
func (l *ledgerCheck) gatewayHasAll() error {
	for _, ref := range l.entries {
		return problem(gatewayFile, "it doesn't have an entry for line %d of %s", ref.line+1, ref.file)
	}
	return nil
}
