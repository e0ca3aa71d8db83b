package accounts_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"postern/models"
	"postern/platform/fault"
	"postern/service/accounts"
	"postern/testkit/state"
)

// outbox keeps what would be mailed, and what is queued.
type outbox struct {
	failing error
	texts   []string
	queued  []string
}

func (o *outbox) Send(_ context.Context, to, _, text string) error {
	if o.failing == nil {
		o.texts = append(o.texts, to+"\n"+text)
	}
	return o.failing
}

func (o *outbox) EnqueueRecovery(_ context.Context, _ *models.Tx, email, _ string) error {
	o.queued = append(o.queued, email)
	return nil
}

func (o *outbox) EnqueueInvitation(_ context.Context, _ *models.Tx, id string) error {
	o.queued = append(o.queued, id)
	return nil
}

func (o *outbox) EnqueueConfirmation(_ context.Context, _ *models.Tx, link string) error {
	o.queued = append(o.queued, link)
	return nil
}

func (o *outbox) EnqueueEmailChanged(_ context.Context, _ *models.Tx, before, after string) error {
	o.queued = append(o.queued, before+" became "+after)
	return nil
}

func TestRequestRecovery(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &accounts.Service{DB: db, PasswordCost: cheap}
		firstAccount(t, s)
		from := accounts.From{RemoteAddr: "192.0.2.1:1000"}
		if err := s.RequestRecovery(t.Context(), "ana@example.com", from); fault.KindOf(err) != fault.NotFound {
			t.Errorf("without a mail server: %v", err)
		}
		box := &outbox{}
		s.Mail = &accounts.Mail{Sender: box, Jobs: box, PublicURL: "https://postern.example.com"}
		for _, email := range []string{" Ana@Example.com", "unknown@example.com"} {
			if err := s.RequestRecovery(t.Context(), email, from); err != nil {
				t.Errorf("%s: %v", email, err)
			}
		}
		if got := strings.Join(box.queued, " "); got != "ana@example.com unknown@example.com" {
			t.Errorf("queued %s", got)
		}
		if err := s.RequestRecovery(t.Context(), "ana", from); fault.KindOf(err) != fault.Invalid {
			t.Errorf("no address: %v", err)
		}
		refused := error(nil)
		for range 20 {
			if refused = s.RequestRecovery(t.Context(), "unknown@example.com", from); refused != nil {
				break
			}
		}
		if fault.KindOf(refused) != fault.TooMany {
			t.Errorf("after many requests: %v", refused)
		}
	})
}

func TestSendRecovery(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &accounts.Service{DB: db, PasswordCost: cheap}
		firstAccount(t, s)
		box := &outbox{failing: errors.New("451 try again later")}
		s.Mail = &accounts.Mail{Sender: box, Jobs: box, PublicURL: "https://postern.example.com"}
		send := func(email string) error { return s.SendRecovery(t.Context(), email, "192.0.2.1:1000") }
		if err := send("ana@example.com"); err == nil || strings.Contains(err.Error(), "/recover/") {
			t.Errorf("a mail that is refused: %v", err)
		}
		box.failing = nil
		for _, email := range []string{"unknown@example.com", "ana@example.com", "ana@example.com"} {
			if err := send(email); err != nil {
				t.Errorf("%s: %v", email, err)
			}
		}
		if len(box.texts) != 1 {
			t.Fatalf("mailed %d, want one at a time: %q", len(box.texts), box.texts)
		}
		_, rest, _ := strings.Cut(box.texts[0], "https://postern.example.com/recover/")
		code, _, _ := strings.Cut(rest, "\n")
		if email, err := s.RecoveryEmail(t.Context(), code); err != nil || email != "ana@example.com" {
			t.Errorf("the link is for %q, %v", email, err)
		}
	})
}
