package keys

import (
	"cmp"
	"fmt"
	"slices"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
)

// placed is where a new key belongs.
type placed struct {
	keyType   models.KeyType
	tenant    models.Tenant
	productID *string
}

// place finds the key type, tenant and product that the input names. wrong has a field
// error for each name that the project does not have.
func place(tx *models.Tx, parent models.Project, in contract.NewKey) (at placed, wrong []fault.Field, err error) {
	types, err := tx.KeyTypesOf(parent.ID)
	if err != nil {
		return at, nil, err
	}
	wanted := cmp.Or(in.KeyType, TypeFull)
	if i := slices.IndexFunc(types, func(t models.KeyType) bool { return t.Name == wanted }); i >= 0 {
		at.keyType = types[i]
	} else {
		wrong = append(wrong, fault.Field{
			Pointer: "/key_type",
			Code:    "unknown_key_type",
			Detail:  fmt.Sprintf("This project has no key type %q.", in.KeyType),
		})
	}
	known, err := hasEnvironment(tx, parent.ID, in.Environment)
	if err != nil {
		return at, nil, err
	}
	if !known {
		wrong = append(wrong, fault.Field{
			Pointer: "/environment",
			Code:    "unknown_environment",
			Detail:  fmt.Sprintf("This project has no environment %q.", in.Environment),
		})
	}
	type finder func(*models.Tx, models.Project, contract.NewKey, *placed) (*fault.Field, error)
	for _, find := range []finder{findTenant, findProduct} {
		field, err := find(tx, parent, in, &at)
		if err != nil {
			return at, nil, err
		}
		if field != nil {
			wrong = append(wrong, *field)
		}
	}
	return at, wrong, nil
}

func findTenant(tx *models.Tx, parent models.Project, in contract.NewKey, at *placed) (*fault.Field, error) {
	tenants, err := tx.TenantsOf(parent.ID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tenants, func(t models.Tenant) bool {
		return t.Name == in.Tenant || (in.Tenant == "" && t.ProjectID != nil)
	})
	switch {
	case i >= 0:
		at.tenant = tenants[i]
	case in.Tenant == "":
		return nil, fmt.Errorf("project %s doesn't have its own tenant", parent.ID)
	default:
		return &fault.Field{
			Pointer: "/tenant",
			Code:    "unknown_tenant",
			Detail: fmt.Sprintf(
				"This project doesn't serve the tenant %q. Attach the tenant to the project first.", in.Tenant,
			),
		}, nil
	}
	return nil, nil
}

func findProduct(tx *models.Tx, parent models.Project, in contract.NewKey, at *placed) (*fault.Field, error) {
	if in.Product == "" {
		return nil, nil
	}
	if parent.ProductID == nil {
		return &fault.Field{
			Pointer: "/product",
			Code:    "unknown_product",
			Detail:  "This project isn't in a product. Add it to one first, or leave this field out.",
		}, nil
	}
	product, err := tx.ProductByID(*parent.ProductID)
	if err != nil {
		return nil, err
	}
	if product.Name != in.Product {
		return &fault.Field{
			Pointer: "/product",
			Code:    "unknown_product",
			Detail: fmt.Sprintf("This project's product is %s. Use that product, or leave this field "+
				"out.", product.Name),
		}, nil
	}
	at.productID = &product.ID
	return nil, nil
}

func hasEnvironment(tx *models.Tx, projectID, name string) (bool, error) {
	if name == "" {
		return true, nil
	}
	all, err := tx.EnvironmentsOf(projectID)
	return slices.ContainsFunc(all, func(e models.Environment) bool { return e.Name == name }), err
}

// stillThere refuses a key whose row was inserted after its project was moved to another
// team or lost the environment: the insert has waited for both, which lock the project.
func stillThere(tx *models.Tx, parent models.Project, environment string) error {
	now, err := tx.ProjectByID(parent.ID)
	if err != nil {
		return err
	}
	if now.TeamID != parent.TeamID {
		return errMoved
	}
	if known, err := hasEnvironment(tx, parent.ID, environment); err != nil || !known {
		return cmp.Or(err, error(errEnvironmentRemoved))
	}
	return nil
}

var errMoved = fault.New(fault.Conflict, "changed_concurrently",
	"The project was just moved to another team. Reload it and try again.")

var errEnvironmentRemoved = fault.New(fault.Conflict, "changed_concurrently",
	"The environment was just removed or renamed. Reload the project and try again.")
