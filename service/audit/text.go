package audit

import (
	"cmp"
	"strconv"
	"strings"

	"postern/bundle"
	"postern/core/contract"
	"postern/models"
	"postern/service/access"
)

// ActorText names the actor of an entry, as the start of a sentence. The entry must have its actor's email address.
func ActorText(e contract.AuditEntry) string {
	name := e.Detail["name"]
	switch {
	case e.Actor.Email != nil:
		return *e.Actor.Email
	case e.Actor.ID == access.ActorSystem:
		return "Postern"
	case e.Action == string(access.UserArrive), e.Detail["by"] == "user":
		return personText(name, "A user")
	case e.Action == string(access.MemberLeave):
		return personText(name, "A member")
	case e.Detail["by"] == "claims":
		return "A provider"
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
		return "Another workspace's key"
	}
	return "An account outside this team"
}

// personText is how a sentence begins with a person: with their email address, or else with the noun and their name.
func personText(name, noun string) string {
	if name == "" || strings.Contains(name, "@") {
		return cmp.Or(name, noun)
	}
	return "The" + strings.TrimPrefix(noun, "A") + " " + strconv.Quote(name)
}

// ActionText is the rest of the sentence. Actions without their own text are described by the parts of their name.
func ActionText(e contract.AuditEntry) string {
	of, forProject := "", ""
	if e.ProjectName != "" {
		of, forProject = " of "+e.ProjectName, " for "+e.ProjectName
	}
	if e.Outcome == models.OutcomeRefused {
		return refusedText(e, of)
	}
	switch access.Action(e.Action) {
	case access.ProjectCreate, access.ProjectImport, access.ProjectDelete, access.ProjectErase, access.ProjectPurge,
		access.ProjectRestore, access.ProjectMove, access.ProjectTakedown:
		return projectLifeText(e)
	case access.ProjectUpdate:
		return projectChangeText(e, of)
	case access.TenantUpdate:
		if change := e.Detail["change"]; change != "" {
			return "changed the " + settingText(change) + " of " + named("tenant", e.Detail["name"]) + of
		}
	case access.KeyCreate, access.KeyChange:
		return keyActionText(e) + forProject
	case access.ExportCreate, access.ExportDownload, access.ExportSecrets:
		return exportText(e) + of
	case access.DomainChange, access.DomainApprove, access.DomainReport:
		return domainText(e) + forProject
	case access.WorkspaceClaim:
		return "claimed " + cmp.Or(e.Detail["projects"], "a workspace")
	case access.WorkspacePurge:
		return "deleted the unclaimed workspace"
	case access.AuditTrim:
		return "deleted old entries from this log"
	case access.UserArrive:
		return "signed in for the first time"
	case access.AccountSignIn:
		return "signed in"
	case access.AccountUpdate:
		if e.Detail["name"] == "" {
			return "changed their account"
		}
	case access.AccountDelete:
		return "deleted their account"
	case access.UserUpdate:
		if e.Detail["by"] == "user" {
			return ownChangeText(e)
		}
	case access.InvitationAccept:
		return "joined the team"
	case access.MemberLeave:
		return "left the team"
	}
	return changeText(e) + of
}

// objectKinds are the nouns of the objects of an action with a wider noun, by the prefix of their ids.
var objectKinds = map[string]map[string]string{
	"user":  {"apv": "approval", "grp": "group", "tnt": "sign-up policy of the tenant"},
	"login": {"cli": "app client", "idp": "provider"},
	"token": {"tok": "access token"},
}

// births are the fields that objects have from creation to deletion, by their noun.
var births = map[string]string{
	"app client": "name",
	"approval":   "value",
	"group":      "name",
	"member":     "role",
	"provider":   "type",
	"user":       "state",
}

// changeText says what became of the object of an entry, such as: created the group "admins".
func changeText(e contract.AuditEntry) string {
	noun, verb, _ := strings.Cut(e.Action, ".")
	prefix, _, _ := strings.Cut(e.Object, "_")
	noun = cmp.Or(objectKinds[noun][prefix], strings.ReplaceAll(noun, "_", " "))
	if change := e.Detail["change"]; noun == "webhook" && pasts[change] != "" {
		verb = change
	}
	if verb == "rotate" {
		noun = "secret for the " + noun
	}
	if change, ok := e.Changes[births[noun]]; ok {
		switch {
		case change.Before == nil:
			verb = "create"
		case change.After == nil && noun == "member":
			verb = "remove"
		case change.After == nil:
			verb = "delete"
		}
	}
	text := pastOf(verb) + " " + named(noun, nameOf(e))
	if client := e.Detail["app_client"]; client != "" {
		text += " of the app client " + strconv.Quote(client)
	}
	return text
}

// ownChangeText describes what a user changed of their account.
func ownChangeText(e contract.AuditEntry) string {
	switch linked, ok := e.Changes["linked_provider"]; {
	case !ok:
		return "changed their account"
	case linked.After == nil || linked.After == "":
		return "unlinked a provider"
	}
	return "linked a provider"
}

// nameOf returns the name of an entry's object, "" if the entry doesn't have it.
func nameOf(e contract.AuditEntry) string {
	name := cmp.Or(e.Detail["name"], e.Detail["machine"])
	for _, field := range []string{"name", "email", "value"} {
		change := e.Changes[field]
		before, _ := change.Before.(string)
		after, _ := change.After.(string)
		name = cmp.Or(name, after, before)
	}
	return name
}

// projectChangeText describes a change of a project's settings.
func projectChangeText(e contract.AuditEntry, of string) string {
	change, _, _ := strings.Cut(e.Detail["change"], " of ")
	object := e.Detail["object"]
	switch {
	case change == "import" && object == "":
		return "updated " + named("project", cmp.Or(e.ProjectName, e.Detail["name"])) + " with an import"
	case change == "attach":
		return "attached the " + object + strings.Replace(of, "of", "to", 1)
	case change == "detach":
		return "detached the " + object + strings.Replace(of, "of", "from", 1)
	case change == "relations":
		return "changed the object owners" + of + " (" + object + ")"
	case strings.HasPrefix(object, "version "):
		return pastOf(cmp.Or(change, "change")) + " " + object + of
	case change == "add" && object != "":
		return "added the " + strings.Replace(object, " of version ", " to version ", 1) + of
	case change == "remove" && object != "":
		return "removed the " + strings.Replace(object, " of version ", " from version ", 1) + of
	case object != "":
		return pastOf(cmp.Or(change, "change")) + " the " + object + of
	}
	if gone, ok := strings.CutPrefix(change, "no "); ok {
		return "removed the " + settingText(gone) + of
	}
	if change == "rotation" {
		return "rotated the call signing key" + of
	}
	return "changed the " + settingText(cmp.Or(change, "settings")) + of
}

// settingText names what a change is about.
func settingText(change string) string {
	if change == "CORS" {
		return "CORS settings"
	}
	return change
}

func exportText(e contract.AuditEntry) string {
	switch {
	case e.Action == string(access.ExportSecrets):
		return "included secrets in an export"
	case e.Detail["change"] == "cancel":
		return "canceled an export"
	case e.Action == string(access.ExportCreate):
		return "started an export"
	case e.Detail["keys"] == string(bundle.KeysMint):
		return "downloaded an export with new keys"
	case e.Detail["part"] == "ledger":
		return "downloaded the ledger for an export"
	}
	return "downloaded an export"
}

// projectLifeText describes what became of a project as a whole. The project may be gone by now.
func projectLifeText(e contract.AuditEntry) string {
	project := named("project", cmp.Or(e.ProjectName, e.Detail["name"]))
	switch access.Action(e.Action) {
	case access.ProjectCreate:
		return "created " + project
	case access.ProjectImport:
		return importText(e, project)
	case access.ProjectRestore:
		return "restored " + project
	case access.ProjectErase, access.ProjectPurge:
		return "permanently deleted " + project
	case access.ProjectMove:
		return "moved " + project + " to another team"
	case access.ProjectTakedown:
		if change, ok := e.Changes["frozen"]; ok && change.After != true {
			return "lifted the takedown of " + project
		}
		return "took down " + project
	}
	return "moved " + project + " to the trash"
}

// importText describes an import: of a project from a zip, of another gateway's files, or of the plan for these. The
// object is the project, the import or the plan.
func importText(e contract.AuditEntry, project string) string {
	name := e.Detail["name"]
	switch e.Detail["change"] {
	case "plan":
		return "created " + named("import plan", name)
	case "settings":
		return "changed " + named("import plan", name)
	case "delete":
		return "deleted " + named("import plan", name)
	case "apply":
		text := "applied " + named("import plan", name)
		if e.Detail["import"] == "" {
			text += ", which changed nothing"
		}
		return text
	case "undo":
		return "undid " + named("import", name)
	}
	if !strings.HasPrefix(e.Object, "imp_") {
		return "imported " + project
	}
	text := "imported files from another gateway"
	if name != "" {
		text += " as " + strconv.Quote(name)
	}
	return text
}

// named is a noun with a name in quotes. Without a name, as in entries from before names were recorded, it is the noun
// with its article.
func named(noun, name string) string {
	if name == "" {
		return article(noun)
	}
	return "the " + noun + " " + strconv.Quote(name)
}

// domainChanges are the changes of a host name, in the past tense.
var domainChanges = map[string]string{
	"add":            "added",
	"move":           "moved",
	"verify":         "checked",
	"disapprove":     "ended the verification of",
	"record missing": "couldn't find the TXT record for",
	"record back":    "found the missing TXT record for",
	"lapse":          "let another team take over",

	"certificate obtained": "obtained a certificate for",
	"certificate renewed":  "renewed the certificate for",
	"certificate failed":   "couldn't obtain a certificate for",
}

func domainText(e contract.AuditEntry) string {
	change := cmp.Or(e.Detail["change"], "change")
	text := cmp.Or(domainChanges[change], pastOf(change))
	if host := e.Detail["host"]; host != "" {
		return text + " the custom domain " + host
	}
	return text + " a custom domain"
}

func refusedText(e contract.AuditEntry, of string) string {
	switch access.Action(e.Action) {
	case access.CredentialUse:
		return "sent an invalid credential"
	case access.RequestMake:
		return "sent a request from another site"
	case access.AuditGap:
		return "and other callers were refused " + cmp.Or(e.Detail["dropped"], "several") +
			" more times (not listed individually)"
	}
	noun, verb, _ := strings.Cut(e.Action, ".")
	if noun == "project" && e.ProjectName != "" {
		return "tried to " + verbOf(verb) + " the project " + strconv.Quote(e.ProjectName)
	}
	prefix, _, _ := strings.Cut(e.Object, "_")
	kind := objectKinds[noun][prefix]
	if tried := attempts[access.Action(e.Action)]; tried != "" && kind == "" {
		return "tried to " + tried + of
	}
	return "tried to " + verbOf(verb) + " " + article(cmp.Or(kind, strings.ReplaceAll(noun, "_", " "))) + of
}

// attempts are what was refused, after "tried to", where the parts of the action's name don't say it well.
var attempts = map[access.Action]string{
	access.AccountSignIn:    "sign in to an account",
	access.AuditRead:        "open the audit log",
	access.ExportMinted:     "download an export with new keys",
	access.ExportSecrets:    "include secrets in an export",
	access.InvitationCreate: "invite someone",
	access.LoginRead:        "see app clients",
	access.LoginUpdate:      "change an app client",
	access.MemberLeave:      "leave the team",
	access.MemberRead:       "see the members",
	access.OperatorChange:   "change the operators",
	access.TeamUpdate:       "change the team",
	access.TeamDelete:       "delete the team",
	access.UsageRead:        "see the usage",
}

// actionTitles name actions where the parts of the action's name don't say what it is.
var actionTitles = map[access.Action]string{
	access.AuditGap:       "Skip entries for refused requests",
	access.AuditTrim:      "Delete old entries",
	access.CredentialUse:  "Use an invalid credential",
	access.DeviceApprove:  "Approve a command-line sign-in",
	access.DeviceDeny:     "Deny a command-line sign-in",
	access.DomainReport:   "Check the TXT record for a domain",
	access.ProjectErase:   "Permanently delete a project",
	access.ProjectPurge:   "Delete a project from the trash",
	access.RequestMake:    "Send a request from another site",
	access.TenantErase:    "Delete a tenant that is in use",
	access.UserArrive:     "Sign in for the first time",
	access.UserUpdate:     "Change users or groups",
	access.WebhookDisable: "Turn off a failing webhook",
	access.WorkspacePurge: "Delete an unclaimed workspace",
}

// ActionTitle names an action, such as: Create a key.
func ActionTitle(action access.Action) string {
	noun, verb, _ := strings.Cut(string(action), ".")
	if noun == "token" {
		noun = "access token"
	}
	text := cmp.Or(actionTitles[action], attempts[action], verbOf(verb)+" "+article(strings.ReplaceAll(noun, "_", " ")))
	return strings.ToUpper(text[:1]) + text[1:]
}

func article(noun string) string {
	if strings.ContainsAny(noun[:min(1, len(noun))], "aeiou") && !strings.HasPrefix(noun, "us") { // a user
		return "an " + noun
	}
	return "a " + noun
}

// keyActionText describes a change of a key, of a file of keys, or a check that changes none.
func keyActionText(e contract.AuditEntry) string {
	switch {
	case e.Detail["import"] != "":
		return "imported keys from a file"
	case e.Detail["check"] != "":
		return "checked a key"
	case e.Action == string(access.KeyCreate):
		return "created " + keyText(e)
	}
	return pastOf(cmp.Or(e.Detail["change"], "change")) + " " + keyText(e)
}

// keyText shows a key by its last characters, as lists of keys do.
func keyText(e contract.AuditEntry) string {
	if _, last, ok := strings.Cut(e.Detail["key"], "…"); ok {
		return "the key …" + last
	}
	return "a key"
}

var pasts = map[string]string{
	"add":      "added",
	"describe": "changed the description of",
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
	"cancel":   "canceled",
	"claim":    "claimed",
	"import":   "imported",
	"replace":  "replaced",
	"set":      "changed",
	"accept":   "accepted",
	"approve":  "approved",
	"deny":     "denied",
	"disable":  "turned off",
	"enable":   "turned on",
	"erase":    "deleted",
	"purge":    "deleted",
	"test":     "tested",

	"redeliver": "resent a delivery for",
}

// pastOf returns the past tense of a verb, or the verb itself if it is not known.
func pastOf(verb string) string { return cmp.Or(pasts[verb], strings.ReplaceAll(verb, "_", " ")) }

// verbOf returns the verb of a refused action as words.
func verbOf(verb string) string {
	switch verb {
	case "read":
		return "see"
	case "update":
		return "change"
	case "takedown":
		return "take down"
	}
	return strings.ReplaceAll(verb, "_", " ")
}
