package projects

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
)

// ProductDeletion counts what deleting a product changes.
func (s *Service) ProductDeletion(
	ctx context.Context, p access.Principal, in contract.ProductPath,
) (contract.ProductDeletion, error) {
	_, out, err := s.ProductAndDeletion(ctx, p, in)
	return out, err
}

// ProductAndDeletion is ProductDeletion with the product, as its page shows both.
func (s *Service) ProductAndDeletion(
	ctx context.Context, p access.Principal, in contract.ProductPath,
) (now contract.Product, out contract.ProductDeletion, err error) {
	tx := s.DB.Read(ctx)
	row, err := access.Product(tx, p, in.Product, access.ProductRead)
	if err == nil {
		now, err = productNow(tx, row)
	}
	if err == nil {
		out.Projects = now.Projects
		out.Keys, out.ActiveKeys, err = tx.CountKeysOfProduct(row.ID, models.Now())
	}
	if err != nil {
		return now, contract.ProductDeletion{}, fmt.Errorf("projects: list the contents of product %s: "+
			"%w", in.Product, err)
	}
	return now, out, nil
}

// DeleteProduct deletes a product. If confirm is its name, its keys are revoked and its projects leave it. If confirm
// is empty, a product with projects is refused as Conflict with the code product_in_use, and keys of a product without
// projects stay valid for the project in which they were created.
func (s *Service) DeleteProduct(
	ctx context.Context, p access.Principal, in contract.ProductRemoval,
) (contract.None, error) {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := access.Product(tx, p, in.Product, access.ProductDelete)
		if err != nil {
			return err
		}
		before, err := productNow(tx, row)
		if err != nil {
			return err
		}
		if err := checkDelete(before, in.Confirm); err != nil {
			return err
		}
		return s.eraseProduct(ctx, tx, p, row, before, in.Confirm != "")
	})
	if err != nil {
		return contract.None{}, fmt.Errorf("projects: delete product %s: %w", in.Product, err)
	}
	s.Changed(ctx)
	return contract.None{}, nil
}

func checkDelete(p contract.Product, confirm string) error {
	n := len(p.Projects)
	switch {
	case confirm != "" && confirm != p.Name:
		return fault.InvalidField("/confirm", "wrong_confirmation",
			"Type the product's name, %s, to delete the product and revoke its keys.", p.Name)
	case confirm == "" && n > 0:
		return fault.New(fault.Conflict, "product_in_use",
			"The product still has %s: %s. Remove them from the product first, or send the request with ?confirm=%s "+
				"to delete the product and revoke its keys. The projects aren't deleted.",
			countOf(int64(n), "project", "projects"), strings.Join(p.Projects, ", "), p.Name)
	}
	return nil
}

func (s *Service) eraseProduct(
	ctx context.Context, tx *models.Tx, p access.Principal, row models.Product, before contract.Product, all bool,
) error {
	projects, err := tx.ProjectsOfProduct(row.ID)
	if err != nil {
		return err
	}
	changed, err := tx.HomesOfProductKeys(row.ID)
	if err != nil {
		return err
	}
	for _, project := range projects {
		changed = append(changed, project.ID)
	}
	err = access.Record(tx, p, access.Entry{
		Action: access.ProductDelete,
		Object: row.ID,
		Team:   row.TeamID,
		Name:   row.Name,
		Before: before,
	})
	if err != nil {
		return err
	}
	if all {
		if err := keys.RevokeOfProduct(ctx, s.Events, tx, p, row.ID); err != nil {
			return err
		}
		if err := tx.LeaveProduct(row.ID, models.Now()); err != nil {
			return err
		}
	}
	err = tx.DeleteProduct(row.ID)
	if errors.Is(err, models.ErrReferenced) {
		return fault.New(fault.Conflict, "product_in_use", "A project was just added to the product. Reload it and "+
			"try again.").Because(err)
	}
	if err != nil {
		return err
	}
	now := models.Now()
	slices.Sort(changed)
	for _, id := range slices.Compact(changed) {
		if err := tx.AddRevision(id, "", now); err != nil {
			return err
		}
	}
	return nil
}
