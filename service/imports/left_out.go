package imports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
)

// noteKeys adds how many keys are left out or open less than before.
func (w *work) noteKeys(b *keyRows) {
	if b.taken > 0 {
		w.out.LeftOut = append(w.out.LeftOut, contract.LeftOut{
			Code:    "keys_taken",
			Subject: fmt.Sprint(b.taken),
			Detail: "Your team already has keys with these secrets, in this or another project. The existing keys " +
				"continue to work, and the keys in the zip aren't imported. Create new keys for their owners.",
		})
	}
	if b.revoked > 0 {
		w.out.LeftOut = append(w.out.LeftOut, contract.LeftOut{
			Code:    "keys_revoked",
			Subject: fmt.Sprint(b.revoked),
			Detail: "Your team revoked keys with these secrets after the export. The keys in the zip aren't " +
				"imported. Create new keys for their owners.",
		})
	}
	if b.narrowed > 0 {
		w.out.LeftOut = append(w.out.LeftOut, contract.LeftOut{
			Code:    "keys_narrowed",
			Subject: fmt.Sprint(b.narrowed),
			Detail: "The keys belong to a product that the project is no longer part of. They are valid only for " +
				"the imported project.",
		})
	}
}

// leftOut lists what the new project does not have as the exported one had it, what was noted
// while writing included.
func (w *work) leftOut() []contract.LeftOut {
	return slices.Concat(w.ofIDs(), w.ofOptions(), w.ofTenants(), w.ofUpstreams(), w.ofLogin(), w.out.LeftOut,
		warn(w.checked.warnings), w.ofTeam())
}

// ofIDs says which ids are new.
func (w *work) ofIDs() []contract.LeftOut {
	var changed []string
	for _, noun := range slices.Sorted(maps.Keys(w.changedIDs)) {
		changed = append(changed, fmt.Sprintf("%s (%d)", noun, w.changedIDs[noun]))
	}
	if len(changed) == 0 {
		return nil
	}
	return []contract.LeftOut{{
		Code:    "new_ids",
		Subject: strings.Join(changed, ", "),
		Detail: "They have new IDs, because their IDs in the zip are taken here or aren't valid. Update everything " +
			"that refers to them by ID.",
	}}
}

// ofOptions lists what the export's options left out, or added for other gateways.
func (w *work) ofOptions() (out []contract.LeftOut) {
	options := w.contents.Manifest.Options
	switch {
	case !options.Consumers:
		out = append(out, contract.LeftOut{
			Code: "consumers_left_out",
			Detail: "The export was created without consumers, so it contains no users, groups, keys or object " +
				"owners. To include them, export again with consumers.",
		})
	case options.Keys == bundle.KeysNone:
		out = append(out, contract.LeftOut{
			Code: "keys_left_out",
			Detail: "The export was created without keys. To let callers keep their keys, export again with keys set " +
				"to hashes.",
		})
	case options.Keys == bundle.KeysMint:
		out = append(out, contract.LeftOut{
			Code: "minted_keys",
			Detail: "The new keys in minted.csv are for the exported gateway and aren't imported. The existing keys " +
				"are.",
		})
	}
	if w.project.Deleted {
		out = append(out, contract.LeftOut{
			Code:   "was_deleted",
			Detail: "The project was in the trash when it was exported. The imported project accepts calls.",
		})
	}
	return out
}

func (w *work) ofTenants() (out []contract.LeftOut) {
	for _, t := range w.project.Tenants {
		if w.existing[t.ID] {
			out = append(out, contract.LeftOut{
				Code:    "tenant_exists",
				Subject: t.Name,
				Detail: "The team already has a tenant with this name, and the project uses it unchanged. The users, " +
					"groups, sign-up policy, app clients and CORS settings in the zip aren't imported.",
			})
		}
	}
	return out
}

// ofUpstreams lists the credentials that upstreams recognize calls by, and the host names of environments.
func (w *work) ofUpstreams() (out []contract.LeftOut) {
	for _, v := range w.project.Versions {
		if v.Access.Introspection().HasSecret {
			out = append(out, contract.LeftOut{
				Code:    "introspection_secret",
				Subject: v.Name,
				Detail: "The zip doesn't contain the client secret of the introspection endpoint. Enter it under " +
					"Access.",
			})
		}
		for _, e := range v.Environments {
			out = append(out, ofEnvironment(v.Name+"/"+e.Name, e)...)
		}
	}
	if len(w.project.CallSigningKeys) > 0 {
		out = append(out, contract.LeftOut{
			Code: "call_signing",
			Detail: "Calls aren't signed, because the zip doesn't contain the private keys. Turn on call signing and " +
				"give upstreams the new public key.",
		})
	}
	return out
}

func ofEnvironment(name string, e snapshot.Environment) (out []contract.LeftOut) {
	for _, h := range e.Headers {
		out = append(out, contract.LeftOut{
			Code:    "upstream_header",
			Subject: name + ": " + h.Name,
			Detail:  "The zip doesn't contain the value of the header. Set the header for the environment.",
		})
	}
	if e.Certificate != nil {
		out = append(out, contract.LeftOut{
			Code:    "client_certificate",
			Subject: name,
			Detail: "The zip doesn't contain the private key of the client certificate. Upload the certificate with " +
				"its key.",
		})
	}
	for i := range e.Domains {
		out = append(out, contract.LeftOut{
			Code:    "custom_domain",
			Subject: name + ": " + e.Domains[i].Key(),
			Detail:  "Add the domain again and verify it.",
		})
	}
	return out
}

// ofLogin lists the changes that applications and signed-in users notice, and the providers that had to be disabled.
func (w *work) ofLogin() (out []contract.LeftOut) {
	for _, t := range w.project.Tenants {
		if w.existing[t.ID] { // whose app clients aren't imported
			continue
		}
		for _, one := range w.checked.clients[t.ID] {
			out = append(append(out, warn(one.Warnings)...), contract.LeftOut{
				Code:    "issuer_changed",
				Subject: one.Client.Name,
				Detail: "The app client's issuer is now " + w.service.AppClients.Issuer(w.clients[one.Client.ID]) +
					", with new signing keys. Change the issuer in your applications. Users must sign in again.",
			})
		}
	}
	gone := 0
	for _, user := range w.project.Barred {
		if user.Deleted {
			gone++
		}
	}
	if gone+len(w.project.EndedSessions)+len(w.project.GroupsLeft) > 0 {
		out = append(out, contract.LeftOut{
			Code: "refused_tokens",
			Detail: "Records of ended sessions and deleted users aren't imported, because tokens from the old " +
				"issuers aren't accepted here.",
		})
	}
	return out
}

// ofTeam lists what belongs to the team or stays on the old server.
func (w *work) ofTeam() (out []contract.LeftOut) {
	var hosts []string
	for _, hook := range w.project.Webhooks {
		hosts = append(hosts, hook.Host)
	}
	if len(hosts) > 0 {
		out = append(out, contract.LeftOut{
			Code:    "webhooks",
			Subject: strings.Join(hosts, ", "),
			Detail: "Webhooks belong to the team. The zip doesn't contain their URLs or secrets. Add the webhooks " +
				"again.",
		})
	}
	return append(out, contract.LeftOut{
		Code:   "history",
		Detail: "The zip doesn't contain sessions, usage or the audit log. They remain on the old server.",
	})
}
