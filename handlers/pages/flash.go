package pages

import (
	"net/http"

	"postern/handlers/web"
	"postern/views/ui"
)

// flashes is what a page says about the action that led to it, by a name that
// can stand in a cookie: whoever forges one gets one of these sentences.
var flashes = map[string]ui.Notice{
	"settings": {Tone: ui.Good, Text: "The settings are saved."},
	"access":   {Tone: ui.Good, Text: "The access policy is saved and holds from the next call on."},
	"limits":   {Tone: ui.Good, Text: "The limits are saved and hold from the next call on."},
	"product":  {Tone: ui.Good, Text: "The product is saved: its keys open this project from the next call on."},
	"product_made": {
		Tone: ui.Good,
		Text: "The product is made. Choose it in the settings of the projects that belong to it.",
	},
	"product_gone": {Tone: ui.Good, Text: "The product is deleted."},
	"tenant": {
		Tone: ui.Good,
		Text: "The tenant is saved and holds in every project that serves it from the next call on.",
	},
	"tenant_made": {
		Tone: ui.Good,
		Text: "The tenant is made. Attach it under Tenants of the projects that shall serve it.",
	},
	"tenant_gone": {Tone: ui.Good, Text: "The tenant is deleted."},
	"attached":    {Tone: ui.Good, Text: "The project serves the tenant from the next call on."},
	"detached":    {Tone: ui.Good, Text: "The project serves the tenant no more: its keys get 403 here."},
	"expected":    {Tone: ui.Good, Text: "The user is expected: who signs in with that address, confirmed, is them."},
	"user":        {Tone: ui.Good, Text: "The user is saved."},
	"user_frozen": {Tone: ui.Good, Text: "The user is frozen: their calls get 403 until they are unfrozen."},
	"user_thawed": {Tone: ui.Good, Text: "The user can sign in again."},
	"user_gone":   {Tone: ui.Good, Text: "The user is deleted."},
	"entry":       {Tone: ui.Good, Text: "Saved. It holds for whoever comes from now on."},
	"approved":    {Tone: ui.Good, Text: "Approved. It holds for whoever comes from now on."},
	"disapproved": {Tone: ui.Good, Text: "The approval has ended. Who came by it stays."},
	"group":       {Tone: ui.Good, Text: "The group is saved."},
	"group_made":  {Tone: ui.Good, Text: "The group is made. Put people into it, or other groups."},
	"group_gone":  {Tone: ui.Good, Text: "The group is deleted."},
	"member":      {Tone: ui.Good, Text: "The membership is saved."},
	"member_gone": {Tone: ui.Good, Text: "They are no longer in the group directly."},
	"nested":      {Tone: ui.Good, Text: "The group is in it now, with all of its members."},
	"unnested":    {Tone: ui.Good, Text: "The group is no longer in it."},
	"addresses":   {Tone: ui.Good, Text: "The addresses are saved and hold from the next call on."},
	"target":      {Tone: ui.Good, Text: "The target is saved and holds from the next call on."},
	"key_saved":   {Tone: ui.Good, Text: "The key is saved and holds from the next call on."},
	"key_type": {
		Tone: ui.Good,
		Text: "The key type is saved and holds for all of its keys from the next call on.",
	},
	"key_type_gone": {Tone: ui.Good, Text: "The key type is deleted."},
	"frozen":        {Tone: ui.Good, Text: "The key is frozen: its calls get 403 until it is unfrozen."},
	"unfrozen":      {Tone: ui.Good, Text: "The key works again."},
	"revoked":       {Tone: ui.Good, Text: "The key is revoked for good."},
	"claimed": {
		Tone: ui.Good,
		Text: "It is yours now. Addresses and API keys stay as they are; the workspace key no longer works.",
	},
	"app_client":      {Tone: ui.Good, Text: "The app client is saved and holds from the next login on."},
	"app_client_made": {Tone: ui.Good, Text: "The app client is made. Set up a provider, and people can sign in."},
	"app_client_gone": {Tone: ui.Good, Text: "The app client is deleted."},
	"provider":        {Tone: ui.Good, Text: "The provider is saved and holds from the next login on."},
	"provider_made": {
		Tone: ui.Good,
		Text: "Register the callback URL with the provider, then paste what it gives you and turn it on.",
	},
	"provider_on":   {Tone: ui.Good, Text: "People can sign in with it now."},
	"provider_off":  {Tone: ui.Good, Text: "It is no longer offered. Its settings and its secret are kept."},
	"provider_gone": {Tone: ui.Good, Text: "The provider is removed."},
	"webhook":       {Tone: ui.Good, Text: "The webhook is saved."},
	"webhook_gone":  {Tone: ui.Good, Text: "The webhook is deleted."},
	"webhook_again": {Tone: ui.Good, Text: "The event is on its way again."},
	"joined":        {Tone: ui.Good, Text: "You are in the team now."},
	"team":          {Tone: ui.Good, Text: "The team is made. New projects go to it."},
	"role":          {Tone: ui.Good, Text: "The role is changed and holds at once."},
	"removed":       {Tone: ui.Good, Text: "They are no longer in the team."},
	"left":          {Tone: ui.Good, Text: "You have left the team."},
	"uninvited":     {Tone: ui.Good, Text: "The invitation's link no longer works."},
	"password":      {Tone: ui.Good, Text: "The password is saved. You are signed out everywhere else."},
	"ended":         {Tone: ui.Good, Text: "You are signed out there."},
	"linked":        {Tone: ui.Good, Text: "Linked. You can sign in that way from now on."},
	"unlinked":      {Tone: ui.Good, Text: "Unlinked. It no longer signs in here."},
	"cancelled":     {Tone: ui.Good, Text: "The export is cancelled."},
	"token_revoked": {Tone: ui.Good, Text: "The token is revoked: nothing can be done with it any more."},
}

// done leads on to a page that says once what was done.
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
