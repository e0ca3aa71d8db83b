package login

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
	"postern/service/appclients"
	"postern/service/directory"
)

// Consent is an end user's own view of their consent to an app client.
type Consent struct {
	contract.Consent
	Shares []Share // the scopes in words
}

// Sessions lists an end user's sessions that have neither ended nor expired, newest first.
func (s *Service) Sessions(
	ctx context.Context, p access.Principal, in contract.UserSessionList,
) (models.List[contract.UserSession], error) {
	tx, user := s.DB.Read(ctx), in.User
	if _, _, _, err := findUser(tx, p, user, access.UserRead); err != nil {
		return models.List[contract.UserSession]{}, fmt.Errorf("login: sessions of %s: %w", user, err)
	}
	list, err := sessionsOf(tx, user, models.PageOf(in.Page, in.Sort, ""), false)
	if err != nil {
		return list, fmt.Errorf("login: sessions of %s: %w", user, err)
	}
	return list, nil
}

// sessionsOf lists a user's sessions. unclaimed is set for a hosted page of an unclaimed workspace.
func sessionsOf(
	tx *models.Tx, user string, page models.Page, unclaimed bool,
) (models.List[contract.UserSession], error) {
	rows, err := tx.LiveSessionsOf(user, models.Now(), page)
	if err != nil {
		return models.List[contract.UserSession]{}, err
	}
	names := newSessionNames(unclaimed)
	out := models.List[contract.UserSession]{Next: rows.Next, Total: rows.Total}
	for _, row := range rows.Items {
		session, err := names.session(tx, row)
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, session)
	}
	return out, nil
}

// Session returns an end user's session. One that has ended or expired is NotFound.
func (s *Service) Session(
	ctx context.Context, p access.Principal, in contract.UserSessionPath,
) (contract.UserSession, error) {
	tx, user, id := s.DB.Read(ctx), in.User, in.Session
	_, _, _, err := findUser(tx, p, user, access.UserRead)
	if err != nil {
		return contract.UserSession{}, fmt.Errorf("login: session %s: %w", id, err)
	}
	row, err := tx.LoginSessionByID(id)
	if err == nil && (row.UserID != user || row.EndedAt != nil || row.ExpiresAt.Before(models.Now())) {
		err = models.ErrNotFound
	}
	if err != nil {
		return contract.UserSession{}, fmt.Errorf("login: session %s: %w", id, access.Missing(err))
	}
	return newSessionNames(false).session(tx, row)
}

// sessionNames are the names of app clients and providers, by their ids, each of which is read once.
type sessionNames struct {
	clients, providers map[string]string

	unclaimed bool // see sessionsOf
}

func newSessionNames(unclaimed bool) sessionNames {
	return sessionNames{clients: map[string]string{}, providers: map[string]string{}, unclaimed: unclaimed}
}

func (n sessionNames) session(tx *models.Tx, row models.LoginSession) (contract.UserSession, error) {
	if _, known := n.clients[row.ClientID]; !known {
		client, err := tx.AppClientByID(row.ClientID)
		if unlessAbsent(err) != nil {
			return contract.UserSession{}, err
		}
		n.clients[row.ClientID] = shownClient(client, n.unclaimed)
	}
	if _, known := n.providers[row.ProviderID]; !known {
		switch provider, err := tx.ProviderByID(row.ProviderID); {
		case err == nil:
			n.providers[row.ProviderID] = appclients.PublicLabel(provider, n.unclaimed)
		case !isAbsent(err):
			return contract.UserSession{}, err
		}
	}
	return contract.UserSession{
		ID:         row.ID,
		Client:     row.ClientID,
		ClientName: n.clients[row.ClientID],
		Provider:   n.providers[row.ProviderID],
		Scopes:     strings.Fields(row.Scope),
		UserAgent:  row.UserAgent,
		LastSeenAt: contract.UTC(row.SeenAt),
		CreatedAt:  row.CreatedAt.UTC(),
		ExpiresAt:  row.ExpiresAt.UTC(),
	}, nil
}

// EndSession ends a session of an end user. Gateways refuse its access tokens at once. A
// session that has ended is NotFound.
func (s *Service) EndSession(
	ctx context.Context, p access.Principal, in contract.UserSessionPath,
) (contract.None, error) {
	return contract.None{}, s.end(ctx, p, byTeam(p, in.User), endingSession(in.Session))
}

func endingSession(session string) ending {
	return func(tx *models.Tx, user string) (change, error) {
		row, err := tx.LoginSessionByID(session)
		if err != nil {
			return change{}, access.Missing(err)
		}
		if row.UserID != user || row.EndedAt != nil {
			return change{}, access.NotFound()
		}
		now := models.Now()
		ended := change{before: struct{ Session, Client string }{row.ID, row.ClientID}}
		return ended, tx.BarLoginSession(session, now, now.Add(snapshot.BarredFor))
	}
}

// EndSessions ends all sessions of an end user, at every app client, and returns how many
// there were. Gateways refuse their access tokens at once, also those of sessions that
// ended before and whose tokens have not expired.
func (s *Service) EndSessions(
	ctx context.Context, p access.Principal, in contract.UserPath,
) (out contract.EndedSessions, err error) {
	err = s.end(ctx, p, byTeam(p, in.User), endingAll(&out.Ended))
	return out, err
}

func endingAll(ended *int64) ending {
	return func(tx *models.Tx, user string) (change, error) {
		now := models.Now()
		var err error
		*ended, err = tx.EndLoginsOf(user, now, now.Add(-snapshot.BarredFor), now.Add(snapshot.BarredFor))
		return change{after: struct{ SessionsEnded int64 }{*ended}}, err
	}
}

// Consents lists an end user's consents by app client.
func (s *Service) Consents(
	ctx context.Context, p access.Principal, in contract.UserPath,
) (models.List[contract.Consent], error) {
	var none models.List[contract.Consent]
	tx := s.DB.Read(ctx)
	if _, _, _, err := findUser(tx, p, in.User, access.UserRead); err != nil {
		return none, fmt.Errorf("login: consents of %s: %w", in.User, err)
	}
	list, err := consentsOf(tx, in.User, false)
	if err != nil {
		return none, fmt.Errorf("login: consents of %s: %w", in.User, err)
	}
	all := models.List[Consent]{Items: list}
	return models.MapList(all, func(c Consent) contract.Consent { return c.Consent }), nil
}

// consentsOf lists a user's consents. unclaimed is set for a hosted page of an unclaimed workspace.
func consentsOf(tx *models.Tx, user string, unclaimed bool) ([]Consent, error) {
	rows, err := tx.LoginConsentsOf(user)
	if err != nil {
		return nil, err
	}
	var list []Consent
	for _, row := range rows {
		client, err := tx.AppClientByID(row.ClientID)
		if err != nil {
			return nil, err
		}
		offered, err := apisOf(tx, client)
		if err != nil {
			return nil, err
		}
		agreed := shares(row.Scope, "")
		if !unclaimed {
			agreed = offered.describe(agreed, row.Scope)
		}
		list = append(list, Consent{
			Consent: contract.Consent{
				Client:     row.ClientID,
				ClientName: shownClient(client, unclaimed),
				Scopes: slices.DeleteFunc(strings.Fields(row.Scope), func(one string) bool {
					return one == providerScope
				}),
				CreatedAt: row.CreatedAt.UTC(),
				UpdatedAt: row.UpdatedAt.UTC(),
			},
			Shares: agreed,
		})
	}
	return list, nil
}

// WithdrawConsent removes an end user's consent to an app client, and ends their sessions
// there. At the next sign-in they are asked again.
func (s *Service) WithdrawConsent(
	ctx context.Context, p access.Principal, in contract.ConsentPath,
) (contract.None, error) {
	return contract.None{}, s.end(ctx, p, byTeam(p, in.User), s.withdrawing(ctx, in.Client))
}

func (s *Service) withdrawing(ctx context.Context, clientID string) ending {
	return func(tx *models.Tx, user string) (change, error) {
		row, err := tx.LoginConsentOf(user, clientID)
		if err != nil {
			return change{}, access.Missing(err)
		}
		if err := tx.DeleteLoginConsent(user, clientID); err != nil {
			return change{}, err
		}
		client, err := tx.AppClientByID(clientID)
		if err != nil {
			return change{}, err
		}
		if err := s.EmitConsentWithdrawn(ctx, tx, user, client); err != nil {
			return change{}, err
		}
		now := models.Now()
		_, err = tx.EndLoginsAt(user, clientID, now, now.Add(-snapshot.BarredFor), now.Add(snapshot.BarredFor))
		return change{before: struct{ Client, Scope string }{clientID, row.Scope}}, err
	}
}

// change has the values that an audit entry compares; nil for what did not exist.
type change struct{ before, after any }

// ending ends sessions of an end user, given by id.
type ending func(tx *models.Tx, user string) (change, error)

// subject is an end user with the tenant and the team that they belong to.
type subject struct {
	models.EndUser
	tenant models.Tenant
	team   string
}

// byTeam returns a function that finds an end user that the principal may change.
func byTeam(p access.Principal, user string) func(*models.Tx) (subject, error) {
	return func(tx *models.Tx) (subject, error) {
		row, tenant, team, err := findUser(tx, p, user, access.UserUpdate)
		return subject{row, tenant, team}, err
	}
}

// end ends sessions in one transaction with its audit entry and the gateways' revisions.
func (s *Service) end(
	ctx context.Context, p access.Principal, find func(*models.Tx) (subject, error), fn ending,
) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		user, err := find(tx)
		if err != nil {
			return err
		}
		done, err := fn(tx, user.ID)
		if err != nil {
			return err
		}
		detail := map[string]string{"tenant": user.TenantID}
		if p.Anonymous() {
			detail["by"] = "user"
		}
		return access.RecordServed(tx, p, user.tenant, access.Entry{
			Action: access.UserUpdate,
			Object: user.ID,
			Name:   directory.NameOf(user.EndUser),
			Team:   user.team,
			Detail: detail,
			Before: done.before,
			After:  done.after,
		})
	})
	if err != nil {
		return fmt.Errorf("login: end sessions or a consent: %w", err)
	}
	s.Changed(ctx)
	return nil
}

func findUser(
	tx *models.Tx, p access.Principal, id string, action access.Action,
) (models.EndUser, models.Tenant, string, error) {
	if p.Anonymous() {
		return models.EndUser{}, models.Tenant{}, "", access.Check(p, "", action)
	}
	row, err := tx.EndUserByID(id)
	if err != nil {
		return row, models.Tenant{}, "", access.Missing(err)
	}
	tenant, team, err := access.Tenant(tx, p, row.TenantID, action)
	return row, tenant, team, err
}
