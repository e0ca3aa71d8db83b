package kong

import (
	"postern/bundle"
	"postern/core/snapshot"
)

// validationFates are the fates of request validation. Kong's own validators are plugins of its enterprise edition
// (docs.konghq.com, oas-validation and request-validator).
func validationFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "not_validated",
			Status: bundle.Lossy,
			How:    "not validated; the OpenAPI document is in the zip",
			Note: "Requests that don't match the OpenAPI document get 422 invalid_request from the hosted gateway. " +
				"Kong's open-source edition has no plugin that validates requests, so the exported gateway forwards " +
				"them. At worst, the upstream acts on a request that would not have reached it before.",
			Remedy: "Before callers switch to this gateway, have the upstream validate requests against the OpenAPI " +
				"document in this zip. " +
				"Kong's enterprise edition has the `oas-validation` plugin.",
		},
		{
			Reason: "not_reported",
			Status: bundle.Lossy,
			How:    "not reported",
			Note: "The hosted gateway counts requests that don't match the OpenAPI document, and forwards them. The " +
				"exported gateway forwards them too, but doesn't count them.",
			Remedy: "To count mismatches, have the upstream validate requests against the OpenAPI document in this " +
				"zip.",
		},
	}
}

// publicationFates are the fates of the published document.
func publicationFates() []bundle.Fate {
	return []bundle.Fate{{
		Reason: "not_published",
		Status: bundle.Lossy,
		How:    "the document next to the gateway; its path reaches the upstream",
		Note: "In each environment, the hosted gateway responds to GET requests for openapi.json with the OpenAPI " +
			"document, which lists the gateway's URL as its server. The exported gateway forwards that path to the " +
			"upstream like any other.",
		Remedy: "Publish this zip's OpenAPI document on a web server, with the exported gateway's URL under " +
			"`servers`. Alternatively, add a route for the path with the `request-termination` plugin, and set its " +
			"body to the document.",
	}}
}

// judgeValidation returns the verdict on the validation of a version.
func judgeValidation(s bundle.Subject) bundle.Verdict {
	if s.Version.Validation == snapshot.ValidationReport {
		return bundle.Verdict{Reason: "not_reported"}
	}
	return bundle.Verdict{Reason: "not_validated"}
}
