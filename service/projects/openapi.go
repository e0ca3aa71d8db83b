package projects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"postern/core/contract"
	"postern/core/openapi"
	"postern/core/openapi/reference"
	"postern/core/openapi/validate"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// savedOpenAPI has the operations in the document of a version.
type savedOpenAPI struct {
	openapi.Summary
	of   string // name of the version
	etag string
}

func (o *savedOpenAPI) shown() contract.OpenAPI {
	out := contract.OpenAPI{
		OpenAPI:  o.Spec,
		Title:    o.Title,
		Version:  o.Version,
		ETag:     o.etag,
		Warnings: o.Warnings,
		Of:       o.of,
	}
	for _, server := range o.Servers {
		out.Servers = append(out.Servers, contract.OpenAPIServer(server))
	}
	for _, op := range o.Operations {
		out.Operations = append(out.Operations, contract.OpenAPIOperation{
			Method:     op.Method,
			Path:       op.Path,
			ID:         op.ID,
			Summary:    op.Summary,
			Tag:        op.Tag,
			Deprecated: op.Deprecated,
			Scopes:     op.Scopes,
		})
	}
	return out
}

// errNoOpenAPI says that a version has no document.
func errNoOpenAPI() error {
	return fault.New(fault.NotFound, "no_openapi_document", "The version has no OpenAPI document. Import one as "+
		"JSON or YAML, or from a URL.")
}

// OpenAPI returns the summary of a version's document. It returns NotFound if there is none.
func (s *Service) OpenAPI(
	ctx context.Context, p access.Principal, in contract.VersionPath,
) (contract.OpenAPI, error) {
	found, _, err := s.openAPI(ctx, p, in, (*models.Tx).OpenAPISummaryOf)
	if err != nil {
		return contract.OpenAPI{}, err
	}
	out := found.shown()
	out.Saved = true
	return out, nil
}

// OpenAPIDocument returns the document of a version as JSON. It returns NotFound if there is none.
func (s *Service) OpenAPIDocument(ctx context.Context, p access.Principal, in contract.VersionPath) (
	document []byte, etag string, err error,
) {
	found, row, err := s.openAPI(ctx, p, in, (*models.Tx).OpenAPIOf)
	return row.Document, found.etag, err
}

// OpenAPIOperation returns an operation's description in the document of a version, and the name of the version. It
// returns NotFound if the document doesn't describe the operation.
func (s *Service) OpenAPIOperation(
	ctx context.Context, p access.Principal, in contract.VersionPath, method, path string,
) (found reference.Operation, of string, err error) {
	document, row, err := s.openAPI(ctx, p, in, (*models.Tx).OpenAPIOf)
	if err != nil {
		return found, "", err
	}
	leave, err := s.takePlace(ctx, p)
	if err != nil {
		return found, "", err
	}
	defer leave()
	found, described, err := reference.Read(row.Document, method, path)
	if err == nil && !described {
		err = fault.New(fault.NotFound, "no_operation", "The OpenAPI document doesn't describe this operation.")
	}
	return found, document.of, err
}

func (s *Service) openAPI(
	ctx context.Context, p access.Principal, in contract.VersionPath,
	read func(*models.Tx, string) (models.OpenAPIDocument, error),
) (out savedOpenAPI, row models.OpenAPIDocument, err error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return out, row, fmt.Errorf("projects: OpenAPI document of %s: %w", in.Project, err)
	}
	version, err := versionOf(tx, project, in.Version)
	if err == nil {
		row, err = read(tx, version.ID)
	}
	if errors.Is(err, models.ErrNotFound) {
		err = errNoOpenAPI()
	}
	if err == nil {
		out, err = readSummary(version, row)
	}
	if err != nil {
		return out, row, fmt.Errorf("projects: OpenAPI document of version %s of %s: %w", in.Version, in.Project, err)
	}
	return out, row, nil
}

func readSummary(version models.Version, row models.OpenAPIDocument) (savedOpenAPI, error) {
	out := savedOpenAPI{of: version.Name, etag: hex.EncodeToString(row.SHA256[:8])}
	return out, json.Unmarshal([]byte(row.Summary), &out.Summary)
}

// maxURLBody is the size in bytes of the longest body that is read for an address. Larger ones are documents, which
// aren't decoded twice.
const maxURLBody = 64 << 10

// sentDocument returns the document that a body is or has as a JSON string, or the address of a body that has nothing
// else: {"url": …}.
func sentDocument(body []byte) (document []byte, address string) {
	var text string // as POST /proxy takes it too
	if json.Unmarshal(body, &text) == nil {
		return []byte(text), ""
	}
	var only map[string]json.RawMessage
	if len(body) <= maxURLBody && json.Unmarshal(body, &only) == nil && len(only) == 1 &&
		json.Unmarshal(only["url"], &address) == nil {
		return nil, address
	}
	return body, ""
}

// SetOpenAPI sets or replaces the document of a version, and returns the changes. It returns Invalid with a field for a
// document that breaks a rule.
func (s *Service) SetOpenAPI(
	ctx context.Context, p access.Principal, in contract.OpenAPIUpdate,
) (out contract.OpenAPI, err error) {
	project, err := access.Project(s.DB.Read(ctx), p, in.Project, access.ProjectUpdate)
	if err != nil {
		return out, fmt.Errorf("projects: OpenAPI document of %s: %w", in.Project, err)
	}
	document, address := sentDocument(in.RawBody)
	at := ""
	if address != "" {
		at = "/url"
	}
	doc, err := s.readOpenAPI(ctx, p, at, document, address)
	if err != nil {
		return out, fmt.Errorf("projects: OpenAPI document of %s: %w", in.Project, err)
	}
	set := func(tx *models.Tx, version models.Version, now time.Time) error {
		before, err := tx.OpenAPISummaryOf(version.ID)
		if err != nil && !errors.Is(err, models.ErrNotFound) {
			return err
		}
		var was savedOpenAPI
		if err == nil {
			if was, err = readSummary(version, before); err != nil {
				return err
			}
		}
		if err := access.Unchanged(in.IfMatch, was.etag); err != nil {
			return err
		}
		row, err := openAPIRow(version.ID, doc, now)
		if err != nil {
			return err
		}
		is, err := readSummary(version, row)
		if err != nil {
			return err
		}
		out = is.shown()
		out.Changes, out.Saved = new(contract.OpenAPIChanges(openapi.Diff(&was.Summary, &doc.Summary))), !in.DryRun
		if in.DryRun {
			return nil
		}
		return saveOpenAPI(tx, project.TeamID, row)
	}
	if in.DryRun {
		tx := s.DB.Read(ctx)
		version, err := versionOf(tx, project, in.Version)
		if err == nil {
			err = set(tx, version, models.Now())
		}
		return out, err
	}
	return out, s.changeOpenAPI(ctx, p, in.VersionPath, "set", set)
}

// saveOpenAPI writes the document of a version, within the quota of a workspace.
func saveOpenAPI(tx *models.Tx, team string, row models.OpenAPIDocument) error {
	if err := tx.SetOpenAPI(row); err != nil {
		return err
	}
	return access.CheckDocuments(tx, team)
}

// RemoveOpenAPI removes the document of a version. The version's requests are no longer validated.
func (s *Service) RemoveOpenAPI(
	ctx context.Context, p access.Principal, in contract.OpenAPIRemoval,
) (contract.None, error) {
	remove := func(tx *models.Tx, version models.Version, now time.Time) error {
		row, err := tx.OpenAPISummaryOf(version.ID)
		if errors.Is(err, models.ErrNotFound) {
			return errNoOpenAPI()
		}
		if err != nil {
			return err
		}
		was, err := readSummary(version, row)
		if err != nil {
			return err
		}
		if err := access.Unchanged(in.IfMatch, was.etag); err != nil {
			return err
		}
		if _, err = tx.DeleteOpenAPI(version.ID); err != nil {
			return err
		}
		return stopValidating(tx, version, now)
	}
	return contract.None{}, s.changeOpenAPI(ctx, p, in.VersionPath, "remove", remove)
}

// changeOpenAPI changes the document of a version, and records that.
func (s *Service) changeOpenAPI(
	ctx context.Context, p access.Principal, of contract.VersionPath, how string,
	change func(*models.Tx, models.Version, time.Time) error,
) error {
	says := &note{change: how}
	return s.changeNoted(ctx, p, of.Project, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		version, err := versionOf(tx, project, of.Version)
		if err != nil {
			return err
		}
		says.object = "OpenAPI document of version " + version.Name
		return change(tx, version, now)
	})
}

func openAPIRow(version string, doc *checkedDocument, now time.Time) (models.OpenAPIDocument, error) {
	summary, err := json.Marshal(doc.Summary)
	if err != nil {
		return models.OpenAPIDocument{}, err
	}
	unchecked, err := json.Marshal(doc.unchecked)
	sum := sha256.Sum256(doc.JSON)
	return models.OpenAPIDocument{
		VersionID: version,
		Document:  doc.JSON,
		Summary:   string(summary),
		SHA256:    sum[:],
		UpdatedAt: now,

		Unchecked:    string(unchecked),
		Steps:        doc.budget.Used(openapi.Steps),
		Memory:       doc.budget.Used(openapi.Memory),
		PatternParts: doc.budget.Used(openapi.AllPatternParts),
	}, err
}

// ImportOpenAPI checks the document of a zip and returns its row, without VersionID and UpdatedAt. Call it before a
// transaction.
func (s *Service) ImportOpenAPI(
	ctx context.Context, p access.Principal, document []byte,
) (models.OpenAPIDocument, error) {
	doc, err := s.parseOpenAPI(ctx, p, "/openapi", document)
	if err != nil {
		return models.OpenAPIDocument{}, err
	}
	return openAPIRow("", doc, time.Time{})
}

// readOpenAPI checks a document, which it fetches if there is an address.
func (s *Service) readOpenAPI(
	ctx context.Context, p access.Principal, pointer string, document []byte, address string,
) (*checkedDocument, error) {
	if address != "" {
		var err error
		if document, err = s.fetchOpenAPI(ctx, p, pointer, address); err != nil {
			return nil, err
		}
	}
	return s.parseOpenAPI(ctx, p, pointer, document)
}

// parseOpenAPI checks a document, also that requests can be validated against it. It waits for a place.
func (s *Service) parseOpenAPI(
	ctx context.Context, p access.Principal, pointer string, document []byte,
) (*checkedDocument, error) {
	size := openapi.Size
	if unclaimed(p) {
		size = openapi.UnclaimedSize
	}
	leave, err := s.takePlace(ctx, p)
	if err != nil {
		return nil, err
	}
	defer leave()
	out := &checkedDocument{budget: openapi.NewBudget(ctx, size)}
	out.Document, err = openapi.Parse(out.budget, document)
	if err == nil {
		var compiled *validate.Validator
		if compiled, err = validate.Compile(out.budget, out.Tree); err == nil {
			out.unchecked = compiled.Unchecked()
		}
	}
	if refused, ok := errors.AsType[*openapi.Error](err); ok {
		wrong := make([]fault.Field, 0, len(refused.Reasons))
		for _, reason := range refused.Reasons {
			wrong = append(wrong, fault.Field{Pointer: pointer, Code: "invalid_openapi", Detail: reason})
		}
		public := refused.Reasons[0]
		if len(wrong) > 1 {
			public = fmt.Sprintf("The document has %d errors.", len(wrong))
		}
		return nil, &fault.Error{Kind: fault.Invalid, Code: "invalid_openapi", Public: public, Fields: wrong}
	}
	return out, err
}

// fetchOpenAPI gets a document from an address that a customer chose.
func (s *Service) fetchOpenAPI(ctx context.Context, p access.Principal, pointer, address string) ([]byte, error) {
	if err := s.Outbound.Take(p, p.HomeTeam); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, resolveWithin)
	defer stop()
	u, err := url.Parse(address)
	if err != nil {
		return nil, fault.InvalidField(pointer, "invalid_url", "Use the http or https URL of a document.")
	}
	query := u.RawQuery
	u.RawQuery, u.Fragment = "", ""
	checked, field, err := s.checkTarget(ctx, p, pointer, u.String())
	if err != nil {
		return nil, err
	}
	if field != nil {
		return nil, fault.InvalidFields([]fault.Field{*field})
	}
	checked.RawQuery = query
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, checked.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json, application/yaml, */*;q=0.5")
	answer, err := s.Client.Do(request)
	if err != nil {
		return nil, fault.InvalidField(pointer, "unreachable", "Couldn't fetch the document, because %s didn't "+
			"respond. Check the URL, or send the document itself.", checked.Host).Because(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fault.InvalidField(pointer, "unreachable", "%s returned %d instead of the document. Redirects "+
			"aren't followed. Use the final URL, or send the document itself.", checked.Host, answer.StatusCode)
	}
	document, err := io.ReadAll(io.LimitReader(answer.Body, openapi.MaxSize+1))
	if err != nil {
		return nil, fault.InvalidField(pointer, "unreachable", "Couldn't read the whole document. Try again, or send "+
			"the document itself.").Because(err)
	}
	return document, nil
}
