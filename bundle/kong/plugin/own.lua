-- SPDX-License-Identifier: Apache-2.0
--
-- Access tokens (RFC 9068) that the project's app clients issued before it moved here. Their keys are in gateway.yaml:
-- they are accepted until they expire.

local cjson = require "cjson.safe"
local json = require "kong.plugins.postern-auth.json"
local jwks = require "kong.plugins.postern-auth.jwks"
local jwt = require "kong.plugins.postern-auth.jwt"

local own = {}

-- An ID token has the same key and audience, but is only for the app client.
local TYPE = "at+jwt"


-- The public key of an app client, which is parsed by the first token; nil if it is not one, or its algorithm or key id
-- differs from the configuration.
local function public_of(key)
  if key.public == nil then
    local doc = cjson.decode(key.jwk)
    local public = jwks.read({ keys = { doc } })[1]
    key.public = public and public.id == key.id and public.algorithm == key.alg and public or false
  end
  return key.public or nil
end


-- The key that signed a token of the app client, or nil.
local function signed_by(client, token)
  for _, key in ipairs(client.keys) do
    if key.id == token.header.key_id then
      local ended = key["until"] and key["until"] <= ngx.now()
      local public = not ended and public_of(key)
      return public and jwks.matching({ public }, token.header) and jwks.verifies(public, token)
    end
  end
  return false
end


-- The text of a claim: "" if it is absent, nil for any other value.
local function text_of(all, name)
  local value = all[name]
  if value == nil or value == cjson.null then
    return ""
  end
  return type(value) == "string" and value or nil
end


-- The groups in a claim that can be sent in a list separated by commas; nil if it is not a list of texts. Users with
-- other groups are let in without those.
local function groups_of(value)
  local listed = {}
  if value == nil or value == cjson.null then
    return listed
  end
  if type(value) ~= "table" or (next(value) ~= nil and #value == 0) then
    return nil
  end
  for _, group in ipairs(value) do
    if type(group) ~= "string" then
      return nil
    end
    if jwt.is_name(group) and not group:find(",", 1, true) then
      listed[#listed + 1] = group
    end
  end
  return listed
end


local TEXTS = { "jti", "client_id", "sid", "tenant", "provider", "upstream", "upstream_token" }

-- The claims that only these tokens have; nil if one has the wrong type.
local function claims_of(all)
  local claims, timely = { groups = groups_of(all.groups), admin_of = groups_of(all.admin_of) }
  timely, claims.groups_at = json.time(all.groups_at)
  if all.groups_truncated ~= nil and all.groups_truncated ~= cjson.null then
    claims.truncated = all.groups_truncated
    if type(claims.truncated) ~= "boolean" then
      return nil
    end
  end
  for _, name in ipairs(TEXTS) do
    claims[name] = text_of(all, name)
    if not claims[name] then
      return nil
    end
  end
  return timely and claims.groups and claims.admin_of and claims
end


-- Reports whether the token is for this project: for all projects of the app client's tenant, or for the audience of
-- this one.
local function is_for(settings, client, claims)
  return jwt.is_for(claims, client.id) or
    (settings.audience ~= nil and settings.audience ~= "" and jwt.is_for(claims, settings.audience))
end


-- The content of an app client's token, for tokens.caller; or nil and the refusal.
function own.verify(settings, client, token)
  local claims = token.claims
  if token.header.type ~= TYPE or not jwt.valid(claims, ngx.time()) or not signed_by(client, token) then
    return nil, "invalid_token"
  end
  local mine, scopes = claims_of(claims.all), jwt.scopes(claims)
  if not mine or not scopes or not jwt.is_name(claims.subject) or not is_for(settings, client, claims)
    or mine.client_id ~= client.id or mine.tenant ~= client.tenant
    or claims.expires <= ngx.time() -- without a leeway: one clock wrote it
  then
    return nil, "invalid_token"
  end
  return {
    issuer = claims.issuer, subject = claims.subject, scopes = scopes, tenant = client.tenant, client = client,
    groups = mine.groups, admin_of = mine.admin_of, session = mine.sid, provider = mine.provider,
    carries = mine.upstream, sealed = mine.upstream_token, machine = claims.subject == client.id,
    groups_at = mine.groups_at or claims.issued, truncated = mine.truncated,
  }
end


-- Returns the upstream's part of a user's token: the caller's line, or nothing if the second result is set; or the
-- refusal. A provider's token that is sealed in it cannot be unsealed here.
local function carried(token)
  local upstream = token.client.upstream[token.provider]
  if token.realm and upstream == nil then
    return nil -- a user of the realm itself, without a provider
  end
  if upstream == "service" then
    return nil
  elseif upstream == "none" then
    return nil, true
  elseif upstream and (token.realm or token.sealed ~= "" and token.carries == upstream) then
    return "provider_token_unavailable"
  end
  return "invalid_token"
end


-- The refusal of a token by the exported state of the project; nil if it is let in. Sets token.dropped if the upstream
-- gets no Authorization.
function own.refusal(settings, token)
  local client, refused = token.client, settings.refused or {}
  if settings.tenants[client.tenant] == nil then
    return "token_tenant"
  elseif client.frozen then
    return "client_frozen"
  elseif token.machine then
    return not client.machine and "invalid_token" or nil
  end
  -- The state of users and sessions at the export applies to tokens from before it; the realm knows their current
  -- state.
  local user = not token.realm and refused.users and refused.users[token.subject]
  if user then
    return user == "deleted" and "invalid_token" or "user_frozen"
  end
  if token.session ~= "" and refused.sessions and refused.sessions[token.session] then
    return "invalid_token"
  end
  local left = not token.realm and refused.left and refused.left[token.subject]
  if left and token.groups_at and token.groups_at <= left then
    return "invalid_token" -- it names a group that the user has left
  end
  local refusal
  refusal, token.dropped = carried(token)
  return refusal
end


return own
