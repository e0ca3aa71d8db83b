package contract

// The events that a webhook can subscribe to.
const (
	EventProjectClaimed = "project.claimed"
	EventKeyCreated     = "key.created"
	EventKeyRotated     = "key.rotated"
	EventKeyFrozen      = "key.frozen"
	EventKeyRevoked     = "key.revoked"
	EventKeysImported   = "keys.imported"
	EventExportReady    = "export.ready"
	EventExportFailed   = "export.failed"

	EventUserCreated      = "user.created"
	EventUserSignedIn     = "user.signed_in"
	EventUserFrozen       = "user.frozen"
	EventUserDeleted      = "user.deleted"
	EventGroupChanged     = "group.changed"
	EventConsentWithdrawn = "consent.withdrawn"
	EventTenantDeleted    = "tenant.deleted"

	EventDomainRecordMissing = "domain.record_missing"
	EventDomainRecordBack    = "domain.record_back"

	EventUpstreamUnhealthy = "upstream.unhealthy"
	EventUpstreamHealthy   = "upstream.healthy"
)

// WebhookEvents returns all of them.
func WebhookEvents() []string {
	return []string{
		EventProjectClaimed,
		EventKeyCreated, EventKeyRotated, EventKeyFrozen, EventKeyRevoked, EventKeysImported,
		EventExportReady, EventExportFailed,
		EventUserCreated, EventUserSignedIn, EventUserFrozen, EventUserDeleted,
		EventGroupChanged,
		EventConsentWithdrawn,
		EventTenantDeleted,
		EventDomainRecordMissing, EventDomainRecordBack,
		EventUpstreamUnhealthy, EventUpstreamHealthy,
	}
}

// HasAllEvents reports whether a webhook receives every event.
func (w Webhook) HasAllEvents() bool { return len(w.Events) == len(WebhookEvents()) }
