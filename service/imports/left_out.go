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
			Detail: "Keys with the same secrets are on this server already, in this or another project. They are " +
				"left out here, and go on working where they are. Create new keys for their owners.",
		})
	}
	if b.revoked > 0 {
		w.out.LeftOut = append(w.out.LeftOut, contract.LeftOut{
			Code:    "keys_revoked",
			Subject: fmt.Sprint(b.revoked),
			Detail: "Keys with the same secrets were revoked on this server after the export was made. They stay " +
				"revoked and are left out. Create new keys for their owners.",
		})
	}
	if b.narrowed > 0 {
		w.out.LeftOut = append(w.out.LeftOut, contract.LeftOut{
			Code:    "keys_narrowed",
			Subject: fmt.Sprint(b.narrowed),
			Detail:  "Keys of a product that the project is no longer in open the imported project alone.",
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
		Detail: "They have new ids, because ids in the zip are taken here or are not ids of this product. Change " +
			"them where you refer to them by id.",
	}}
}

// ofOptions is what the export was asked to leave out, or to add for other gateways.
func (w *work) ofOptions() (out []contract.LeftOut) {
	options := w.contents.Manifest.Options
	switch {
	case !options.Consumers:
		out = append(out, contract.LeftOut{
			Code: "consumers_left_out",
			Detail: "The export was made without consumers: it has no users, groups, keys and owners of objects. " +
				"Export again with them.",
		})
	case options.Keys == bundle.KeysNone:
		out = append(out, contract.LeftOut{
			Code: "keys_left_out",
			Detail: "The export was made without keys. Export again with keys set to hashes if callers are to keep " +
				"theirs.",
		})
	case options.Keys == bundle.KeysMint:
		out = append(out, contract.LeftOut{
			Code:   "minted_keys",
			Detail: "The new keys in minted.csv are for the exported gateway and are not imported. The old ones are.",
		})
	}
	if w.project.Deleted {
		out = append(out, contract.LeftOut{
			Code:   "was_deleted",
			Detail: "The project was in the bin when it was exported. The new project serves calls.",
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
				Detail: "The team has a tenant of this name. The project uses it as it is: users, groups, sign-up " +
					"policy, app clients and CORS of the one in the zip are not imported.",
			})
		}
	}
	return out
}

// ofUpstreams is what upstreams recognize calls by, and the host names of environments.
func (w *work) ofUpstreams() (out []contract.LeftOut) {
	for _, v := range w.project.Versions {
		if v.Access.Opaque.HasSecret {
			out = append(out, contract.LeftOut{
				Code:    "introspection_secret",
				Subject: v.Name,
				Detail:  "The client secret of the introspection endpoint is not in the zip. Enter it under Access.",
			})
		}
		for _, e := range v.Environments {
			out = append(out, ofEnvironment(v.Name+"/"+e.Name, e)...)
		}
	}
	if len(w.project.CallSigningKeys) > 0 {
		out = append(out, contract.LeftOut{
			Code: "call_signing",
			Detail: "Calls are not signed: the private keys are not in the zip. Turn call signing on, and give " +
				"upstreams the new public key.",
		})
	}
	return out
}

func ofEnvironment(name string, e snapshot.Environment) (out []contract.LeftOut) {
	for _, h := range e.Headers {
		out = append(out, contract.LeftOut{
			Code:    "upstream_header",
			Subject: name + ": " + h.Name,
			Detail:  "The value of the header is not in the zip. Set it for the environment.",
		})
	}
	if e.Certificate != nil {
		out = append(out, contract.LeftOut{
			Code:    "client_certificate",
			Subject: name,
			Detail:  "The private key of the client certificate is not in the zip. Upload both.",
		})
	}
	for _, host := range e.Hosts {
		out = append(out, contract.LeftOut{
			Code:    "custom_domain",
			Subject: name + ": " + host,
			Detail:  "Add the host name, and prove again that it is yours.",
		})
	}
	return out
}

// ofLogin is what applications and signed-in users notice.
func (w *work) ofLogin() (out []contract.LeftOut) {
	for _, t := range w.project.Tenants {
		for _, one := range w.checked.clients[t.ID] {
			if w.existing[t.ID] {
				continue
			}
			out = append(out, contract.LeftOut{
				Code:    "issuer_changed",
				Subject: one.Client.Name,
				Detail: "The issuer of the app client is " + w.service.Login.Issuer(w.clients[one.Client.ID]) +
					" now, " +
					"with new signing keys: applications use it instead of the old one, and users sign in again.",
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
			Code:   "refused_tokens",
			Detail: "Ended sessions and deleted users are not imported: no token of the old issuers is accepted here.",
		})
	}
	return out
}

// ofTeam is what belongs to the team or stays behind with the old server.
func (w *work) ofTeam() (out []contract.LeftOut) {
	var hosts []string
	for _, hook := range w.project.Webhooks {
		hosts = append(hosts, hook.Host)
	}
	if len(hosts) > 0 {
		out = append(out, contract.LeftOut{
			Code:    "webhooks",
			Subject: strings.Join(hosts, ", "),
			Detail:  "Webhooks belong to the team, and their addresses and secrets are not in the zip. Add them again.",
		})
	}
	return append(out, contract.LeftOut{
		Code:   "history",
		Detail: "Sessions, usage and the audit log are not in the zip. They stay with the old server.",
	})
}
