package kong

import (
	"postern/bundle"
	"postern/core/snapshot"
)

// validationFates are those of the validation of requests. Kong's own validators are plugins of its
// enterprise edition (docs.konghq.com, oas-validation and request-validator).
func validationFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "not_validated",
			Status: bundle.Lossy,
			How:    "not validated; `openapi.json` has what requests were validated against",
			Note: "The hosted gateway answers requests that do not match the OpenAPI document with 422 " +
				"invalid_request. Kong's open-source edition has no plugin that validates requests: the exported " +
				"gateway forwards them, and at worst the upstream acts on one that it was never sent before.",
			Remedy: "Validate requests in the upstream, with the OpenAPI document of this zip, before callers move. " +
				"Kong's enterprise edition has the plugin oas-validation.",
		},
		{
			Reason: "not_reported",
			Status: bundle.Lossy,
			How:    "not reported",
			Note: "The hosted gateway counts requests that do not match the OpenAPI document, and forwards them. The " +
				"exported gateway forwards them too, and counts nothing.",
			Remedy: "Validate requests in the upstream, with the OpenAPI document of this zip, where you need the " +
				"counts.",
		},
	}
}

// publicationFates are those of the published document.
func publicationFates() []bundle.Fate {
	return []bundle.Fate{{
		Reason: "not_published",
		Status: bundle.Lossy,
		How:    "the document beside the gateway; its path leads to the upstream",
		Note: "The hosted gateway answers GET openapi.json below each environment with the OpenAPI document, with " +
			"its own address as the server. The exported gateway forwards that path to the upstream as any other.",
		Remedy: "Publish the OpenAPI document of this zip on a web server, with the address of the exported gateway " +
			"under servers; or add a route for the path with the plugin request-termination, whose body can be the " +
			"document.",
	}}
}

// judgeValidation returns the verdict on the validation of a version.
func judgeValidation(s bundle.Subject) bundle.Verdict {
	if s.Version.Validation == snapshot.ValidationReport {
		return bundle.Verdict{Reason: "not_reported"}
	}
	return bundle.Verdict{Reason: "not_validated"}
}
