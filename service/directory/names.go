package directory

import (
	"postern/models"
	"postern/platform/fault"
	"postern/platform/federation"
)

// applyParts changes the parts of the name, which the profile has. A new name without parts ends those of the old one.
// was is the name before.
func (in UserChange) applyParts(row *models.EndUser, was string) (wrong []fault.Field) {
	profile := federation.ParseProfile(row.Profile)
	if in.GivenName == nil && in.FamilyName == nil {
		if row.Name == was {
			return nil
		}
		profile.GivenName, profile.FamilyName, profile.MiddleName = "", "", ""
	}
	for _, part := range []struct {
		pointer string
		in      *string
		of      *string
	}{
		{"/given_name", in.GivenName, &profile.GivenName},
		{"/family_name", in.FamilyName, &profile.FamilyName},
	} {
		if part.in != nil {
			wrong = append(wrong, checkText(part.pointer, *part.in)...)
			*part.of = *part.in
		}
	}
	kept := federation.ParseProfile(profile.JSON()) // without what makes it too long
	if len(wrong) == 0 && (kept.GivenName != profile.GivenName || kept.FamilyName != profile.FamilyName) {
		wrong = []fault.Field{{
			Pointer: "/name", Code: "invalid_text", Detail: "Don't use characters that change the direction of text.",
		}}
	}
	row.Profile = kept.JSON()
	return wrong
}

// profileOf returns the profile of a user after a sign-in. The parts of the name that a provisioning system has sent
// stay if the provider states none.
func (in ExternalIdentity) profileOf(user models.EndUser) string {
	before, after := federation.ParseProfile(user.Profile), federation.ParseProfile(in.Profile)
	if user.UserName == nil || after.GivenName != "" || after.FamilyName != "" {
		return in.Profile
	}
	after.GivenName, after.FamilyName, after.MiddleName = before.GivenName, before.FamilyName, before.MiddleName
	return federation.ParseProfile(after.JSON()).JSON()
}
