package access

import (
	"postern/models"
)

// Entry is one line of the audit log.
type Entry struct {
	Action Action
	Object string // id of what was acted on
	Team   string
	Detail map[string]string // facts beside the ids; never a secret
}

// Record writes the entry in the caller's transaction, so that nothing is done
// without its entry and no entry tells of what was rolled back.
func Record(tx *models.Tx, p Principal, e Entry) error {
	if e.Detail == nil {
		e.Detail = map[string]string{}
	}
	return tx.Insert(&models.AuditEntry{
		ID: models.NewID("aud"), Actor: p.actor(), Action: string(e.Action), Object: e.Object, TeamID: e.Team,
		Outcome: "done", Detail: e.Detail, RemoteAddr: p.RemoteAddr, RequestID: p.RequestID, CreatedAt: models.Now(),
	})
}

func (p Principal) actor() string {
	if p.system {
		return "system"
	}
	if p.Account != "" {
		return p.Account
	}
	for team, role := range p.Roles {
		if role == Workspace {
			return "workspace_key:" + team
		}
	}
	return "anonymous"
}
