package contract

import (
	"net/http"
	"time"
)

// AuditPath is the path parameter of an entry of the audit log.
type AuditPath struct {
	Entry string `path:"entry" doc:"ID of the entry"`
}

// AuditEntry is an entry of the audit log: an action, or a refused request.
type AuditEntry struct {
	ID          string                 `json:"id"`
	Number      int64                  `json:"number" doc:"Position in the chain"`
	Hash        string                 `json:"hash" doc:"SHA-256 of the entry and the previous entry's hash, in hexadecimal"`
	Time        time.Time              `json:"time"`
	Team        *string                `json:"team" doc:"ID of the team; null for entries of the installation"`
	Actor       AuditActor             `json:"actor"`
	Summary     string                 `json:"summary" doc:"What happened, as a sentence for people. The wording may change"`
	Action      string                 `json:"action" doc:"Action, such as key.change"`
	Outcome     string                 `json:"outcome" enum:"done,refused"`
	Object      string                 `json:"object" doc:"ID of the object"`
	Project     *string                `json:"project" doc:"ID of the object's project; null if there is none"`
	ProjectName string                 `json:"-"` // its current name, "" if it was deleted; only for the dashboard
	Detail      map[string]string      `json:"detail" doc:"Details, or the error code of a refusal"`
	Changes     map[string]AuditChange `json:"changes" doc:"Changed fields. Secrets appear as ***"`
	Address     string                 `json:"address" doc:"IP address of the caller"`
	RequestID   string                 `json:"request_id"`
}

// AuditActor is a caller and the credential that it used.
type AuditActor struct {
	ID    string  `json:"id" doc:"ID of an account, workspace_key:<team>, command_line or anonymous"`
	Email *string `json:"email" doc:"Email address; null if the account isn't in the team"`
	Token *string `json:"token" doc:"ID of the session, token or workspace key; null if there is none"`
}

// AuditChange is one field before and after a change; nil where there was none.
type AuditChange struct {
	Before any `json:"before" doc:"Old value; null if there was none"`
	After  any `json:"after" doc:"New value; null if it was removed"`
}

// Installation selects the entries that belong to no team. It is used in place of a team.
const Installation = "installation"

// AuditList is a request for entries of one team. Empty members select all.
type AuditList struct {
	Page
	Project string    `query:"project" doc:"Only entries about the project with this name or ID"`
	Team    string    `query:"team" id:"team,installation" doc:"ID of a team, or the ID of a workspace that was merged into a team. Operators can use \"installation\" for the installation's own log. Defaults to the project's team, or your first team"`
	Actor   string    `query:"actor" doc:"Only entries by the actor with this ID or email address"`
	Action  string    `query:"action" doc:"Only entries with this action, such as key.change"`
	Object  string    `query:"object" doc:"Only entries about the object with this ID"`
	Outcome string    `query:"outcome" enum:"done,refused" doc:"Only entries with this outcome"`
	From    time.Time `query:"from" flag:"from,past" doc:"Start of the period (RFC 3339)"`
	To      time.Time `query:"to" flag:"to,past" doc:"End of the period, exclusive (RFC 3339)"`
	Sort    string    `query:"sort" enum:"created,-created" doc:"Sort order. A leading - means descending. Defaults to -created"`
	Text    string    `query:"q" flag:"search" maxLength:"200" doc:"Text to find in an ID, action, IP address, email address or detail"`
}

// AuditVerification is a request to verify the chain of a team's entries.
type AuditVerification struct {
	Team string `query:"team" id:"team,installation" doc:"ID of a team, or the ID of a workspace that was merged into a team. Operators can use \"installation\" for the installation's own log. Defaults to your first team"`
	Head string `query:"head" doc:"Head from an earlier verification. The log must contain it"`
}

// AuditVerdict is the result of the verification of a chain.
type AuditVerdict struct {
	Team    *string     `json:"team" doc:"ID of the team; null for entries of the installation"`
	Intact  bool        `json:"intact"`
	Entries int64       `json:"entries" doc:"Number of verified entries"`
	Removed int64       `json:"removed" doc:"Number of older entries that retention removed"`
	Head    string      `json:"head" doc:"Last hash. Save it, and send it as head in a later verification to detect changes to earlier entries"`
	Broken  *AuditBreak `json:"broken" doc:"First entry that fails verification; null if the chain is intact"`
}

// AuditBreak is the first place where a chain differs from what was recorded.
type AuditBreak struct {
	Number int64   `json:"number"`
	Entry  *string `json:"entry" doc:"ID of the entry; null if it is missing"`
	Reason string  `json:"reason"`
}

const audit = "/api/v1/audit"

// The operations on the audit log.
var (
	ListAuditEntries = &Op[AuditList, List[AuditEntry]]{Operation{
		ID: "list-audit-entries", Method: http.MethodGet, Path: audit, Permission: ReadAudit,
		Summary: "List audit log entries",
		Command: "audit list", Example: "audit list --project shop",
		Doc: "Lists the entries of one team, newest first. If you filter by project or object, the list also " +
			"includes entries of workspaces that were merged into the team. A search scans a limited number of " +
			"entries per page, so a page can be empty even if more follow.",
	}}
	GetAuditEntry = &Op[AuditPath, AuditEntry]{Operation{
		ID: "get-audit-entry", Method: http.MethodGet, Path: audit + "/{entry}", Permission: ReadAudit,
		Summary: "Get an audit log entry",
		Command: "audit show ENTRY",
		Doc:     "Returns the complete entry, including the caller, the credential and the changed fields.",
	}}
	VerifyAudit = &Op[AuditVerification, AuditVerdict]{Operation{
		ID: "verify-audit", Method: http.MethodGet, Path: audit + "/verify", Permission: ReadAudit,
		Summary: "Verify the audit log",
		Command: "audit verify",
		Doc: "Checks the hash of each entry in a team's log against the previous entry. If you send the head from an " +
			"earlier verification, the operation also detects a log that was rewritten entirely. A team can run one " +
			"verification at a time.",
	}}
)

var auditOperations = []Described{ListAuditEntries, GetAuditEntry, VerifyAudit}
