package snapshot

import "postern/core/contract"

// Validation says how a version handles requests that don't match its OpenAPI document.
type Validation = contract.Validation

// The values of Validation.
const (
	ValidationOff     = contract.ValidationOff
	ValidationReport  = contract.ValidationReport
	ValidationEnforce = contract.ValidationEnforce
)

// Publication is how a version publishes its OpenAPI document.
type Publication = contract.Publication

// The values of Publication.
const (
	PublicationOff     = contract.PublicationOff
	PublicationCallers = contract.PublicationCallers
	PublicationPublic  = contract.PublicationPublic
)
