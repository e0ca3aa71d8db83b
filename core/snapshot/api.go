package snapshot

import "postern/core/contract"

// API is what app clients can request at a project.
type API = contract.API

// APIScope is one of its scopes.
type APIScope = contract.APIScope
