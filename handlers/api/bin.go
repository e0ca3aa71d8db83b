package api

import (
	"context"
	"time"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/projects"
)

// deletedOutput is the state of a project in the bin.
type deletedOutput struct {
	Since   time.Time `json:"since"`
	PurgeAt time.Time `json:"purge_at" doc:"Until then the project can be restored; then everything of it is deleted"`
}

func (h *Handler) deleteProject(ctx context.Context, in *struct {
	ProjectRef
	Now     bool   `query:"now" doc:"Delete for good instead of to the bin; only owners, and with confirm"`
	Confirm string `query:"confirm" doc:"With now: the project's name"`
}) (*body[projectOutput], error) {
	var p projects.Project
	var err error
	if in.Now {
		p, err = h.Projects.Erase(ctx, web.Principal(ctx), in.Project, in.Confirm)
	} else {
		p, err = h.Projects.Delete(ctx, web.Principal(ctx), in.Project)
	}
	if err != nil {
		return nil, err
	}
	return &body[projectOutput]{h.showProject(p)}, nil
}

func (h *Handler) restoreProject(ctx context.Context, in *ProjectRef) (*body[projectOutput], error) {
	p, err := h.Projects.RestoreDeleted(ctx, web.Principal(ctx), in.Project)
	if err != nil {
		return nil, err
	}
	return &body[projectOutput]{h.showProject(p)}, nil
}

type deletionOutput struct {
	Versions     int64      `json:"versions"`
	Environments int64      `json:"environments"`
	Keys         int64      `json:"keys"`
	ActiveKeys   int64      `json:"active_keys"`
	ProductKeys  int64      `json:"product_keys" doc:"Of the keys, those that also open other projects of the product; they stop there too"`
	AppClients   int64      `json:"app_clients" doc:"Of the project's own tenant default; tenants of the team stay"`
	Users        int64      `json:"users" doc:"Of the project's own tenant default"`
	Groups       int64      `json:"groups" doc:"Of the project's own tenant default"`
	Exports      int64      `json:"exports" doc:"With their files; downloaded zips are yours"`
	NewestExport *time.Time `json:"newest_export" doc:"When the newest finished export was requested; null: never"`
}

func (h *Handler) getProjectDeletion(ctx context.Context, in *ProjectRef) (*body[deletionOutput], error) {
	d, err := h.Projects.Deletion(ctx, web.Principal(ctx), in.Project)
	if err != nil {
		return nil, err
	}
	newest, err := h.Exports.NewestReady(ctx, web.Principal(ctx), d.Project.ID)
	if err != nil {
		return nil, err
	}
	c := d.Contents
	return &body[deletionOutput]{deletionOutput{
		Versions:     c.Versions,
		Environments: c.Environments,
		Keys:         c.Keys,
		ActiveKeys:   c.ActiveKeys,
		ProductKeys:  c.ProductKeys,
		AppClients:   c.AppClients,
		Users:        c.Users,
		Groups:       c.Groups,
		Exports:      c.Exports,
		NewestExport: contract.UTC(newest),
	}}, nil
}
