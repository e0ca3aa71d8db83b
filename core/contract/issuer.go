package contract

// JWT has the issuers and audiences that the method jwt accepts.
type JWT struct {
	AllowedPairs []TokenIssuer `json:"allowed_pairs,omitempty" doc:"A token must match the iss and aud of one pair"`
}

// TokenIssuer is a pair of issuer and audience. A JSON Web Token is accepted if it matches both.
type TokenIssuer struct {
	Issuer   string `json:"iss,omitempty" doc:"https URL of the issuer, exactly as in its tokens" example:"https://accounts.example.com"`
	Audience string `json:"aud,omitempty" doc:"Audience that the token's aud claim must contain" example:"https://api.example.com"`
	JWKSURL  string `json:"jwks_url,omitempty" minLength:"1" doc:"URL of the issuer's keys. Defaults to the URL in the issuer's discovery document"`
	Tenant   string `json:"tenant,omitempty" minLength:"1" doc:"Name of the callers' tenant. Defaults to the project's own tenant"`
}

// Line returns the form that people type: issuer and audience, and after them jwks= and tenant= if the pair has them.
// No part may contain a blank.
func (t TokenIssuer) Line() string {
	line := t.Issuer + " " + t.Audience
	if t.JWKSURL != "" {
		line += " jwks=" + t.JWKSURL
	}
	if t.Tenant != "" {
		line += " tenant=" + t.Tenant
	}
	return line
}
