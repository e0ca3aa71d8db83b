-- SPDX-License-Identifier: Apache-2.0
--
-- Access tokens of the exported realm, at which people sign in after the export. Its issuer is a setting, so the realm
-- can be served anywhere. auth/keycloak-realm.json says which claims its tokens have.

local cjson = require "cjson.safe"
local issuers = require "kong.plugins.postern-auth.issuers"
local jwks = require "kong.plugins.postern-auth.jwks"
local jwt = require "kong.plugins.postern-auth.jwt"

local realm = {}


-- The value of one of Kong's environment variables; nil if it is empty.
local function setting(variable)
  local value = variable and kong.vault.get("{vault://env/" .. variable .. "}")
  return type(value) == "string" and value ~= "" and value or nil
end


-- The issuer of the realm, for issuers.key; nil if it is not trusted. The first call reads the settings, because Kong
-- does not have them while it reads its configuration.
function realm.issuer(settings)
  local of = settings.realm
  if of and of.read == nil then
    local issuer = setting(of.issuer)
    of.read = issuer and { issuer = issuer, jwks_url = setting(of.keys) } or false
  end
  return of and of.read or nil
end


-- The app client that the token was issued to, by its id.
local function client_of(settings, claims)
  local id = claims.all.azp
  for _, client in pairs(settings.clients or {}) do
    if client.id == id then
      return jwt.is_for(claims, client.id) and client or nil
    end
  end
  return nil
end


-- The names of the groups in paths such as /default/outer/inner, sorted: a member of inner is one of outer. The first
-- name is a tenant's: groups of another tenant, into which the realm may put users who sign in with that tenant's
-- provider, are ignored here. nil if the claim is not a list of texts.
local function groups_of(value, tenant)
  local listed, seen = {}, {}
  if value == nil or value == cjson.null then
    return listed
  end
  if type(value) ~= "table" or (next(value) ~= nil and #value == 0) then
    return nil
  end
  for _, path in ipairs(value) do
    if type(path) ~= "string" then
      return nil
    end
    local of, inside = path:match("^/([^/]*)/(.*)$")
    for name in (of == tenant and inside or ""):gmatch("[^/]+") do
      if not seen[name] and jwt.is_name(name) and not name:find(",", 1, true) then
        seen[name] = true
        listed[#listed + 1] = name
      end
    end
  end
  table.sort(listed)
  return listed
end


-- The content of the realm's token, for tokens.caller; or nil and the refusal.
function realm.verify(settings, issuer, token)
  local claims = token.claims
  local client = client_of(settings, claims)
  if not client or not jwt.valid(claims, ngx.time()) then
    return nil, "invalid_token"
  end
  local key, refusal = issuers.key(issuer, token.header)
  if not key then
    return nil, refusal
  end
  local served = settings.tenants[client.tenant]
  local scopes, groups = jwt.scopes(claims), groups_of(claims.all.groups, served and served.name)
  if not jwks.verifies(key, token) or not scopes or not groups or not jwt.is_name(claims.subject)
    or claims.all.tenant ~= client.tenant
  then
    return nil, "invalid_token"
  end
  local provider = type(claims.all.provider) == "string" and claims.all.provider or ""
  return {
    issuer = claims.issuer, subject = claims.subject, scopes = scopes, tenant = client.tenant, client = client,
    groups = groups, session = "", provider = provider, realm = true, machine = claims.subject == client.id,
  }
end


return realm
