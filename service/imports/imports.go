// Package imports creates a project from an exported zip.
//
// It owns the order of an import, which ids are kept, and the list of what a zip cannot
// carry. It leaves the verification of the zip to package bundle, and the rules for names,
// addresses and limits to the packages of what they are about (CheckImported). An import
// writes everything or nothing: see models.DB.Import.
package imports

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/appclients"
	"postern/service/directory"
	"postern/service/keys"
	"postern/service/projects"
	"postern/service/relations"
)

// Service implements imports.
type Service struct {
	DB         *models.DB
	Projects   *projects.Service
	AppClients *appclients.Service
	Changed    func(context.Context) // called after a commit; returns when this process serves the change
}

// errDryRun rolls back the rows of a dry run.
var errDryRun = errors.New("imports: a dry run doesn't change anything")

// Import verifies a zip and creates a project from it in one of the principal's teams. Errors: Invalid with the code
// bundle_invalid or bundle_unreadable for a zip that does not verify, and with fields for what breaks the rules of this
// server; Conflict name_taken.
func (s *Service) Import(
	ctx context.Context, p access.Principal, in contract.NewImport, zip io.ReaderAt, size int64,
) (contract.Import, error) {
	team, err := teamFor(p, in.Team)
	var against bundle.Against
	if err == nil {
		against, err = againstOf(in)
	}
	if err != nil {
		return contract.Import{}, fmt.Errorf("imports: %w", err)
	}
	contents, err := bundle.Read(ctx, zip, size, against)
	if err != nil {
		return contract.Import{}, fmt.Errorf("imports: %w", err)
	}
	if in.Name != "" {
		contents.Project.Name = in.Name
	}
	if err := checkContents(p, team, contents); err != nil {
		return contract.Import{}, fmt.Errorf("imports: %w", err)
	}
	checked, err := s.check(ctx, p, contents)
	if err != nil {
		return contract.Import{}, fmt.Errorf("imports: %w", err)
	}
	if checked.usedClients, err = s.usedClients(ctx, team, contents.Project.Clients); err != nil {
		return contract.Import{}, fmt.Errorf("imports: %w", err)
	}
	var w *work
	write := func(stage models.Stage) error {
		w = newWork(s, p, team, contents, checked, in.DryRun)
		w.stage = stage
		return w.write(ctx)
	}
	err = s.DB.Import(ctx, write, func(tx *models.Tx) error { return w.finish(tx) })
	switch {
	case errors.Is(err, errDryRun):
		return w.out, nil
	case errors.Is(err, models.ErrDuplicate), errors.Is(err, models.ErrReferenced):
		err = s.duplicate(ctx, contents.Project.Name, err)
	}
	if err != nil {
		return contract.Import{}, fmt.Errorf("imports: %w", err)
	}
	s.Changed(ctx)
	return w.out, nil
}

// Allow checks that the principal may import into the team, the home team when empty, and that the rest of the request
// is valid, before the zip is taken in.
func (s *Service) Allow(p access.Principal, in contract.NewImport) error {
	_, err := teamFor(p, in.Team)
	if err == nil {
		_, err = againstOf(in)
	}
	return err
}

// againstOf returns the expectations for the verification of a zip.
func againstOf(in contract.NewImport) (bundle.Against, error) {
	out := bundle.Against{Targets: targets.All()}
	var wrong []fault.Field
	if in.SHA256 != "" {
		sum, err := hex.DecodeString(in.SHA256)
		if err != nil || len(sum) != 32 {
			wrong = append(wrong, fault.Field{
				Pointer: "/sha256", Code: "invalid_sha256", Detail: "Use 64 hexadecimal digits.",
			})
		} else {
			out.SHA256 = (*[32]byte)(sum)
		}
	}
	if in.SignedBy != "" {
		key, err := base64.StdEncoding.DecodeString(in.SignedBy)
		if err != nil || len(key) != ed25519.PublicKeySize {
			wrong = append(wrong, fault.Field{
				Pointer: "/signed_by", Code: "invalid_key", Detail: "Use an Ed25519 public key in base64.",
			})
		} else {
			out.SignedBy = []ed25519.PublicKey{key}
		}
	}
	return out, fault.InvalidFields(wrong)
}

func teamFor(p access.Principal, named string) (string, error) {
	team := cmp.Or(named, p.HomeTeam)
	if team == "" && !p.Anonymous() {
		return "", fault.New(fault.Conflict, "no_team", "You aren't in a team. Create a team, or ask for an "+
			"invitation.")
	}
	return team, access.Check(p, team, access.ProjectImport)
}

// duplicate explains a unique index or a reference that was violated.
func (s *Service) duplicate(ctx context.Context, name string, cause error) error {
	if taken, err := s.DB.Read(ctx).ProjectNameTaken(name); err == nil && taken {
		return projects.NameTaken(name)
	}
	return fault.New(fault.Conflict, "import_duplicate", "Two objects in the zip have the same ID, name or key, or "+
		"another request used one of these or deleted a tenant or product during the import. Nothing was imported. "+
		"Try again. If you get the same error, export the project again.",
	).Because(cause)
}

// checkContents checks the permission for all that an import makes: a token may have been given the right to create
// projects, and not the right to create keys.
func checkContents(p access.Principal, team string, contents *bundle.Contents) error {
	project := contents.Project
	needed := []access.Action{access.ProjectCreate}
	if contents.Report.Keys > 0 {
		needed = append(needed, access.KeyCreate)
	}
	if len(project.Clients) > 0 {
		needed = append(needed, access.LoginUpdate)
	}
	if slices.ContainsFunc(project.Tenants, func(t snapshot.Tenant) bool { return t.Directory != nil }) {
		needed = append(needed, access.UserUpdate)
	}
	if len(project.Tenants) > 1 {
		needed = append(needed, access.TenantCreate)
	}
	if project.ProductID != "" {
		needed = append(needed, access.ProductCreate)
	}
	for _, action := range needed {
		if err := access.Check(p, team, action); err != nil {
			return err
		}
	}
	return nil
}

// checked is the result of checking a zip, in addition to the project.
type checked struct {
	warnings    []contract.Warning
	clients     map[string][]appclients.Imported  // by the id of their tenant
	usedClients []string                          // ids that must not be used again
	documents   map[string]models.OpenAPIDocument // by the name of their version
}

// maxFields is the number of broken rules after which a zip is not checked further.
const maxFields = 20

// check applies the rules of this server to everything in the zip.
func (s *Service) check(ctx context.Context, p access.Principal, contents *bundle.Contents) (checked, error) {
	project := contents.Project
	out := checked{clients: map[string][]appclients.Imported{}, documents: map[string]models.OpenAPIDocument{}}
	wrong, warnings, err := s.Projects.CheckImported(ctx, p, project)
	if err != nil {
		return out, err
	}
	out.warnings = warnings
	project.Clients = slices.DeleteFunc(project.Clients, func(c snapshot.AppClient) bool { return c.Settings == nil })
	now := models.Now()
	for _, t := range project.Tenants {
		var clients []snapshot.AppClient
		for _, c := range project.Clients {
			if c.TenantID == t.ID {
				clients = append(clients, c)
			}
		}
		read, fields, err := s.AppClients.ReadImported(ctx, "/tenants/"+t.Name+"/auth", clients, now)
		if err != nil {
			return out, err
		}
		out.clients[t.ID] = read
		wrong = append(wrong, fields...)
	}
	if err := fault.InvalidFields(wrong); err != nil {
		return out, err
	}
	for _, v := range project.Versions {
		if v.OpenAPI == nil {
			continue
		}
		if out.documents[v.Name], err = s.Projects.ImportOpenAPI(ctx, p, v.OpenAPI); err != nil {
			return out, err
		}
	}
	return out, checkRows(ctx, contents, now)
}

// checkRows checks the people, keys and relations, which are too many to be kept.
func checkRows(ctx context.Context, contents *bundle.Contents, now time.Time) error {
	var wrong []fault.Field
	project := contents.Project
	for _, t := range project.Tenants {
		if t.Directory == nil {
			continue
		}
		pointer := "/tenants/" + t.Name + "/users"
		wrong = append(wrong, directory.CheckImported(pointer, t.Directory)...)
		clients := map[string]bool{}
		for _, c := range project.Clients {
			clients[c.ID] = c.TenantID == t.ID
		}
		for u, err := range contents.Users(ctx, t) {
			if err != nil {
				return err
			}
			if wrong = append(wrong, directory.CheckImportedUser(pointer, u, clients)...); len(wrong) >= maxFields {
				return fault.InvalidFields(wrong)
			}
		}
	}
	for k, err := range contents.Keys(ctx) {
		if err != nil {
			return err
		}
		if wrong = append(wrong, keys.CheckImported(k, project, now)...); len(wrong) >= maxFields {
			return fault.InvalidFields(wrong)
		}
	}
	for r, err := range contents.Relations(ctx) {
		if err != nil {
			return err
		}
		if wrong = append(wrong, relations.CheckImported("/"+bundle.RelationsFile, r)...); len(wrong) >= maxFields {
			break
		}
	}
	return fault.InvalidFields(wrong)
}

// usedClients returns the app clients whose ids another team has used. Their issuers may still
// be trusted somewhere, so the ids must not get a new owner.
func (s *Service) usedClients(ctx context.Context, team string, clients []snapshot.AppClient) ([]string, error) {
	if len(clients) == 0 {
		return nil, nil
	}
	var ids []string
	for _, c := range clients {
		ids = append(ids, c.ID)
	}
	return s.DB.Bulk(ctx).ObjectsOfOthers(team, ids)
}
