package api

import (
	"context"
	"strconv"
	"strings"
	"time"

	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
	"postern/service/audit"
)

type auditOutput struct {
	ID        string                  `json:"id"`
	Number    int64                   `json:"number" doc:"Its place in the chain"`
	Hash      string                  `json:"hash" doc:"SHA-256 over the entry and the hash before it, hexadecimal"`
	Time      time.Time               `json:"time"`
	Team      *string                 `json:"team" doc:"Null for what belongs to the installation"`
	Actor     actorOutput             `json:"actor"`
	Action    string                  `json:"action" doc:"Such as key.change"`
	Outcome   string                  `json:"outcome" enum:"done,refused"`
	Object    string                  `json:"object" doc:"Id of what was acted on"`
	Project   *string                 `json:"project" doc:"Id of the project it belongs to; null for none"`
	Detail    map[string]string       `json:"detail" doc:"Facts beside the ids; of a refusal its code"`
	Changes   map[string]changeOutput `json:"changes" doc:"The fields that changed; secrets are ***"`
	Address   string                  `json:"address" doc:"Where the request came from"`
	RequestID string                  `json:"request_id"`
}

type actorOutput struct {
	ID    string  `json:"id" doc:"An account's id, workspace_key:<team>, command_line or anonymous"`
	Email *string `json:"email" doc:"Of an account of the team; else null"`
	Token *string `json:"token" doc:"Id of the session, token or workspace key; null for none"`
}

type changeOutput struct {
	Before any `json:"before" doc:"Null where there was nothing"`
	After  any `json:"after" doc:"Null where there is nothing any more"`
}

func showAudit(e audit.Entry) auditOutput {
	out := auditOutput{
		ID:        e.ID,
		Number:    e.Number,
		Hash:      e.Hash,
		Time:      e.CreatedAt.UTC(),
		Team:      orNull(e.TeamID),
		Actor:     actorOutput{ID: e.Actor, Email: orNull(e.ActorName), Token: orNull(e.TokenID)},
		Action:    e.Action,
		Outcome:   e.Outcome,
		Object:    e.Object,
		Project:   orNull(e.ProjectID),
		Detail:    e.Detail,
		Changes:   map[string]changeOutput{},
		Address:   e.RemoteAddr,
		RequestID: e.RequestID,
	}
	for name, change := range e.Changes {
		out.Changes[name] = changeOutput(change)
	}
	return out
}

// AuditFilter is the query that chooses entries. It is exported because huma
// passes over embedded types that are not.
type AuditFilter struct {
	Team    string    `query:"team" doc:"Id; your first team, or the project's, when absent. A workspace merged into a team of yours counts too; a query for a project or an object goes on in it by itself. installation, for operators, is what belongs to no team"`
	Project string    `query:"project" doc:"Name or id"`
	Actor   string    `query:"actor" doc:"An account's id or e-mail address, or another actor"`
	Action  string    `query:"action"`
	Object  string    `query:"object" doc:"Id of what was acted on"`
	Outcome string    `query:"outcome" enum:"done,refused"`
	From    time.Time `query:"from" doc:"RFC 3339"`
	To      time.Time `query:"to" doc:"RFC 3339, not included"`
}

func (h *Handler) listAudit(ctx context.Context, in *struct {
	AuditFilter
	Page
}) (*body[list[auditOutput]], error) {
	found, err := h.Audit.List(ctx, web.Principal(ctx), audit.Query{
		Team:    in.Team,
		Project: in.Project,
		Actor:   in.Actor,
		Action:  in.Action,
		Object:  in.Object,
		Outcome: in.Outcome,
		From:    in.From,
		To:      in.To,
		Cursor:  in.Cursor,
		Limit:   in.Limit,
	})
	if err != nil {
		return nil, err
	}
	var items []auditOutput
	for _, e := range found.Entries {
		items = append(items, showAudit(e))
	}
	return &body[list[auditOutput]]{listOf(items, found.Next)}, nil
}

type verdictOutput struct {
	Team    *string      `json:"team" doc:"Null for what belongs to the installation"`
	Intact  bool         `json:"intact"`
	Entries int64        `json:"entries" doc:"That are in order"`
	Head    string       `json:"head" doc:"The end of the chain. Keep it, and send it later as head to see that nothing before it was changed"`
	Broken  *breakOutput `json:"broken" doc:"The first place at which the chain is not what it was; null when it is intact"`
}

type breakOutput struct {
	Number int64   `json:"number"`
	Entry  *string `json:"entry" doc:"Id; null where the entry is missing"`
	Reason string  `json:"reason"`
}

func (h *Handler) verifyAudit(ctx context.Context, in *struct {
	Team string `query:"team" doc:"Id; your first team when absent. A workspace merged into a team of yours counts too. installation, for operators, is what belongs to no team"`
	Head string `query:"head" doc:"A head that was answered earlier, through which the chain has to lead"`
}) (*body[verdictOutput], error) {
	known, err := parseHead(in.Head)
	if err != nil {
		return nil, err
	}
	verdict, err := h.Audit.Verify(ctx, web.Principal(ctx), in.Team, known)
	if err != nil {
		return nil, err
	}
	out := verdictOutput{
		Team:    orNull(verdict.Team),
		Intact:  verdict.Broken == nil,
		Entries: verdict.Entries,
		Head:    verdict.Head.String(),
	}
	if broken := verdict.Broken; broken != nil {
		out.Broken = &breakOutput{Number: broken.Number, Entry: orNull(broken.Entry), Reason: broken.Reason}
	}
	return &body[verdictOutput]{out}, nil
}

func parseHead(s string) (audit.Head, error) {
	if s == "" {
		return audit.Head{}, nil
	}
	number, hash, _ := strings.Cut(s, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || (n > 0 && len(hash) != models.ChainHashLength) {
		return audit.Head{}, fault.InvalidField("/head", "invalid_head", "Send a head as it was answered: a number, "+
			"a colon and a hash.")
	}
	return audit.Head{Number: n, Hash: hash}, nil
}
