package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// AuditEntry is an entry of the audit log.
type AuditEntry struct {
	ID        string                 `json:"id"`
	Number    int64                  `json:"number"` // position in the chain
	Hash      string                 `json:"hash"`
	Time      time.Time              `json:"time"`
	Team      *string                `json:"team"` // nil for entries of the installation
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

// AuditActor is the caller and its credential.
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

// AuditPage is a part of the audit log. A search can have a next page when this one has no entries.
type AuditPage struct {
	Items      []AuditEntry `json:"items"`
	NextCursor *string      `json:"next_cursor"`
}

// AuditQuery selects entries; an empty field selects all.
type AuditQuery struct {
	Team, Project, Actor, Action, Object, Outcome string
	From, To                                      time.Time // To is not included

	Sort string // created or -created; empty: newest first
	Text string // part of ids, addresses, actions or details
}

// Audit lists entries: at most limit, from the cursor on.
func (c *Client) Audit(ctx context.Context, q AuditQuery, cursor string, limit int) (AuditPage, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	for name, value := range map[string]string{
		"team":    q.Team,
		"project": q.Project,
		"actor":   q.Actor,
		"action":  q.Action,
		"object":  q.Object,
		"outcome": q.Outcome,
		"sort":    q.Sort,
		"q":       q.Text,
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

// AuditVerdict is the result of verifying a team's audit log.
type AuditVerdict struct {
	Team    *string     `json:"team"`
	Intact  bool        `json:"intact"`
	Entries int64       `json:"entries"` // entries before the first broken one
	Removed int64       `json:"removed"` // entries before those that retention removed
	Head    string      `json:"head"`
	Broken  *AuditBreak `json:"broken"`
}

// AuditBreak is the first entry that was changed, removed or inserted.
type AuditBreak struct {
	Number int64   `json:"number"`
	Entry  *string `json:"entry"` // id; nil where the entry is missing
	Reason string  `json:"reason"`
}

// VerifyAudit verifies the audit log of a team, "" being the caller's first one. With
// the head of an earlier verdict, the log must contain that head.
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
