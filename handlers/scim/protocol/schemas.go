package protocol

// Attribute describes an attribute (RFC 7643, 7).
type Attribute struct {
	Name          string      `json:"name"`
	Type          string      `json:"type"`
	MultiValued   bool        `json:"multiValued"`
	Description   string      `json:"description"`
	Required      bool        `json:"required"`
	CaseExact     bool        `json:"caseExact"`
	Mutability    string      `json:"mutability"`
	Returned      string      `json:"returned"`
	Uniqueness    string      `json:"uniqueness"`
	SubAttributes []Attribute `json:"subAttributes,omitempty"`

	CanonicalValues []string `json:"canonicalValues,omitempty"`
	ReferenceTypes  []string `json:"referenceTypes,omitempty"` // of type reference: the resources it can name
}

// Schema describes a type of resource (RFC 7643, 7).
type Schema struct {
	Schemas     []string    `json:"schemas"`
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Attributes  []Attribute `json:"attributes"`
	Meta        Meta        `json:"meta"`
}

func attribute(name, kind, description string, change ...func(*Attribute)) Attribute {
	out := Attribute{
		Name:        name,
		Type:        kind,
		Description: description,
		Mutability:  "readWrite",
		Returned:    "default",
		Uniqueness:  "none",
	}
	for _, f := range change {
		f(&out)
	}
	return out
}

func required(a *Attribute) { a.Required = true }
func unique(a *Attribute)   { a.Uniqueness = "server" }
func readOnly(a *Attribute) { a.Mutability = "readOnly" }
func immutable(a *Attribute) {
	a.Mutability = "immutable"
}
func many(a *Attribute)  { a.MultiValued = true }
func exact(a *Attribute) { a.CaseExact = true }

func oneOf(values ...string) func(*Attribute) {
	return func(a *Attribute) { a.CanonicalValues = values }
}

// refersTo marks an attribute as a reference to resources of the types.
func refersTo(types ...string) func(*Attribute) {
	return func(a *Attribute) { a.Type, a.ReferenceTypes, a.CaseExact = "reference", types, true }
}

func with(parts ...Attribute) func(*Attribute) {
	return func(a *Attribute) { a.SubAttributes = parts }
}

// Schemas returns the supported part of the core schemas. base is the URL of the API.
func Schemas(base string) []Schema {
	const schema = "urn:ietf:params:scim:schemas:core:2.0:Schema"
	describe := func(id, name, description string, attributes ...Attribute) Schema {
		return Schema{Schemas: []string{schema}, ID: id, Name: name, Description: description, Attributes: attributes,
			Meta: Meta{ResourceType: "Schema", Location: base + "/Schemas/" + id}}
	}
	return []Schema{
		describe(
			UserSchema,
			"User",
			"A user of a tenant",
			attribute(
				"userName", "string", "User name in the provisioning system, stored in lowercase", required,
				unique,
			),
			attribute("externalId", "string", "ID in the provisioning system", exact),
			attribute("displayName", "string", "Display name"),
			attribute("name", "complex", "Parts of the name, stored as sent", with(
				attribute(
					"formatted", "string",
					"displayName, or the joined parts if there isn't one. Stored as displayName if sent "+
						"alone", readOnly,
				),
				attribute("givenName", "string", "Given name"),
				attribute("familyName", "string", "Family name"),
			)),
			attribute("emails", "complex", "Only one address is stored: the primary address, or the one of type work "+
				"if none is primary. Defaults to userName", many, with(
				attribute(
					"value", "string", "The address",
				),
				attribute("type", "string", "work", readOnly, oneOf("work")),
				attribute("primary", "boolean", "true", readOnly),
			)),
			attribute(
				"active", "boolean",
				"false freezes the user: they can't sign in, and their calls are refused. Defaults to true", required,
			),
			attribute("groups", "complex", "Groups that the user is in, including indirectly", many, readOnly, with(
				attribute(
					"value", "string", "ID", readOnly, exact,
				),
				attribute("$ref", "reference", "URL", readOnly, refersTo("Group")),
				attribute("display", "string", "Name", readOnly),
				attribute("type", "string", "direct or indirect", readOnly, oneOf("direct", "indirect")),
			)),
		),
		describe(
			GroupSchema,
			"Group",
			"A group of a tenant's users",
			attribute(
				"displayName", "string",
				"Display name. The name in rules is derived from the first display name and doesn't change", required,
			),
			attribute("externalId", "string", "ID in the provisioning system", exact),
			attribute("members", "complex", "Users, and groups that are nested in it", many, with(
				attribute(
					"value", "string", "ID", exact, immutable,
				),
				attribute("$ref", "reference", "URL", immutable, refersTo("User", "Group")),
				attribute("display", "string", "Name", readOnly),
				attribute("type", "string", "User or Group", immutable, oneOf("User", "Group")),
			)),
		),
	}
}

// ResourceType has the endpoint of a type of resource (RFC 7643, 6).
type ResourceType struct {
	Schemas  []string `json:"schemas"`
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Endpoint string   `json:"endpoint"`
	Schema   string   `json:"schema"`
	Meta     Meta     `json:"meta"`
}

// ResourceTypes returns the types of resources.
func ResourceTypes(base string) []ResourceType {
	kind := func(name, endpoint, schema string) ResourceType {
		return ResourceType{
			Schemas:  []string{"urn:ietf:params:scim:schemas:core:2.0:ResourceType"},
			ID:       name,
			Name:     name,
			Endpoint: endpoint,
			Schema:   schema,
			Meta:     Meta{ResourceType: "ResourceType", Location: base + "/ResourceTypes/" + name},
		}
	}
	return []ResourceType{kind("User", "/Users", UserSchema), kind("Group", "/Groups", GroupSchema)}
}

type supported struct {
	Supported bool `json:"supported"`
}

// ServiceProviderConfig returns the supported features (RFC 7643, 5).
func ServiceProviderConfig(base string, maxResults int) any {
	return map[string]any{
		"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"},
		"patch":   supported{true}, "changePassword": supported{}, "sort": supported{}, "etag": supported{true},
		"bulk":   map[string]any{"supported": false, "maxOperations": 0, "maxPayloadSize": 0},
		"filter": map[string]any{"supported": true, "maxResults": maxResults},
		"authenticationSchemes": []map[string]any{{"type": "oauthbearertoken", "name": "Access token", "primary": true,
			"description": "An access token with the scope users, as Authorization: Bearer …"}},
		"meta": Meta{ResourceType: "ServiceProviderConfig", Location: base + "/ServiceProviderConfig"},
	}
}
