// Package idp gives tests identity providers and issuers of tokens:
//
//   - Fake, an OpenID Connect provider that can be made to lie, and GitHub, Google, Microsoft and Facebook on top of
//     it;
//   - Certified, the certified npm package oidc-provider, in its own process, for what an honest provider does;
//   - Issuer, which signs any claims and headers as JSON Web Tokens and publishes its keys.
//
// It owns clients, codes, keys and answers. It leaves Keycloak to testkit/servers, and what Postern does with the
// answers to the tests.
package idp
