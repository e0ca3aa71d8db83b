package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// AuditEntry is a line of the audit log.
type AuditEntry struct {
	ID        string                 `json:"id"`
	Number    int64                  `json:"number"` // place in the chain
	Hash      string                 `json:"hash"`
	Time      time.Time              `json:"time"`
	Team      *string                `json:"team"` // nil for what belongs to the installation
	Actor     AuditActor             `json:"actor"`
	Action    string                 `json:"action"`
	Outcome   string                 `json:"outcome"` // done or refused
	Object    string                 `json:"object"`  // id
	Project   *string                `json:"project"` // id
	Detail    map[string]string      `json:"detail"`
	Changes   map[string]AuditChange `json:"changes"`
	Address   string                 `json:"address"`
	RequestID string                 `json:"request_id"`
}

// AuditActor is who asked, and with which credential.
type AuditActor struct {
	ID    string  `json:"id"`
	Email *string `json:"email"`
	Token *string `json:"token"` // id
}

// AuditChange is one field before and after; secrets are ***.
type AuditChange struct {
	Before any `json:"before"`
	After  any `json:"after"`
}

// AuditPage is a part of the audit log, newest first.
type AuditPage struct {
	Items      []AuditEntry `json:"items"`
	NextCursor *string      `json:"next_cursor"`
}

// AuditQuery chooses entries; what is empty chooses all.
type AuditQuery struct {
	Team, Project, Actor, Action, Object, Outcome string
	From, To                                      time.Time // To is not included
}

// Audit lists entries, newest first: at most limit, from the cursor on.
func (c *Client) Audit(ctx context.Context, q AuditQuery, cursor string, limit int) (AuditPage, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	for name, value := range map[string]string{
		"team":    q.Team,
		"project": q.Project,
		"actor":   q.Actor,
		"action":  q.Action,
		"object":  q.Object,
		"outcome": q.Outcome,
		"cursor":  cursor,
		"from":    timeOrNothing(q.From),
		"to":      timeOrNothing(q.To),
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return exchange[AuditPage](ctx, c, http.MethodGet, nil, "?"+query.Encode(), []string{"api", "v1", "audit"})
}

func timeOrNothing(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// AuditVerdict tells whether a team's audit log is what was recorded.
type AuditVerdict struct {
	Team    *string     `json:"team"`
	Intact  bool        `json:"intact"`
	Entries int64       `json:"entries"` // that are in order
	Head    string      `json:"head"`
	Broken  *AuditBreak `json:"broken"`
}

// AuditBreak is the first place at which a log is not what was recorded.
type AuditBreak struct {
	Number int64   `json:"number"`
	Entry  *string `json:"entry"` // id; nil where the entry is missing
	Reason string  `json:"reason"`
}

// VerifyAudit goes through a team's audit log, the caller's first one for "". The
// log has to lead through head, that of an earlier verdict, unless it is "".
func (c *Client) VerifyAudit(ctx context.Context, team, head string) (AuditVerdict, error) {
	query := url.Values{}
	for name, value := range map[string]string{"team": team, "head": head} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return exchange[AuditVerdict](
		ctx, c, http.MethodGet, nil, "?"+query.Encode(), []string{"api", "v1", "audit", "verify"},
	)
}
