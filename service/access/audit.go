package access

import (
	"strings"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
)

// Entry is one line of the audit log.
type Entry struct {
	Action  Action
	Object  string            // ID of the object of the action
	Name    string            // what people call it, such as an email address; recorded as the detail "name"
	Project string            // ID of the object's project, "" for none
	Team    string            // "" for the installation
	Detail  map[string]string // facts other than the ids; never a secret

	// Before and After are two states of an object, as structs of the same type; nil before it was created or after it
	// was deleted. The fields that differ are recorded. Secrets are recorded without their values; see Compare.
	Before, After any
}

// Record adds the entry to the caller's transaction: the change and its entry are
// committed or rolled back together.
func Record(tx *models.Tx, p Principal, e Entry) error {
	changes, err := Compare(e.Before, e.After)
	if err != nil {
		return err
	}
	row := p.entry(e)
	row.Outcome, row.Changes = models.OutcomeDone, changes
	tx.Audit(row)
	return nil
}

// RecordServed is Record with a revision for the gateways of the projects that serve the tenant.
func RecordServed(tx *models.Tx, p Principal, tenant models.Tenant, e Entry) error {
	if err := Record(tx, p, e); err != nil {
		return err
	}
	return tx.AddTenantRevisions(tenant, models.Now())
}

// RecordRefused adds an entry about a refused action, with the code of the refusal.
func RecordRefused(tx *models.Tx, p Principal, e Entry, code string) {
	row := p.entry(e)
	row.Outcome = models.OutcomeRefused
	row.Detail["code"] = code
	tx.Audit(row)
}

func (p Principal) entry(e Entry) models.AuditEntry {
	detail := map[string]string{}
	for name, value := range e.Detail {
		detail[name] = storable(value)
	}
	if e.Name != "" {
		detail["name"] = storable(e.Name)
	}
	if e.Project == "" && strings.HasPrefix(e.Object, "prj_") {
		e.Project = e.Object
	}
	return models.AuditEntry{
		ID:         models.NewID("aud"),
		Actor:      p.Actor(),
		TokenID:    p.Token,
		Action:     string(e.Action),
		Object:     e.Object,
		ProjectID:  e.Project,
		TeamID:     e.Team,
		Detail:     detail,
		Changes:    map[string]contract.AuditChange{},
		RemoteAddr: strings.TrimSuffix(p.RemoteAddr, ":0"),
		RequestID:  p.RequestID,
		CreatedAt:  models.Now(),
	}
}

// The actors that aren't accounts.
const (
	ActorAnonymous    = "anonymous"
	ActorSystem       = "system"        // Postern by itself
	ActorCommandLine  = "command_line"  // on the machine of the database
	ActorWorkspaceKey = "workspace_key" // followed by a colon and the team's ID
)

// Actor returns the ID of the acting account or end user, or one of the actors that are neither.
func (p Principal) Actor() string {
	switch {
	case p.system:
		return ActorSystem
	case p.Account != "":
		return p.Account
	case p.user != "":
		return p.user
	case p.CommandLine:
		return ActorCommandLine
	}
	for team, role := range p.Roles {
		if role == Workspace {
			return ActorWorkspaceKey + ":" + team
		}
	}
	return ActorAnonymous
}

// Refusal is the cause of a denied Check: the action and the team. The audit log records it, but the caller doesn't see
// it.
type Refusal struct { //nolint:errname // it is a refusal before it is an error
	Action  Action
	Team    string
	Project string // ID, "" if it isn't known
}

func (r *Refusal) Error() string { return "refused " + string(r.Action) + " in " + r.Team }

// Refused returns the fault with a Refusal as its cause.
func Refused(because *fault.Error, team string, action Action) error {
	return because.Because(&Refusal{Action: action, Team: team})
}
