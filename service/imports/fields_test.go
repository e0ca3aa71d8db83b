package imports_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"postern/core/snapshot"
)

// fates says what an import does with each field of a project's state. TestRoundTrip holds it to
// the fields that are written.
var fates = map[string]string{
	"written": `Add, API, Append, Query, Remove, Rename, Replace, Request, RequestBody, Response, ResponseBody,
		Introspection, Transforms, Changes, Types, APIScopes, Access, AccessFor, Algorithm, Allow, AllowedIPs,
		AppOrigins, Approvals, Audience, AuthoritativeDomains, BackchannelLogoutURI, Branding, BuiltIn, CORS, Claim,
		ClientID, ClientToken, Clients, Color, Consents,
		CreatedAt, Credentials, Default, Deny, Description, Forget, Remember, Directory, DisplayName, Email,
		EmailVerified, Enabled, Endpoint, Endpoints, Authorization, Token, JWKS, UserInfo, EndSession, Environment,
		Environments, ExpiresAt, ExpiresIn, ExposedHeaders,
		ExternalID, FallbackOwner, Frozen, GraceEndsAt, GrantTypes, Group, GroupID, Groups, Hash, ID, IP, Identities,
		InviteOnly, Issuer, JWKSURL, JWT, AllowedPairs,
		APIKey, In, Header, PrefixOptional, Query, Cookie, WebSocketProtocol, SendMetadata,
		Key, KeyDetails, KeyIdentity, Metadata, Consumer, CredentialID, Username, CustomID,
		ImportedKeys, KeyType, KeyTypes, Keyless, Kind, Label, Last4, Limits,
		List, LogoURL, LogoutURIs, Managed, Mapped, Mappings, Match, MaxAge, Memberships, Method, Methods, Mode, Name,
		OldHash, Opaque, Origins, Owner, Owners, PKCE, Parents, Path, Prefix, Profile, Product, ProductID, ProductTitle,
		Project, ProviderID, Providers, ReadWriteScopes, OpenAPI, Relation, Object, User, Publication, Validation,
		RedirectURIs, RefreshFor, RequestsAuth, ResponseMode,
		Role, Rules, Scope, Scopes, SecretHash, Settings, SignInDomains,
		State, Subject, Target, Tenant, TenantID, Tenants, Title, Type, UpdatedAt, UpstreamToken,
		UserName, Value, Versions, Welcome, Upstream, Timeouts, ConnectMS, ResponseMS, IdleMS, StreamIdleMS,
		ReuseIdleMS, Retries, Max, On, CA, PEM, System, ServerName, HostHeader, HTTP, UpstreamTargets, Targets, URL,
		Weight, Balance, Checks, IntervalMS, TimeoutMS, Healthy, Unhealthy, Statuses, PassiveFailures, Breaker,
		Failures, WindowMS, OpenMS`,
	"follows from others": `Barred, Deleted, Detached, Former, FormerTeam, FoundFor, FoundIn, FromApps, Machine,
		Members, OwnerFrozen, Routes, ProjectID, RevisedAt, Revision, TakenDown, TeamID, Users`,
	"left out, and listed": `CallSigningKeys, Certificate, DomainAddress, Domains, EndedSessions, GroupsLeft, HasSecret,
		Headers, Keys, PathPrefix, Shared, StripPrefix, Webhooks`,
	"never in a zip": `DataKeys`,
}

func TestImport_everyField(t *testing.T) {
	known := map[string]bool{}
	for _, list := range fates {
		for name := range strings.SplitSeq(list, ",") {
			known[strings.TrimSpace(name)] = true
		}
	}
	var seen []reflect.Type
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || !strings.HasPrefix(of.PkgPath(), "postern/core/") ||
			slices.Contains(seen, of) {
			return
		}
		seen = append(seen, of)
		for i := range of.NumField() {
			field := of.Field(i)
			if leftOut := isLeftOut(field.Name); !known[field.Name] {
				t.Errorf("%s.%s has no fate: import it, or list it in leftOut", of.Name(), field.Name)
			} else if !leftOut {
				walk(field.Type)
			}
		}
	}
	walk(reflect.TypeFor[snapshot.Project]())
	walk(reflect.TypeFor[snapshot.Key]())
	walk(reflect.TypeFor[snapshot.User]())
	walk(reflect.TypeFor[snapshot.Relation]())
	if len(seen) < 20 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}

func isLeftOut(name string) bool {
	for _, fate := range []string{"left out, and listed", "never in a zip", "follows from others"} {
		for one := range strings.SplitSeq(fates[fate], ",") {
			if strings.TrimSpace(one) == name {
				return true
			}
		}
	}
	return false
}
