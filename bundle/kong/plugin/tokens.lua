-- SPDX-License-Identifier: Apache-2.0
--
-- The tokens in the Authorization of calls: whether a token is accepted, and who the caller is. Tokens are not stored.

local introspection = require "kong.plugins.postern-auth.introspection"
local issuers = require "kong.plugins.postern-auth.issuers"
local jwks = require "kong.plugins.postern-auth.jwks"
local jwt = require "kong.plugins.postern-auth.jwt"
local own = require "kong.plugins.postern-auth.own"
local realm = require "kong.plugins.postern-auth.realm"
local trimmed = require("kong.plugins.postern-auth.headers").trimmed

local tokens = {}

-- The types of tokens for an API, in lowercase without application/. Others, such as logout tokens and DPoP proofs, may
-- be signed with the same keys for the same audience (RFC 8725, 3.11).
local TYPES = { [""] = true, ["jwt"] = true, ["at+jwt"] = true }


-- The token in the lines of Authorization, which is read from nowhere else (RFC 6750, 2.1): in a query it would end up
-- in logs. nil if there is none, or a credential of another scheme, which is forwarded to the upstream. A table of
-- several lines is not a token: the upstream might read another one.
function tokens.presented(lines)
  if type(lines) ~= "string" then
    return lines and ""
  end
  local line = trimmed(lines)
  if line:sub(1, 6):lower() ~= "bearer" then
    return nil
  end
  local rest = line:sub(7)
  if rest ~= "" and not rest:find("^[ \t]") then
    return nil -- another scheme that begins with it
  end
  return rest:match("^[ \t]*(.*)$")
end


-- The first pair of issuer and audience that a token matches.
local function pair_of(pairs_of_route, claims)
  for _, pair in ipairs(pairs_of_route or {}) do
    if pair.issuer == claims.issuer and jwt.is_for(claims, pair.audience) then
      return pair
    end
  end
  return nil
end


-- The content of an accepted JSON Web Token; or nil and the refusal. A token of an app client, or of the exported
-- realm, is always treated as such, even if the route names its issuer too.
local function verify(settings, policy, text)
  local token = jwt.parse(text)
  if not token or not TYPES[token.header.type] or not jwks.ALGORITHMS[token.header.algorithm] then
    return nil, "invalid_token"
  end
  local claims = token.claims
  local client = settings.clients and settings.clients[claims.issuer]
  if client then
    return own.verify(settings, client, token)
  end
  local exported = realm.issuer(settings)
  if exported and exported.issuer == claims.issuer then
    return realm.verify(settings, exported, token)
  end
  local pair = pair_of(policy.issuers, claims)
  if not pair or not jwt.valid(claims, ngx.time()) then
    return nil, "invalid_token"
  end
  local key, refusal = issuers.key(pair, token.header)
  if not key then
    return nil, refusal
  end
  local scopes = jwt.scopes(claims)
  if not jwks.verifies(key, token) or not scopes or not jwt.is_name(claims.subject) then
    return nil, "invalid_token"
  end
  return { issuer = claims.issuer, subject = claims.subject, scopes = scopes, tenant = pair.tenant }
end


-- The content of an accepted token: {issuer, subject, scopes, tenant}, the tenant by its id, nil if it is not served;
-- or nil and the refusal.
function tokens.verify(settings, policy, text)
  local takes = policy.takes
  if takes.opaque and not introspection.is_plain(text) then
    return nil, "invalid_token"
  end
  local endpoint = takes.opaque and (settings.introspection or {})[policy.introspection]
  if endpoint and not introspection.withholds(endpoint, realm.issuer(settings), text) then
    return introspection.ask(policy.introspection, endpoint, text)
  end
  if not takes.jwt then
    return nil, "invalid_token"
  end
  return verify(settings, policy, text)
end


-- The refusal of a verified token by its tenant, or by the current state of its user, session or app client; nil if it
-- is let in. key_tenant is the tenant of the key in the same call, if there is one.
function tokens.refusal(settings, token, key_tenant)
  local refusal = token.client and own.refusal(settings, token)
  if refusal then
    return refusal
  end
  local served = token.tenant and settings.tenants[token.tenant]
  if not served or (key_tenant and key_tenant ~= token.tenant) then
    return "token_tenant"
  end
  return nil
end


-- The name that calls with the token count for. Two issuers may have the same subject; a user is the same with every
-- app client.
local function account_of(token)
  return token.client and token.subject or token.subject .. " (" .. token.issuer .. ")"
end


-- The consumer that calls with the token count for: the machine itself, or the fallback owner of calls without a key,
-- or nil.
local function consumer_of(settings, policy, token)
  if token.machine then
    return { owner = token.client.id, consumer = token.client.consumer }
  end
  if policy.keyless ~= "owner_fallback" then
    return nil
  end
  return settings.tenants[token.tenant].fallback or settings.fallback
end


-- The length of X-Consumer-Groups in bytes: upstreams refuse headers of 8 KB and more.
local MAX_GROUPS = 4096

-- The first groups in a list as Kong's acl writes it, and whether some are left out.
local function listed(groups)
  local kept, length = {}, -2
  for _, group in ipairs(groups) do
    length = length + 2 + #group
    if length > MAX_GROUPS then
      return table.concat(kept, ", "), true
    end
    kept[#kept + 1] = group
  end
  return table.concat(kept, ", "), false
end


-- Sets the headers that name the user of a token. A machine is not a user.
local function name_user(headers, token)
  if token.machine then
    return
  end
  headers["X-Authenticated-Userid"] = token.subject
  local cut = token.truncated
  if token.groups and token.groups[1] then
    local more
    headers["X-Consumer-Groups"], more = listed(token.groups)
    cut = cut or more
  end
  headers["X-Consumer-Groups-Truncated"] = cut and "true" or nil
end


-- The caller of a call with only a token: the headers for the upstream, the consumer for Kong's other plugins, and the
-- name that it counts for.
function tokens.caller(settings, policy, token)
  local consumer = consumer_of(settings, policy, token)
  local headers = {
    ["X-Project-ID"] = settings.project,
    ["X-Authenticated-Scope"] = token.scopes ~= "" and token.scopes or nil,
    ["X-Tenant-ID"] = token.tenant,
  }
  name_user(headers, token)
  local whose = {
    headers = headers, dropped = token.dropped, of_token = true, groups = not token.machine and token.groups or nil,
    admin_of = token.admin_of, subject = token.machine and token.client.id or account_of(token),
  }
  if not consumer then
    whose.account = account_of(token)
    return whose
  end
  headers["X-Consumer-ID"] = consumer.consumer
  headers["X-Consumer-Username"] = consumer.owner
  headers["X-Consumer-Custom-ID"] = consumer.owner
  whose.account = consumer.owner
  whose.kong_consumer = { id = consumer.consumer, username = consumer.owner, custom_id = consumer.owner }
  return whose
end


-- The caller of a call with a key and a token: the user is the token's, consumer and scopes are the key's.
function tokens.with_key(entry, token)
  local headers = {}
  for name, value in pairs(entry.headers) do
    headers[name] = value
  end
  name_user(headers, token)
  return {
    headers = headers, metadata = entry.metadata, limited = entry.limited, dropped = token.dropped,
    groups = not token.machine and token.groups or nil, admin_of = token.admin_of,
    subject = token.machine and entry.owner or account_of(token),
    kong_consumer = entry.kong_consumer, kong_credential = entry.kong_credential,
  }
end


return tokens
