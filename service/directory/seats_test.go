package directory_test

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/directory"
	"postern/testkit"
	"postern/testkit/state"
)

const (
	seat     = "usr_seat"
	sharedID = "00000000-0000-0000-66f3-3332eca7ea81"
)

func invitationHash(code string) models.Digest {
	sum := sha256.Sum256([]byte(code))
	return sum[:]
}

// seated inserts a user who was invited or provisioned, with an invitation link whose code is "code".
func (h *tenantFixture) seated(change func(*models.EndUser)) {
	h.t.Helper()
	now, ends, external := models.Now(), models.Now().Add(time.Hour), sharedID
	row := models.EndUser{
		ID: seat, TenantID: tenant, Email: "ana@example.com", State: directory.Invited, ExternalID: &external,
		CreatedAt: now, UpdatedAt: now, InvitationHash: invitationHash("code"), InvitationEndsAt: &ends,
	}
	if change != nil {
		change(&row)
	}
	h.write(func(tx *models.Tx) error { return tx.Insert(&row) })
}

func withID(in directory.ExternalIdentity, id string) directory.ExternalIdentity {
	in.DirectoryID = id
	return in
}

func invitedWith(in directory.ExternalIdentity, code string) directory.ExternalIdentity {
	in.Invitation = invitationHash(code)
	return in
}

func TestProvision_seats(t *testing.T) {
	const ana, refused = "ana@example.com", "invitation_required"
	frozen := func(row *models.EndUser) { row.State = directory.Frozen }
	tests := map[string]struct {
		seat func(*models.EndUser)
		who  directory.ExternalIdentity
		want string // code of the refusal; "" for the seat, "new" for another user
	}{
		"a verified address":             {nil, identity("1", ana, true), refused},
		"an address, not verified":       {nil, identity("1", ana, false), refused},
		"another address":                {nil, identity("1", "bo@example.com", true), "new"},
		"authoritative for the domain":   {nil, speakingFor("example.com", identity("1", ana, true)), ""},
		"authoritative, not verified":    {nil, speakingFor("example.com", identity("1", ana, false)), refused},
		"authoritative for another":      {nil, speakingFor("evil.example", identity("1", ana, true)), refused},
		"authoritative, frozen":          {frozen, speakingFor("example.com", identity("1", ana, true)), "user_frozen"},
		"a verified address, frozen":     {frozen, identity("1", ana, true), refused},
		"the shared id":                  {nil, withID(identity("1", "", false), sharedID), ""},
		"the shared id, another address": {nil, withID(identity("1", "bo@example.com", true), sharedID), ""},
		"the shared id, frozen":          {frozen, withID(identity("1", "", false), sharedID), "user_frozen"},
		"another id, the same address":   {nil, withID(identity("1", ana, false), "other"), refused},
		"the invitation link":            {nil, invitedWith(identity("1", "", false), "code"), ""},
		"the link, frozen":               {frozen, invitedWith(identity("1", "", false), "code"), "user_frozen"},
		"another link":                   {nil, invitedWith(identity("1", ana, true), "other"), "invitation_over"},
		"a link that has ended": {func(row *models.EndUser) {
			ended := models.Now().Add(-time.Second)
			row.InvitationEndsAt = &ended
		}, invitedWith(identity("1", "", false), "code"), "invitation_over"},
	}
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newTenantFixture(t, db)
		for name, tt := range testkit.ByName(tests) {
			h.t = t
			h.seated(tt.seat)
			user, _, _, err := h.provision(tt.who)
			switch got := fault.CodeOf(err); {
			case tt.want == "new" && (err != nil || user.ID == seat),
				tt.want == "" && (err != nil || user.ID != seat || user.State != directory.Active),
				tt.want != "" && tt.want != "new" && got != tt.want:
				t.Errorf("%s: %s, %v; want %q", name, user.ID, err, tt.want)
			}
			h.write(func(tx *models.Tx) error {
				if err := tx.DeleteEndUser(user.ID); err != nil {
					return err
				}
				return tx.DeleteEndUser(seat)
			})
		}
	})
}

// TestProvision_sharedAddress checks that an address which several users share leads to none of them, and that the
// refusal says so: before and after one of them has signed in.
func TestProvision_sharedAddress(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newTenantFixture(t, db)
		userName := func(name string) func(*models.EndUser) {
			return func(row *models.EndUser) {
				row.ID, row.UserName, row.ExternalID, row.InvitationHash = "usr_"+name, &name, nil, invitationHash(name)
			}
		}
		h.seated(userName("juan"))
		h.seated(userName("bea"))
		who := speakingFor("example.com", identity("1", "ana@example.com", true))
		refused := func(when string) {
			t.Helper()
			user, _, _, err := h.provision(who)
			if fault.CodeOf(err) != "invitation_required" || !strings.Contains(err.Error(), "Several users") {
				t.Errorf("%s: %s, %v", when, user.ID, err)
			}
		}
		refused("two seats")
		juan := invitedWith(identity("2", "ana@example.com", true), "juan")
		if user, _, _, err := h.provision(juan); err != nil || user.ID != "usr_juan" {
			t.Fatalf("the link leads to %s, %v", user.ID, err)
		}
		refused("a seat, and a user who has signed in")
		h.write(func(tx *models.Tx) error { return tx.DeleteEndUser("usr_juan") })
		if user, _, _, err := h.provision(who); err != nil || user.ID != "usr_bea" {
			t.Errorf("the only user left: %s, %v", user.ID, err)
		}
	})
}

// A seat that is taken is not taken again: not by the link, nor by another sign-in with the address.
func TestProvision_seatTaken(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newTenantFixture(t, db)
		h.seated(nil)
		user, _, _, err := h.provision(invitedWith(identity("1", "", false), "code"))
		if err != nil || user.ID != seat {
			t.Fatalf("the link leads to %s, %v", user.ID, err)
		}
		_, _, _, err = h.provision(invitedWith(identity("2", "", false), "code"))
		if fault.CodeOf(err) != "invitation_over" {
			t.Errorf("the link works again: %v", err)
		}
		user, _, _, err = h.provision(speakingFor("example.com", identity("3", "ana@example.com", true)))
		if err != nil || user.ID == seat {
			t.Errorf("the taken seat goes to %s, %v", user.ID, err)
		}
		// The directory's id says that it is the same person.
		if user, _, _, err := h.provision(withID(identity("4", "", false), sharedID)); err != nil || user.ID != seat {
			t.Errorf("the shared id leads to %s, %v", user.ID, err)
		}
	})
}

// If identities arrive at the same moment with the same claim to a seat, one takes it.
func TestProvision_seatTakenOnce(t *testing.T) {
	ways := map[string]func(directory.ExternalIdentity) directory.ExternalIdentity{
		"link": func(in directory.ExternalIdentity) directory.ExternalIdentity { return invitedWith(in, "code") },
		"domain": func(in directory.ExternalIdentity) directory.ExternalIdentity {
			in.Email, in.EmailVerified, in.Domain = "ana@example.com", true, "example.com"
			return in
		},
	}
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newTenantFixture(t, db)
		for name, way := range testkit.ByName(ways) {
			for range 10 {
				h.seated(nil)
				var all sync.WaitGroup
				begin := make(chan struct{})
				users := make([]string, 4)
				for i := range users {
					all.Go(func() {
						<-begin
						_ = db.Write(t.Context(), func(tx *models.Tx) error {
							who := way(identity(string(rune('a'+i)), "", false))
							user, _, err := directory.Provision(tx, who, models.Now())
							users[i] = user.ID
							if err != nil {
								users[i] = ""
							}
							return err
						})
					})
				}
				close(begin)
				all.Wait()
				taken := 0
				for _, user := range users {
					if user == seat {
						taken++
					}
				}
				if taken != 1 {
					t.Errorf("%s: %d of %v have the seat, want 1", name, taken, users)
				}
				h.write(func(tx *models.Tx) error {
					for _, user := range append(users, seat) {
						if user != "" {
							if err := tx.DeleteEndUser(user); err != nil {
								return err
							}
						}
					}
					return nil
				})
			}
		}
	})
}

// A user who signed in before being provisioned stays one user, and the provisioning system can freeze that user.
func TestCreateUser_signedInFirst(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newTenantFixture(t, db)
		service := &directory.Service{DB: db, Changed: func(context.Context) {}}
		owner := access.Principal{Account: "acc_1", Roles: map[string]access.Role{"team_1": access.Owner}}
		arrived, _, _, err := h.provision(withID(identity("1", "ana@example.com", false), sharedID))
		if err != nil {
			t.Fatal(err)
		}
		made, err := service.ProvisionUser(t.Context(), owner, tenant, directory.NewUser{
			NewUser: contract.NewUser{Email: "ana@example.com"}, UserName: "ana", ExternalID: sharedID, Frozen: true,
		})
		if err != nil || made.ID != arrived.ID || made.UserName != "ana" {
			t.Fatalf("it is created as %s, %v; want %s", made.ID, err, arrived.ID)
		}
		who := withID(identity("1", "ana@example.com", false), sharedID)
		if _, _, _, err := h.provision(who); fault.CodeOf(err) != "user_frozen" {
			t.Errorf("the frozen user signs in: %v", err)
		}
		in := directory.NewUser{UserName: "bo", ExternalID: "2"}
		other, err := service.ProvisionUser(t.Context(), owner, tenant, in)
		if err != nil {
			t.Fatal(err)
		}
		id := sharedID
		_, err = service.ChangeUser(t.Context(), owner, other.ID, "", directory.UserChange{ExternalID: &id})
		if fault.CodeOf(err) != "external_id_taken" {
			t.Errorf("another user gets the id: %v", err)
		}
	})
}
