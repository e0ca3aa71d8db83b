package snapshot

import "postern/core/contract"

// Validation says what a version does with requests that do not match its OpenAPI document.
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
