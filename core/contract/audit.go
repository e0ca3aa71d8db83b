package contract

import (
	"net/http"
	"time"
)

// AuditPath is the path parameter of an entry of the audit log.
type AuditPath struct {
	Entry string `path:"entry" doc:"Id of the entry"`
}

// AuditEntry is an entry of the audit log: something that was done, or that was refused.
type AuditEntry struct {
	ID          string                 `json:"id"`
	Number      int64                  `json:"number" doc:"Position in the chain"`
	Hash        string                 `json:"hash" doc:"SHA-256 of the entry and the previous hash, hexadecimal"`
	Time        time.Time              `json:"time"`
	Team        *string                `json:"team" doc:"null for entries of the installation"`
	Actor       AuditActor             `json:"actor"`
	Action      string                 `json:"action" doc:"For example key.change"`
	Outcome     string                 `json:"outcome" enum:"done,refused"`
	Object      string                 `json:"object" doc:"Id of the object"`
	Project     *string                `json:"project" doc:"Id of the object's project; null for none"`
	ProjectName string                 `json:"-"` // its present name, "" if it is gone; for the dashboard alone
	Detail      map[string]string      `json:"detail" doc:"Details; for a refusal its code"`
	Changes     map[string]AuditChange `json:"changes" doc:"Changed fields; secrets are ***"`
	Address     string                 `json:"address" doc:"IP address of the caller"`
	RequestID   string                 `json:"request_id"`
}

// AuditActor is a caller and the credential that it used.
type AuditActor struct {
	ID    string  `json:"id" doc:"An account's id, workspace_key:<team>, command_line or anonymous"`
	Email *string `json:"email" doc:"Email address if the account is in the team; else null"`
	Token *string `json:"token" doc:"Id of the session, token or workspace key; null for none"`
}

// AuditChange is one field before and after a change; nil where there was none.
type AuditChange struct {
	Before any `json:"before" doc:"null if there was none"`
	After  any `json:"after" doc:"null if it was removed"`
}

// Installation selects the entries that belong to no team; it stands in place of a team.
const Installation = "installation"

// AuditList is a request for entries of one team. Empty members select all.
type AuditList struct {
	Page
	Project string    `query:"project" doc:"Only entries about this project, by name or id"`
	Team    string    `query:"team" doc:"Id of a team, or of a workspace merged into one; default: the project's, else your first team. Operators: installation"`
	Actor   string    `query:"actor" doc:"Only by this account, by id or email address, or by another actor"`
	Action  string    `query:"action" doc:"Only this action, such as key.change"`
	Object  string    `query:"object" doc:"Only entries about the object with this id"`
	Outcome string    `query:"outcome" enum:"done,refused" doc:"Only what was done, or only what was refused"`
	From    time.Time `query:"from" flag:"from,past" doc:"Start (RFC 3339)"`
	To      time.Time `query:"to" flag:"to,past" doc:"End, which is not included (RFC 3339)"`
	Sort    string    `query:"sort" enum:"created,-created" doc:"Order; - begins at the end; default: -created"`
	Text    string    `query:"q" flag:"search" maxLength:"200" doc:"Part of an ID, action, address, detail or email address"`
}

// AuditVerification is a request to verify the chain of a team's entries.
type AuditVerification struct {
	Team string `query:"team" doc:"Id of a team, or of a workspace merged into one; default: your first team. Operators: installation"`
	Head string `query:"head" doc:"Head of an earlier verification, which the chain must contain"`
}

// AuditVerdict is the result of the verification of a chain.
type AuditVerdict struct {
	Team    *string     `json:"team" doc:"null for entries of the installation"`
	Intact  bool        `json:"intact"`
	Entries int64       `json:"entries" doc:"Number of entries that verify"`
	Removed int64       `json:"removed" doc:"Number of entries before them that retention removed"`
	Head    string      `json:"head" doc:"Last hash. Keep it and send it as head later, to verify that nothing before it has changed"`
	Broken  *AuditBreak `json:"broken" doc:"First entry that does not verify; null if the chain is intact"`
}

// AuditBreak is the first place at which a chain is not what was recorded.
type AuditBreak struct {
	Number int64   `json:"number"`
	Entry  *string `json:"entry" doc:"Id; null if the entry is missing"`
	Reason string  `json:"reason"`
}

const audit = "/api/v1/audit"

// The operations on the audit log.
var (
	ListAuditEntries = Op[AuditList, List[AuditEntry]]{Operation{
		ID: "list-audit-entries", Method: http.MethodGet, Path: audit, Permission: ReadAudit,
		Summary: "List audit entries",
		Command: "audit list", Example: "audit list --project shop",
		Doc: "Lists the entries of one team, newest first. If you ask for a project or an object, the list " +
			"continues in the entries of the workspaces that were merged into the team. A search looks at some of " +
			"the entries at a time: a page can be empty although another one follows.",
	}}
	GetAuditEntry = Op[AuditPath, AuditEntry]{Operation{
		ID: "get-audit-entry", Method: http.MethodGet, Path: audit + "/{entry}", Permission: ReadAudit,
		Summary: "Get an audit entry",
		Command: "audit show ENTRY",
		Doc:     "Has everything that was recorded: the caller, the credential, and the changed fields.",
	}}
	VerifyAudit = Op[AuditVerification, AuditVerdict]{Operation{
		ID: "verify-audit", Method: http.MethodGet, Path: audit + "/verify", Permission: ReadAudit,
		Summary: "Verify the audit log",
		Command: "audit verify",
		Doc: "Checks the hash of every entry of a team against the one before it. With the head of an earlier " +
			"verification, it also finds a log that was rewritten as a whole. A team can run one verification at a " +
			"time.",
	}}
)

var auditOperations = []Described{ListAuditEntries, GetAuditEntry, VerifyAudit}
