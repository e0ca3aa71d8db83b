package api

import (
	"context"

	"postern/handlers/web"
	"postern/service/login"
)

type groupMappingInput struct {
	Claim string `json:"claim" doc:"Path of the claim, for example groups or realm_access.roles; a dot in a name is written \\. unless the name is a URL. Of github: organizations, organization_ids, teams or team_ids"`
	Value string `json:"value" doc:"Compared with regard to case; of a list, one member must fit"`
	Match string `json:"match,omitempty" enum:"exact,prefix" doc:"exact (default) or prefix"`
	Group string `json:"group" doc:"Name or id of a group of the app client's tenant"`
}

type groupMappingOutput struct {
	Claim     string `json:"claim"`
	Value     string `json:"value"`
	Match     string `json:"match" doc:"exact or prefix"`
	Group     string `json:"group" doc:"Id"`
	GroupName string `json:"group_name"`
}

type groupMappingsOutput struct {
	Mappings []groupMappingOutput `json:"mappings"`
	ETag     string               `json:"etag" doc:"Send as If-Match to replace them"`
}

func taggedGroupMappings(found login.GroupMappings, err error) (*tagged[groupMappingsOutput], error) {
	if err != nil {
		return nil, err
	}
	out := groupMappingsOutput{Mappings: []groupMappingOutput{}, ETag: web.FormatETag(found.ETag)}
	for _, one := range found.Mappings {
		out.Mappings = append(out.Mappings, groupMappingOutput(one))
	}
	return &tagged[groupMappingsOutput]{out.ETag, out}, nil
}

func (h *Handler) getGroupMappings(ctx context.Context, in *ProviderRef) (*tagged[groupMappingsOutput], error) {
	return taggedGroupMappings(h.Login.GroupMappings(ctx, web.Principal(ctx), in.Provider))
}

func (h *Handler) setGroupMappings(ctx context.Context, in *struct {
	ProviderRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Mappings []groupMappingInput `json:"mappings" doc:"All rules of the provider; empty: none"`
	}
}) (*tagged[groupMappingsOutput], error) {
	var list []login.GroupMapping
	for _, one := range in.Body.Mappings {
		list = append(list, login.GroupMapping{Claim: one.Claim, Value: one.Value, Match: one.Match, Group: one.Group})
	}
	etag := web.ParseIfMatch(in.IfMatch)
	return taggedGroupMappings(h.Login.SetGroupMappings(ctx, web.Principal(ctx), in.Provider, etag, list))
}
