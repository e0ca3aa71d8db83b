package api

import (
	"github.com/danielgtaylor/huma/v2"

	"postern/core/contract"
)

// ruleRoutes adds the rules of a version, and their counts.
func (h *Handler) ruleRoutes(api huma.API) {
	serveTagged(h, api, contract.GetRules, h.Projects.Rules)
	serveTagged(h, api, contract.SetRules, h.Projects.SetRules)
	serve(h, api, contract.ListShadowRefusals, h.Usage.ShadowRefusals)
	serve(h, api, contract.ListRelationMisses, h.Usage.RelationMisses)
}
