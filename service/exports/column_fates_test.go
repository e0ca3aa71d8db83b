package exports_test

// The fates that several columns share.
const (
	account  = "stays: an account belongs to a person, not to a project"
	team     = "stays: a team belongs to the installation; an import chooses one"
	session  = "ledger login_sessions"
	internal = "stays: the state of this installation's own work"
	sealed   = "ledger secrets_left_out"
	modified = "stays: the time of a change; revised_at is the project's"
	audited  = "ledger audit_history"
	history  = "stays: what was sent, which is history"
	restated = "stays: the provider states it again at the next sign-in"
)

// columns has the fate of every column: by table, the columns of each fate. A fate that ends
// in .* names the field with the column's own name.
var columns = map[string]map[string]string{
	"access_tokens": {account: "id account_id kind name scopes hash last4 created_at expires_at last_used_at " +
		"updated_at last_used_from"},
	"accounts":      {account: "id email name password_hash created_at operator email_unproven"},
	"acme_accounts": {internal: "directory private_key public_key created_at"},
	"api_keys": {
		"snapshot Key.*": "id project_id tenant_id owner environment state hash old_hash grace_ends_at expires_at " +
			"product_id limits",
		"snapshot KeyDetails.*":   "description prefix last4 created_at",
		"snapshot KeyIdentity.*":  "metadata consumer credential_id",
		team:                      "team_id",
		"snapshot Key.KeyType":    "key_type_id",
		"snapshot Key.AllowedIPs": "allowed_cidrs",
		"ledger usage_analytics":  "last_used_at",
		modified:                  "updated_at",
	},
	"app_clients": {
		"snapshot AppClient.*":      "id tenant_id name",
		"snapshot AppClient.Frozen": "frozen_at",
		"snapshot ClientSettings.*": "redirect_uris logout_uris secret_hash algorithm created_at api_scopes " +
			"grant_types",
		"snapshot Branding.*":                          "title welcome logo_url color",
		"snapshot ClientSettings.BackchannelLogoutURI": "backchannel_logout_uri",
		"snapshot ClientSettings.PKCE":                 "pkce",
		"snapshot ClientSettings.AccessFor":            "access_token_seconds",
		"snapshot ClientSettings.RefreshFor":           "refresh_token_seconds",
		modified:                                       "updated_at",
	},
	"audit_chains": {audited: "team_id number hash"},
	"audit_entries": {
		audited: "id actor action object team_id outcome detail remote_addr request_id created_at number hash " +
			"token_id project_id changes",
	},
	"call_signing_keys": {
		"snapshot CallSigningKey.*":      "id signs_from published_until",
		"snapshot CallSigningKey.Public": "public_key",
		sealed:                           "private_key",
		"snapshot Project.ID":            "project_id",
		modified:                         "created_at",
	},
	"certificates": {
		"ledger custom_domains": "host directory chain private_key ends_at due_at failures problem holder " +
			"held_until challenge updated_at",
	},
	"data_keys": {internal: "id team_id wrapped gateway_wrapped created_at"},
	"deleted_users": {
		"snapshot BarredUser.ID":  "user_id",
		"snapshot Project.Barred": "tenant_id",
		"stays: it is known until then that tokens of the user are refused, and the tokens end before": "ends_at",
	},
	"device_grants": {
		account: "id device_hash user_hash machine remote_addr scopes state account_id poll_every last_polled_at " +
			"created_at expires_at",
	},
	"domains": {
		"snapshot Environment.Domains": "environment_id host path_prefix strip_prefix methods",
		"ledger custom_domains": "id project_id challenge proof verified_at checked_at missing_since problem " +
			"created_at updated_at",
	},
	"end_users": {
		"snapshot User.*": "id email email_verified name profile state created_at updated_at user_name " +
			"external_id",
		"snapshot Tenant.ID":     "tenant_id",
		"ledger usage_analytics": "last_login_at",
		sealed:                   "invitation_hash invitation_ends_at",
		"snapshot GroupsLeft.At": "groups_left_at",
	},
	"environments": {
		"snapshot Environment.*":        "id name target upstream",
		"snapshot Version.Environments": "version_id",
		modified:                        "created_at updated_at",
	},
	"export_keys":    {internal: "id public_key private_key created_at"},
	"export_ledgers": {history: "export_id document"},
	"exports": {
		history: "id project_id format keys consumers state part rows_done rows_total size_bytes sha256 exact " +
			"approximate lossy skipped configured_exact configured_approximate configured_lossy configured_skipped " +
			"problem lease_id lease_until created_at finished_at expires_at secrets recipient file_key requested_by",
	},
	"group_groups": {"snapshot Group.Parents": "parent_id child_id", modified: "created_at"},
	"group_mappings": {
		"snapshot GroupMapping.*":            "claim value match",
		"snapshot GroupMapping.Group":        "group_id",
		"snapshot ProviderSettings.Mappings": "provider_id position",
	},
	"group_members": {
		"snapshot Membership.*":     "group_id role created_at mapped",
		"snapshot User.Memberships": "user_id",
	},
	"group_owners": {
		"snapshot GroupOwner.*": "owner role created_at",
		"snapshot Group.Owners": "group_id",
	},
	"key_imports": {internal: "lookup attempt lease_until batches digest result done expires_at"},
	"import_plans": {
		internal: "id team_id file set_values choices trusted applying_until created_at updated_at expires_at",
	},
	"idempotent_requests": {internal: "lookup fingerprint lease_id lease_until carried_out answer expires_at"},
	"move_ins":            {team: "id team_id gateway result created_at"},
	"moved_objects": {
		team: "id move_in_id team_id gateway kind object within source planned written keys updated_by",
	},
	"identities": {
		"snapshot Identity.*":      "issuer subject provider_id created_at",
		restated:                   "directory_id",
		"snapshot User.Identities": "user_id",
		"snapshot Tenant.ID":       "tenant_id",
	},
	"invitations": {
		team: "id team_id role email code_hash created_by created_at expires_at used_at by_mail mailed_at",
	},
	"key_types": {
		"snapshot KeyType.*": "id name scopes expires_in built_in limits", "snapshot Project.KeyTypes": "project_id",
	},
	"limit_counts": {"ledger rate_limits: counters": "project_id dimension subject period starts_at ends_at calls"},
	"linked_accounts": {
		account: "id account_id issuer subject email created_at seen_at email_verified",
	},
	"login_attempts": {
		session: "id client_id browser_hash redirect_uri state nonce scope code_challenge answered_at finished_at " +
			"created_at expires_at prompt tester max_age acr_values login_hint ui_locales hint_user link_user " +
			"user_agent resources stated response_mode invitation_hash ticket",
	},
	"login_consents": {
		"snapshot Consent.*": "client_id scope created_at updated_at", "snapshot User.Consents": "user_id",
	},
	"login_grants": {
		session: "hash kind session_id redirect_uri code_challenge used_at created_at expires_at successor scope " +
			"nonce resources",
	},
	"login_sessions": {
		"snapshot Project.EndedSessions": "id ended_at",
		session: "client_id user_id provider_id scope nonce created_at expires_at " +
			"auth_time acr amr cookie_hash seen_at user_agent barred_until resources",
	},
	"logout_notices": {session: "id client_id session_id user_id attempts due_at created_at"},
	"mapped_members": {"snapshot Membership.Mapped": "group_id user_id provider_id"},
	"memberships":    {team: "team_id account_id role created_at"},
	"approvals": {
		"snapshot Approval.*":          "id kind value groups created_at",
		"snapshot Directory.Approvals": "tenant_id",
		modified:                       "updated_at",
	},
	"products": {
		"snapshot Project.ProductID":    "id",
		"snapshot Project.Product":      "name",
		"snapshot Project.ProductTitle": "display_name",
		"snapshot Project.ImportedKeys": "imported_keys",
		team:                            "team_id",
		modified:                        "created_at updated_at",
	},
	"project_tenants": {"snapshot Project.Tenants": "project_id tenant_id", modified: "created_at"},
	"projects": {
		"snapshot Project.*":    "id name display_name fallback_owner created_at product_id limits imported_keys",
		"snapshot API.Audience": "api_audience",
		"snapshot API.Scopes":   "api_scopes",
		"snapshot Project.CORS": "cors",
		team:                    "team_id",
		modified:                "updated_at",
		"stays: a takedown is a measure of this installation": "frozen_at frozen_reason",
		"ledger deleted_project":                              "deleted_at purge_at",
	},
	"providers": {
		"snapshot Provider.*": "id type client_id issuer client_token upstream_token enabled",
		"snapshot ProviderSettings.*": "managed scopes created_at audience authoritative_domains label " +
			"sign_in_domains endpoints response_mode",
		"snapshot ProviderSettings.HasSecret": "client_secret",
		"snapshot AppClient.Providers":        "app_client_id",
		modified:                              "updated_at",
	},
	"revoked_hashes": {
		"stays: it keeps revoked keys from coming back to their team": "team_id hash",
	},
	"revisions": {
		"snapshot Project.Revision":  "id project_id key_id key_ids relations",
		"snapshot Project.RevisedAt": "created_at",
	},
	"relations": {"ledger object_ownership": "project_id tenant_id object relation user created_at"},
	"relation_misses": {
		"ledger usage_analytics": "project_id version_id rule reason day calls last_at",
	},
	"shadow_refusals": {
		"ledger usage_analytics": "project_id version_id rule code day calls last_at",
	},
	"invalid_requests": {
		"ledger usage_analytics": "project_id version_id operation day calls problem last_at",
	},
	"gateways":       {internal: "id seen_at"},
	"target_reports": {internal: "gateway_id environment_id target project_id state reason since"},
	"target_health":  {internal: "environment_id target project_id state since quiet_since"},
	"signing_keys": {
		"snapshot SigningKey.*":   "id algorithm expires_at",
		"snapshot AppClient.Keys": "client_id",
		"snapshot SigningKey.JWK": "public_jwk",
		sealed:                    "private_key",
		modified:                  "active_at created_at",
	},
	"teams": {
		"snapshot Project.ExpiresAt": "expires_at",
		team:                         "id name claimed_at claim_code_hash created_at signed_up_id merged_into",
	},
	"signup_policies": {"snapshot Directory.InviteOnly": "tenant_id invite_only", modified: "updated_at"},
	"tenants": {
		"snapshot Tenant.*":        "id name display_name fallback_owner",
		"snapshot Tenant.CORS":     "cors",
		"snapshot Project.Tenants": "project_id",
		team:                       "team_id",
		modified:                   "created_at updated_at",
	},
	"tokens": {account: "id kind team_id account_id hash created_at expires_at used_at user_agent remote_addr " +
		"seen_at email"},
	"unstated_claims": {
		"stays: what a provider left unsaid at the last sign-in; the next one says it again": "user_id " +
			"provider_id withheld unavailable",
	},
	"upstream_certificates": {
		"snapshot Environment.Certificate": "environment_id",
		"snapshot ClientCertificate.Chain": "chain",
		sealed:                             "private_key",
		modified:                           "created_at updated_at",
	},
	"openapi_documents": {
		"snapshot Version.OpenAPI":            "version_id document",
		"stays: it follows from the document": "summary sha256 unchecked steps memory pattern_parts",
		modified:                              "updated_at",
	},
	"upstream_headers": {
		"snapshot Environment.Headers": "environment_id",
		"snapshot UpstreamHeader.Name": "name",
		sealed:                         "value",
		modified:                       "created_at updated_at",
	},
	"usage_days": {
		"ledger usage_analytics": "project_id day environment_id owner key_id route status_class calls bytes_in " +
			"bytes_out",
	},
	"usage_folds": {internal: "project_id through_day spans_from spans_through"},
	"usage_spans": {
		"ledger usage_analytics": "project_id days since environment_id owner key_id route status_class calls " +
			"bytes_in bytes_out",
	},
	"usage_log": {"ledger usage_analytics": "id written_at sums payload"},
	"usage_traffic": {
		"ledger usage_analytics": "project_id level period since environment_id route answered rejected failed " +
			"rejected_here failed_here bytes_in bytes_out first_byte total",
	},
	"usage_hours": {
		"ledger usage_analytics": "project_id hour environment_id owner key_id route status_class calls bytes_in " +
			"bytes_out",
	},
	"user_groups": {
		"snapshot Group.*":          "id name display_name created_at updated_at external_id",
		"snapshot Directory.Groups": "tenant_id",
	},
	"versions": {
		"snapshot Version.*":          "id name",
		"snapshot Project.Versions":   "project_id",
		"snapshot Access.*":           "requests_auth",
		"snapshot IPRules.Allow":      "ip_allow",
		"snapshot IPRules.Deny":       "ip_deny",
		"snapshot Version.Rules":      "rules",
		"snapshot Version.Transforms": "transforms",
		"snapshot Version.Validation": "openapi_settings",
		sealed:                        "introspection_secret",
		modified:                      "created_at updated_at",
	},
	"webhook_deliveries": {
		history: "id webhook_id event payload state attempts last_status last_error created_at attempted_at " +
			"finished_at last_answer",
	},
	"webhooks": {
		"snapshot Webhook.*":          "id events enabled",
		"snapshot Webhook.Host":       "url",
		sealed:                        "secret old_secret old_secret_ends_at",
		team:                          "team_id",
		"ledger webhook: description": "description",
		history:                       "disabled_reason failing_since",
		modified:                      "created_at updated_at",
	},
	"workers": {internal: "id seen_at"},
}
