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
	Number    int64                   `json:"number" doc:"Position in the chain"`
	Hash      string                  `json:"hash" doc:"SHA-256 of the entry and the previous hash, hexadecimal"`
	Time      time.Time               `json:"time"`
	Team      *string                 `json:"team" doc:"null for entries of the installation"`
	Actor     actorOutput             `json:"actor"`
	Action    string                  `json:"action" doc:"For example key.change"`
	Outcome   string                  `json:"outcome" enum:"done,refused"`
	Object    string                  `json:"object" doc:"Id of the object"`
	Project   *string                 `json:"project" doc:"Id of the object's project; null for none"`
	Detail    map[string]string       `json:"detail" doc:"Details; for a refusal its code"`
	Changes   map[string]changeOutput `json:"changes" doc:"Changed fields; secrets are ***"`
	Address   string                  `json:"address" doc:"IP address of the caller"`
	RequestID string                  `json:"request_id"`
}

type actorOutput struct {
	ID    string  `json:"id" doc:"An account's id, workspace_key:<team>, command_line or anonymous"`
	Email *string `json:"email" doc:"E-mail address if the account is in the team; else null"`
	Token *string `json:"token" doc:"Id of the session, token or workspace key; null for none"`
}

type changeOutput struct {
	Before any `json:"before" doc:"null if there was none"`
	After  any `json:"after" doc:"null if it was removed"`
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

// AuditFilter is the query of audit entries. It is exported because huma ignores embedded
// types that are not.
type AuditFilter struct {
	Team    string    `query:"team" doc:"Id of a team or a workspace merged into one; default: the project's, else your first team. Operators: installation"`
	Project string    `query:"project" doc:"Name or id"`
	Actor   string    `query:"actor" doc:"Account id or e-mail address, or another actor"`
	Action  string    `query:"action"`
	Object  string    `query:"object" doc:"Id of the object"`
	Outcome string    `query:"outcome" enum:"done,refused"`
	From    time.Time `query:"from" doc:"RFC 3339"`
	To      time.Time `query:"to" doc:"RFC 3339, exclusive"`
}

func (h *Handler) listAudit(ctx context.Context, in *struct {
	AuditFilter
	Page
	Sort string `query:"sort" enum:"created,-created" default:"-created"`
	Text string `query:"q" maxLength:"200" doc:"Part of an ID, action, address, detail or e-mail address"`
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
		Page:    in.sorted(in.Sort, in.Text),
	})
	return answerPage(found.List, err, showAudit)
}

type verdictOutput struct {
	Team    *string      `json:"team" doc:"null for entries of the installation"`
	Intact  bool         `json:"intact"`
	Entries int64        `json:"entries" doc:"Number of entries that verify"`
	Removed int64        `json:"removed" doc:"Number of entries before them that retention removed"`
	Head    string       `json:"head" doc:"Last hash. Keep it and send it as head later, to verify that nothing before it has changed"`
	Broken  *breakOutput `json:"broken" doc:"First entry that does not verify; null if the chain is intact"`
}

type breakOutput struct {
	Number int64   `json:"number"`
	Entry  *string `json:"entry" doc:"Id; null if the entry is missing"`
	Reason string  `json:"reason"`
}

func (h *Handler) verifyAudit(ctx context.Context, in *struct {
	Team string `query:"team" doc:"Id of a team or a workspace merged into one; default: your first team. Operators: installation"`
	Head string `query:"head" doc:"Earlier head that the chain must contain"`
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
		Removed: verdict.Start.Number,
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
