package pages

import (
	"net/http"

	"postern/handlers/web"
	"postern/views/ui"
)

// flashes are the notices that a page shows about the action that led to it. The cookie
// holds the name only, so that a forged one cannot show other text.
var flashes = map[string]ui.Notice{
	"imported": {
		Tone: ui.Good,
		Text: "The project is imported, and serves calls from now on. Its secrets have to be entered again.",
	},
	"settings": {Tone: ui.Good, Text: "The settings are saved."},
	"access":   {Tone: ui.Good, Text: "The access policy is saved and applies from the next call on."},
	"version_made": {
		Tone: ui.Good,
		Text: "The version is added. It has policies of its own, which you can change below.",
	},
	"environment_made": {Tone: ui.Good, Text: "The environment is added and answers from now on."},
	"renamed":          {Tone: ui.Good, Text: "Renamed. The new address answers, and the old one no longer does."},
	"moved":            {Tone: ui.Good, Text: "The project belongs to the other team now."},
	"place_gone":       {Tone: ui.Good, Text: "Removed. Its calls are answered 404."},
	"domain_added": {
		Tone: ui.Good,
		Text: "The host name is added. Create the TXT record below, then press Verify.",
	},
	"domain_verified": {Tone: ui.Good, Text: "The host name is verified and served."},
	"domain_moved":    {Tone: ui.Good, Text: "Saved. The host name leads there from the next call on."},
	"domain_gone":     {Tone: ui.Good, Text: "The host name is removed. Calls to it are answered 404."},
	"upstream_header": {Tone: ui.Good, Text: "The header is set. Calls carry it from the next one on."},
	"upstream_header_gone": {
		Tone: ui.Good,
		Text: "The header is removed. What callers send under its name reaches the upstream again.",
	},
	"client_certificate": {
		Tone: ui.Good,
		Text: "The certificate is set. New connections to the upstream present it from the next call on.",
	},
	"client_certificate_gone": {
		Tone: ui.Good,
		Text: "The certificate and its private key are removed. Calls present none.",
	},
	"call_signing":      {Tone: ui.Good, Text: "Calls are signed from the next one on."},
	"call_signing_key":  {Tone: ui.Good, Text: "The new key is published. The list says when it signs."},
	"call_signing_gone": {Tone: ui.Good, Text: "Calls are no longer signed. The keys are deleted."},
	"group_mapping": {
		Tone: ui.Good,
		Text: "The rule is added. It counts from each user's next sign-in on.",
	},
	"group_mapping_gone": {Tone: ui.Good, Text: "The rule is removed."},
	"api_scope_made": {
		Tone: ui.Good,
		Text: "The API scope is added. Allow it to app clients under their API access.",
	},
	"api_scope":      {Tone: ui.Good, Text: "The description is saved and shown from the next sign-in on."},
	"api_scope_gone": {Tone: ui.Good, Text: "The API scope is removed. It is in no new token."},
	"api_audience":   {Tone: ui.Good, Text: "The audience is saved and applies from the next token on."},
	"rules":          {Tone: ui.Good, Text: "The rules are saved and apply from the next call on."},
	"relation_made": {
		Tone: ui.Good,
		Text: "The owner is added, and may call what rules keep for the object's owner.",
	},
	"relation_exists":     {Tone: ui.Good, Text: "They own the object already."},
	"relations_made":      {Tone: ui.Good, Text: "The owners of the file are added."},
	"relations_some_made": {Tone: ui.Good, Text: "The owners of the file are added. Some of them existed already."},
	"relations_exist":     {Tone: ui.Good, Text: "All owners of the file exist already."},
	"relation_gone":       {Tone: ui.Good, Text: "The owner is forgotten."},
	"transforms":          {Tone: ui.Good, Text: "The transforms are saved and apply from the next call on."},
	"openapi":             {Tone: ui.Good, Text: "The document is imported. Rules and environments stay as they are."},
	"openapi_used":        {Tone: ui.Good, Text: "Saved. The gateway does so from the next call on."},
	"openapi_gone":        {Tone: ui.Good, Text: "The document is removed. Exports have a generated one."},
	"cors":                {Tone: ui.Good, Text: "Cross-origin calls are saved and apply from the next call on."},
	"limits":              {Tone: ui.Good, Text: "The limits are saved and apply from the next call on."},
	"product": {
		Tone: ui.Good,
		Text: "The product is saved. Its keys open this project from the next call on.",
	},
	"product_made": {
		Tone: ui.Good,
		Text: "The product is created. Choose it in the settings of the projects that belong to it.",
	},
	"product_gone": {Tone: ui.Good, Text: "The product is deleted."},
	"tenant": {
		Tone: ui.Good,
		Text: "The tenant is saved. The change applies in every project that serves it from the next call on.",
	},
	"tenant_made": {
		Tone: ui.Good,
		Text: "The tenant is created. Attach it under Tenants of each project that should serve it.",
	},
	"project_deleted":  {Tone: ui.Good, Text: "The project is in the bin. Its calls are answered 410."},
	"project_erased":   {Tone: ui.Good, Text: "The project is deleted for good."},
	"project_restored": {Tone: ui.Good, Text: "The project is served again, with everything it had."},
	"team_gone":        {Tone: ui.Good, Text: "The team is deleted."},
	"tenant_gone":      {Tone: ui.Good, Text: "The tenant is deleted."},
	"attached": {
		Tone: ui.Good,
		Text: "The tenant is attached. The project serves it from the next call on.",
	},
	"detached": {Tone: ui.Good, Text: "The tenant is detached. The project answers its keys with 403."},
	"invited": {
		Tone: ui.Good,
		Text: "The user is invited. The first sign-in with this address, confirmed, becomes this user.",
	},
	"user": {Tone: ui.Good, Text: "The user is saved."},
	"user_frozen": {
		Tone: ui.Good,
		Text: "The user is frozen. Their calls get 403 until you unfreeze them.",
	},
	"user_thawed": {Tone: ui.Good, Text: "The user is unfrozen and can sign in again."},
	"user_session": {
		Tone: ui.Good,
		Text: "The session has ended. The gateway refuses its access tokens.",
	},
	"user_sessions": {
		Tone: ui.Good,
		Text: "The user is logged out everywhere. The gateway refuses the access tokens of all sessions.",
	},
	"user_consent": {
		Tone: ui.Good,
		Text: "The consent is withdrawn and its sessions have ended. The user is asked again at the next sign-in.",
	},
	"user_gone":   {Tone: ui.Good, Text: "The user is deleted."},
	"entry":       {Tone: ui.Good, Text: "Saved. The change applies from the next sign-in on."},
	"approved":    {Tone: ui.Good, Text: "Approved. The approval applies from the next sign-in on."},
	"disapproved": {Tone: ui.Good, Text: "The approval is removed. Users who signed in with it stay."},
	"group":       {Tone: ui.Good, Text: "The group is saved."},
	"group_made":  {Tone: ui.Good, Text: "The group is created. Add users or other groups to it."},
	"group_gone":  {Tone: ui.Good, Text: "The group is deleted."},
	"member":      {Tone: ui.Good, Text: "The membership is saved."},
	"member_gone": {Tone: ui.Good, Text: "The user is no longer a direct member of the group."},
	"nested":      {Tone: ui.Good, Text: "The group is added with all of its members."},
	"unnested":    {Tone: ui.Good, Text: "The group is removed."},
	"addresses":   {Tone: ui.Good, Text: "The addresses are saved and apply from the next call on."},
	"target":      {Tone: ui.Good, Text: "The target is saved and applies from the next call on."},
	"key_saved":   {Tone: ui.Good, Text: "The key is saved and applies from the next call on."},
	"key_type": {
		Tone: ui.Good,
		Text: "The key type is saved and applies to all of its keys from the next call on.",
	},
	"key_type_gone": {Tone: ui.Good, Text: "The key type is deleted."},
	"frozen":        {Tone: ui.Good, Text: "The key is frozen. Its calls get 403 until you unfreeze it."},
	"unfrozen":      {Tone: ui.Good, Text: "The key is unfrozen and works again."},
	"keys_frozen":   {Tone: ui.Good, Text: "The keys are frozen. Their calls get 403 until you unfreeze them."},
	"keys_unfrozen": {Tone: ui.Good, Text: "The keys are unfrozen and work again."},
	"keys_revoked":  {Tone: ui.Good, Text: "The keys are revoked for good."},
	"revoked":       {Tone: ui.Good, Text: "The key is revoked for good."},
	"claimed": {
		Tone: ui.Good,
		Text: "The workspace is yours now. Addresses and API keys stay as they are; the workspace key no longer works.",
	},
	"app_client": {Tone: ui.Good, Text: "The app client is saved and applies from the next login on."},
	"app_client_made": {
		Tone: ui.Good,
		Text: "The app client is created. Set up a provider so that users can sign in.",
	},
	"app_client_frozen": {
		Tone: ui.Good,
		Text: "The app client is frozen. It gets no tokens, and calls with those that it has get 403.",
	},
	"app_client_thawed": {Tone: ui.Good, Text: "The app client is unfrozen and works again."},
	"app_client_gone":   {Tone: ui.Good, Text: "The app client is deleted."},
	"provider":          {Tone: ui.Good, Text: "The provider is saved and applies from the next login on."},
	"provider_made": {
		Tone: ui.Good,
		Text: "Register the callback URL with the provider, then paste the client ID and secret here and turn " +
			"the provider on.",
	},
	"provider_on":   {Tone: ui.Good, Text: "The provider is on. Users can sign in with it now."},
	"provider_off":  {Tone: ui.Good, Text: "The provider is off. Its settings and its secret are kept."},
	"provider_gone": {Tone: ui.Good, Text: "The provider is removed."},
	"webhook":       {Tone: ui.Good, Text: "The webhook is saved."},
	"webhook_gone":  {Tone: ui.Good, Text: "The webhook is deleted."},
	"webhook_again": {Tone: ui.Good, Text: "The event is being sent again."},
	"joined":        {Tone: ui.Good, Text: "You are in the team now."},
	"team":          {Tone: ui.Good, Text: "The team is created. New projects go to it."},
	"role":          {Tone: ui.Good, Text: "The role is changed, with effect at once."},
	"removed":       {Tone: ui.Good, Text: "The member is removed from the team."},
	"left":          {Tone: ui.Good, Text: "You have left the team."},
	"email_mailed":  {Tone: ui.Good, Text: "A link is on its way to the new address. It works for an hour."},
	"mailed":        {Tone: ui.Good, Text: "The invitation is on its way by mail. Its link works for 7 days."},
	"uninvited":     {Tone: ui.Good, Text: "The invitation is revoked. Its link no longer works."},
	"password":      {Tone: ui.Good, Text: "The password is saved. All other sessions are signed out."},
	"ended":         {Tone: ui.Good, Text: "You are signed out there."},
	"linked":        {Tone: ui.Good, Text: "Linked. You can sign in that way from now on."},
	"unlinked":      {Tone: ui.Good, Text: "Unlinked. You can no longer sign in that way."},
	"cancelled":     {Tone: ui.Good, Text: "The export is cancelled."},
	"token_revoked": {Tone: ui.Good, Text: "The token is revoked and no longer works."},
}

// done redirects to a page that shows the flash once.
func (v *visit) done(flash, path string) (web.Answer, error) {
	return web.Answer{Status: http.StatusSeeOther, To: path, Flash: flash}, nil
}

func (v *visit) takeFlash() *ui.Notice {
	notice, ok := flashes[v.server.Web.Cookie(v.c.Request, web.FlashCookie)]
	if !ok {
		return nil
	}
	v.server.Web.SetCookie(v.c.Writer, web.FlashCookie, "", 0)
	return &notice
}
