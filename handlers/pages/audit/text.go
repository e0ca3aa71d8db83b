package audit

import (
	"cmp"
	"strings"

	"postern/bundle"
	"postern/core/contract"
	"postern/models"
	"postern/service/access"
)

// actorText names the actor, as the start of a sentence.
func actorText(e contract.AuditEntry) string {
	switch {
	case e.Actor.Email != nil:
		return *e.Actor.Email
	case e.Actor.ID == access.ActorAnonymous:
		return "A caller without a credential"
	case (e.Action == string(access.ProjectTakedown) || e.Action == string(access.DomainApprove)) &&
		e.Outcome == models.OutcomeDone:
		return "An operator"
	case strings.HasPrefix(e.Actor.ID, "usr_"):
		return "A user"
	case e.Actor.ID == access.ActorCommandLine:
		return "The server's command line"
	case e.Team != nil && e.Actor.ID == access.ActorWorkspaceKey+":"+*e.Team:
		return "The workspace key"
	case strings.HasPrefix(e.Actor.ID, access.ActorWorkspaceKey):
		return "The key of another workspace"
	}
	return "An account outside of this team"
}

// auditText is the rest of the sentence. Actions without a text of their own are described
// by the parts of their name.
func auditText(e contract.AuditEntry) string {
	of := ""
	if e.ProjectName != "" {
		of = " of " + e.ProjectName
	}
	if e.Outcome == models.OutcomeRefused {
		return refusedText(e, of)
	}
	switch access.Action(e.Action) {
	case access.ProjectCreate:
		return "created project " + cmp.Or(e.ProjectName, e.Detail["name"])
	case access.ProjectImport:
		return "imported project " + cmp.Or(e.ProjectName, e.Detail["name"])
	case access.ProjectUpdate:
		if object := e.Detail["object"]; object != "" {
			return pastOf(e.Detail["change"]) + " " + object + of
		}
		what, _, _ := strings.Cut(e.Detail["change"], " of ")
		return "changed the " + cmp.Or(what, "settings") + of
	case access.ProjectDelete, access.ProjectErase, access.ProjectRestore, access.ProjectMove:
		return projectLifeText(e)
	case access.TenantUpdate:
		if change := e.Detail["change"]; change != "" {
			return "changed the " + change + " of tenant " + e.Detail["name"] + of
		}
	case access.KeyCreate:
		return "created key " + keyText(e) + of
	case access.KeyChange:
		return pastOf(e.Detail["change"]) + " key " + keyText(e) + of
	case access.ExportCreate:
		if e.Detail["change"] == "cancel" {
			return "cancelled an export" + of
		}
		return "started an export" + of
	case access.ExportDownload:
		if e.Detail["keys"] == string(bundle.KeysMint) {
			return "downloaded an export with new keys" + of
		}
		if e.Detail["part"] == "ledger" {
			return "downloaded the ledger of an export" + of
		}
		return "downloaded an export" + of
	case access.ProjectTakedown:
		if change, ok := e.Changes["frozen"]; ok && change.After != true {
			return "lifted the takedown of " + cmp.Or(e.ProjectName, e.Detail["name"])
		}
		return "took down project " + cmp.Or(e.ProjectName, e.Detail["name"])
	case access.DomainChange, access.DomainApprove, access.DomainReport:
		return domainText(e) + of
	case access.WorkspaceClaim:
		return "claimed " + cmp.Or(e.Detail["projects"], "a workspace")
	}
	noun, verb, _ := strings.Cut(e.Action, ".")
	return strings.TrimSpace(pastOf(verb) + " " + strings.ReplaceAll(noun, "_", " ") + " " +
		cmp.Or(e.Detail["name"], e.Detail["email"], e.Object) + of)
}

// projectLifeText describes a deletion, restoration or move. The project may be gone by now.
func projectLifeText(e contract.AuditEntry) string {
	name := cmp.Or(e.ProjectName, e.Detail["name"])
	switch access.Action(e.Action) {
	case access.ProjectRestore:
		return "restored project " + name
	case access.ProjectErase:
		return "deleted project " + name + " for good"
	case access.ProjectMove:
		return "moved project " + name + " to another team"
	}
	return "moved project " + name + " to the bin"
}

// domainChanges are the changes of a host name, in the past tense.
var domainChanges = map[string]string{
	"add":            "added",
	"move":           "moved",
	"verify":         "checked",
	"disapprove":     "ended the verification of",
	"record missing": "no longer found the TXT record of",
	"record back":    "found the TXT record again of",
	"lapse":          "gave another project",

	"certificate obtained": "obtained a certificate for",
	"certificate renewed":  "renewed the certificate of",
	"certificate failed":   "could not obtain a certificate for",
}

func domainText(e contract.AuditEntry) string {
	change := e.Detail["change"]
	return cmp.Or(domainChanges[change], pastOf(change)) + " host name " + e.Detail["host"]
}

func refusedText(e contract.AuditEntry, of string) string {
	switch access.Action(e.Action) {
	case access.CredentialUse:
		return "sent a credential that is not valid"
	case access.RequestMake:
		return "sent a request from another site"
	case access.AuditGap:
		return "and others were refused " + e.Detail["dropped"] + " more times than there are entries"
	}
	noun, verb, _ := strings.Cut(e.Action, ".")
	if noun == "project" && e.ProjectName != "" {
		return "tried to " + verb + " project " + e.ProjectName
	}
	return "tried to " + strings.ReplaceAll(verb, "_", " ") + " " + article(strings.ReplaceAll(noun, "_", " ")) + of
}

func article(noun string) string {
	if strings.ContainsAny(noun[:min(1, len(noun))], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}

// keyText shows a key by its last characters, as lists of keys do.
func keyText(e contract.AuditEntry) string {
	if _, last, ok := strings.Cut(e.Detail["key"], "…"); ok {
		return "…" + last
	}
	return e.Object
}

var pasts = map[string]string{
	"add":      "added",
	"describe": "described",
	"rename":   "renamed",
	"freeze":   "froze",
	"unfreeze": "unfroze",
	"revoke":   "revoked",
	"rotate":   "rotated",
	"create":   "created",
	"update":   "changed",
	"change":   "changed",
	"delete":   "deleted",
	"remove":   "removed",
	"cancel":   "cancelled",
	"claim":    "claimed",
	"invite":   "invited",
	"leave":    "left",
	"accept":   "accepted",
	"approve":  "approved",
	"deny":     "denied",
	"sign_in":  "signed in to",
	"sign_out": "signed out of",
}

// pastOf returns the past tense of a verb, or the verb itself if it is not known.
func pastOf(verb string) string { return cmp.Or(pasts[verb], strings.ReplaceAll(verb, "_", " ")) }
