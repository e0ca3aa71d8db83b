-- SPDX-License-Identifier: Apache-2.0
--
-- Postern's access control for the exported gateway.
--
-- Decides every call as the hosted gateway does: the same keys are valid for the same environments, refusals are the
-- same, and the upstream gets the same headers. Only the SHA-256 of each key is known, so these files can't be used to
-- call the API.

local addresses = require "kong.plugins.postern-auth.addresses"
local answers = require "kong.plugins.postern-auth.answers"
local bodies = require "kong.plugins.postern-auth.bodies"
local headers = require "kong.plugins.postern-auth.headers"
local keys = require "kong.plugins.postern-auth.keys"
local limits = require "kong.plugins.postern-auth.limits"
local openfga = require "kong.plugins.postern-auth.openfga"
local ownership = require "kong.plugins.postern-auth.ownership"
local paths = require "kong.plugins.postern-auth.paths"
local places = require "kong.plugins.postern-auth.places"
local rules = require "kong.plugins.postern-auth.rules"
local schema = require "kong.plugins.postern-auth.schema"
local signature = require "kong.plugins.postern-auth.signature"
local tokens = require "kong.plugins.postern-auth.tokens"
local transforms = require "kong.plugins.postern-auth.transforms"
local upstream = require "kong.plugins.postern-auth.upstream"

local PosternAuth = {
  -- After cors (2000), before ip-restriction (990), acl (950) and rate-limiting (910), which need to know the caller.
  -- The last one cannot replace our limits: Kong runs one instance of a plugin for a call, and our limits count by key,
  -- owner, address and project at once.
  PRIORITY = 1250,
  VERSION = "1.0.0",
}

local KEY_HEADER, TOKEN_HEADER = "x-api-key", "authorization"

-- Kong returns at most this many header lines, and silently drops the rest.
local MOST_HEADERS = 1000

-- A route that is not in the exported table was added later by hand. It requires
-- a key for every environment until the table has an entry for it.
local UNKNOWN_ROUTE = {
  mode = "authenticate", takes = { api_key = true }, keyless = "reject", places = places.compile(),
}


-- Kong removes, after every plugin has run, the headers that the caller's Connection header names: "Connection:
-- X-Consumer-ID" would remove the identity of a call with a valid key, or a route's own header from any call. It reads
-- that header from a copy made before the plugins ran, which the PDK cannot access, so the copy is corrected. If there
-- is none (another Kong), such a call is refused. The same applies to headers that a transform may set.
local function protect_identity(lines, own, changes)
  local harmless = headers.harmless_connection(lines, own and own.names, changes and changes.names)
  if not harmless then
    return true
  end
  local copy = ngx.ctx.cached_request_headers
  if type(copy) ~= "table" then
    return false
  end
  copy["connection"] = harmless
  return true
end


local function caller()
  return addresses.parse(kong.client.get_forwarded_ip())
end


-- The entry of a presented key, or nil and the code of the refusal.
local function check_key(state, environment, presented)
  local entry = keys.find(state.keys, presented)
  if not entry or entry.revoked then
    return nil, "invalid_key"
  end
  if entry.valid_until and entry.valid_until <= ngx.now() then
    return nil, "invalid_key"
  end
  if entry.env and entry.env ~= environment then
    return nil, "invalid_key"
  end
  if entry.frozen then
    return nil, "key_frozen"
  end
  if not entry.served then
    return nil, "wrong_tenant"
  end
  if entry.user_frozen then
    return nil, "user_frozen"
  end
  if entry.ips and not addresses.listed(tostring(entry.ips), caller()) then
    return nil, "ip_denied"
  end
  return entry
end


-- The items of a list, each as a name with the value true.
local function set_of(list)
  local set = {}
  for _, one in ipairs(list or {}) do
    set[one] = true
  end
  return set
end


local function fallback_of(settings)
  local fallback = settings.fallback
  return fallback and {
    headers = {
      ["X-Project-ID"] = settings.project,
      ["X-Consumer-ID"] = fallback.consumer,
      ["X-Consumer-Username"] = fallback.owner,
      ["X-Consumer-Custom-ID"] = fallback.owner,
    },
    kong_consumer = { id = fallback.consumer, username = fallback.owner, custom_id = fallback.owner },
    limited = limits.of_call(settings, { owner = fallback.owner }),
  }
end


-- The names of all fields of our configuration. A handler that forgot one would work without it.
local FIELDS = {}
for _, part in ipairs(schema.fields) do
  for _, field in ipairs(part.config and part.config.fields or {}) do
    FIELDS[#FIELDS + 1] = next(field)
  end
end

-- Takes our fields out of one of Kong's configurations. On every call, Kong walks through everything that is left in it
-- (kong.vault.update). With thousands of keys, that takes longer than the rest of the call.
local function take(config)
  local settings = {}
  for _, field in ipairs(FIELDS) do
    settings[field], config[field] = config[field], nil
  end
  return settings
end


-- The values that are computed once from each configuration. No state refers to the table that is its key, because the
-- table could then never be freed.
local states = setmetatable({}, { __mode = "k" })

local function state_of(config)
  local state = states[config]
  if not state then
    local settings = take(config)
    state = {
      routes = settings.routes or {},
      upstream = {},
      presentable = {},
      keys = keys.store(settings),
      signer = signature.store(settings.signing_key),
      fallback = fallback_of(settings),
      anonymous = { headers = { ["X-Project-ID"] = settings.project }, limited = limits.of_call(settings) },
      settings = {
        project = settings.project, tenants = settings.tenants or {}, fallback = settings.fallback,
        clients = settings.clients, audience = settings.audience, refused = settings.refused,
        realm = settings.realm and { issuer = settings.realm.issuer, keys = settings.realm.keys },
        introspection = settings.introspection,
      },
      of_token = limits.of_call(settings, { owner = "" }),
      rules = {},
      transforms = transforms.store(settings.transforms),
      members = settings.members or {},
      unrouted = set_of(settings.unrouted),
      openfga = openfga.store(settings.openfga),
    }
    for id, of_version in pairs(settings.rules or {}) do
      state.rules[id] = rules.store(of_version)
    end
    for id, policy in pairs(state.routes) do
      policy.takes = set_of(policy.methods)
      policy.places = places.compile(policy.api_key and policy.api_key["in"])
      state.upstream[id] = upstream.store(policy.upstream, state.signer and signature.NAMES)
    end
    states[config] = state
  end
  return state
end


-- Kong calls this with its configurations of the plugin each time it has read them, before the first call that they
-- apply to.
function PosternAuth:configure(configs)
  for _, config in ipairs(configs or {}) do
    state_of(config)
  end
end


-- The token of a call to a route that accepts tokens: nil without one, or false and the refusal. A key in its place is
-- neither verified nor sent to an issuer.
local function check_token(state, policy, lines)
  local text = tokens.presented(lines)
  if text == nil then
    return nil
  end
  if keys.well_formed(text) or (state.keys.settings.imported_keys and keys.find(state.keys, text)) then
    return false, policy.takes.api_key and "key_in_authorization" or "keys_not_accepted"
  end
  local token, refusal = tokens.verify(state.settings, policy, text)
  return token or false, refusal
end


-- The caller of a call with a token, and with a key if entry is given; or nil and the refusal.
local function of_token(state, policy, token, refusal, entry)
  refusal = refusal or tokens.refusal(state.settings, token, entry and entry.tenant)
  if refusal then
    return nil, refusal
  end
  if entry then
    return tokens.with_key(entry, token)
  end
  local whose = tokens.caller(state.settings, policy, token)
  whose.limited = limits.of_owner(state.of_token, whose.account)
  return whose
end


-- The refusal of a call without a credential that the route accepts. lines are those of its Authorization.
local function required(takes_keys, takes_tokens, lines)
  local line = type(lines) == "string" and lines or ""
  if takes_keys and keys.well_formed(headers.last_word(line, keys.MAX_LENGTH)) then
    return "key_in_authorization"
  end
  if takes_keys and takes_tokens then
    return "either_required"
  end
  if takes_tokens then
    return "token_required"
  end
  local token = takes_keys and tokens.presented(line)
  return token and token ~= "" and "tokens_not_accepted" or "credentials_required"
end


-- The number of keys that a call has, the first one, and whether that is in Authorization.
local function presented(state, policy, received, takes_tokens)
  local count, text, other, sure = places.read(policy.places, received, takes_tokens)
  if other and (keys.find(state.keys, other) or (sure and count == 0)) then
    return count + 1, other, true
  end
  return count, text, false
end


-- The caller: by its key or token, the fallback owner, or an anonymous caller; or nil and the refusal. The third value
-- is whether Authorization has the key.
local function authenticate(state, policy, received)
  local takes_keys, takes_tokens = policy.takes.api_key, policy.takes.jwt or policy.takes.opaque
  local count, text, in_authorization = 0, nil, false
  if takes_keys then
    count, text, in_authorization = presented(state, policy, received, takes_tokens)
  end
  local token, refusal
  if takes_tokens and not in_authorization then
    token, refusal = check_token(state, policy, received[TOKEN_HEADER])
  end
  if count > 1 then
    return nil, "invalid_key"
  elseif count == 1 then
    local entry, wrong = check_key(state, policy.environment, text or "")
    -- Otherwise the upstream would get the key of a call that sends it twice. The same goes for Authorization below.
    for name, lines in pairs(policy.places.stripped[KEY_HEADER] and {} or received) do
      local _, plain = headers.fate(name)
      if plain == KEY_HEADER and places.repeats(lines, text or "") then
        kong.service.request.clear_header(name)
      end
    end
    if not entry or token == nil then
      return entry, wrong, in_authorization or (not takes_tokens and places.repeats(received[TOKEN_HEADER], text))
    end
    return of_token(state, policy, token, refusal, entry)
  end
  if token ~= nil then
    return of_token(state, policy, token, refusal)
  end
  if takes_keys and policy.keyless == "owner_fallback" and state.fallback then
    return state.fallback
  end
  if policy.mode ~= "passthrough" then
    return nil, required(takes_keys, takes_tokens, received[TOKEN_HEADER])
  end
  return state.anonymous
end


-- Removes headers that callers may not set. To Kong, each spelling is a separate header, so it is removed by the exact
-- name that it came with; own are the headers that the route sets. Reports whether there were more lines than Kong
-- returns.
local function clean(received, policy, own)
  local takes_keys = policy.takes.api_key
  local lines = 0
  for name, value in pairs(received) do
    lines = lines + (type(value) == "table" and #value or 1)
    local fate, plain = headers.fate(name)
    if fate == headers.REMOVED or (takes_keys and policy.places.stripped[plain]) or upstream.sets(own, name) then
      kong.service.request.clear_header(name)
    end
  end
  return lines < MOST_HEADERS
end


local function hides_dot_segment()
  return not paths.is_plain(kong.request.get_raw_path()) and paths.hides_dot_segment(kong.request.get_path())
end


-- The identity headers of a call. The key's metadata depends on the route.
local function identity_of(whose, policy)
  if not policy.send_metadata or not whose.metadata then
    return whose.headers
  end
  local identity = { ["X-Consumer-Metadata"] = whose.metadata }
  for name, value in pairs(whose.headers) do
    identity[name] = value
  end
  return identity
end


-- kong.client.authenticate tells the other plugins who the caller is, but leaves the upstream's headers to us. Reports
-- whether the call may continue.
local function let_through(whose, in_authorization, credentials, signer, policy)
  local identity = identity_of(whose, policy)
  local signed = signer and signature.headers(signer, policy.tag, identity)
  if signer and not signed then
    return false
  end
  if whose.kong_consumer then
    kong.client.authenticate(whose.kong_consumer, whose.kong_credential)
  end
  if whose.dropped or in_authorization then
    kong.service.request.clear_header(TOKEN_HEADER)
  end
  kong.service.request.set_headers(identity)
  if credentials then
    kong.service.request.set_headers(credentials)
  end
  if signed then
    kong.service.request.set_headers(signed)
  end
  return true
end


-- Kong compares the hosts of a route with the Host line byte by byte, but host names are case-insensitive (RFC 9110,
-- section 4.2.3) and may end in a dot. The line is read from the copy of the headers that Kong makes for its router, so
-- the copy is made here and corrected.
function PosternAuth:rewrite()
  local received = ngx.ctx.cached_request_headers or ngx.req.get_headers()
  ngx.ctx.cached_request_headers = received
  local host = received["host"]
  if type(host) == "string" and (host:find("%u") or host:find("%.:") or host:sub(-1) == ".") then
    received["host"] = (host:lower():gsub("%.$", ""):gsub("%.:", ":"))
  end
end


function PosternAuth:access(config)
  local state = state_of(config)
  local route = kong.router.get_route()
  if route and state.unrouted[route.id] then
    return answers.refuse("no_route")
  end
  local policy = route and state.routes[route.id] or UNKNOWN_ROUTE
  local own = route and state.upstream[route.id]

  local received = kong.request.get_headers(MOST_HEADERS)
  if not clean(received, policy, own) then
    return answers.refuse("too_many_headers")
  end
  local changes = policy.transforms and state.transforms[policy.transforms]
  if not protect_identity(received["connection"], own, changes) then
    return answers.refuse("malformed_connection")
  end
  headers.complete(received)
  if hides_dot_segment() then
    return answers.refuse("bad_path")
  end

  local whose, refusal, in_authorization = authenticate(state, policy, received)
  if refusal then
    return answers.refuse(refusal, nil, nil, policy.api_key)
  end
  if policy.ip and not addresses.admitted(policy.ip, caller()) then
    return answers.refuse("ip_denied")
  end
  local scope
  refusal, scope = rules.refused(state, policy, whose)
  if refusal then
    return answers.refuse(refusal, nil, scope)
  end
  local credentials = own and upstream.headers(own)
  local signer = policy.tag and state.signer -- routes that were added by hand have no tag
  if (own and not credentials) or (signer and not signature.ready(signer)) or
    not upstream.presentable(state.presentable) then
    return answers.refuse("upstream_credentials_missing")
  end
  if whose.limited then
    local standing, over = limits.count(whose.limited, addresses.canonical(kong.client.get_forwarded_ip()))
    if over then
      return answers.refuse(over, standing)
    end
    ngx.ctx.postern_standing = standing
  end
  local groups = rules.groups(state.members, whose)
  if groups then
    kong.ctx.shared.authenticated_groups = groups -- for Kong's acl
  end
  refusal = policy.body_limit and bodies.refusal(policy.body_limit)
  if refusal then
    return answers.refuse(refusal)
  end
  if policy.takes.api_key then
    places.strip(policy.places, received)
    ngx.ctx.postern_protocol = places.offers_own(policy.places, received)
  end
  if changes then -- before the call is signed
    transforms.request(changes, received["connection"])
  end
  if not let_through(whose, in_authorization, credentials, signer, policy) then
    return answers.refuse("upstream_credentials_missing")
  end
  if policy.host then -- Kong takes it as the server name of the TLS handshake too
    kong.service.request.set_header("Host", policy.host)
  end
  ngx.ctx.postern_tracked = state.openfga and rules.tracked(state, policy, whose)
end


-- Kong appends the upstream's headers to those that are set in access, so the rate limit headers are set here,
-- replacing the upstream's.
function PosternAuth:header_filter(config)
  answers.refuse_interim()
  places.select_own(ngx.ctx.postern_protocol)
  ownership.answered(ngx.ctx.postern_tracked)
  limits.tell(ngx.ctx.postern_standing)
  transforms.response(state_of(config).transforms, state_of(config).routes)
end


function PosternAuth:body_filter()
  ownership.received(ngx.ctx.postern_tracked)
end


function PosternAuth:log()
  ownership.ended(ngx.ctx.postern_tracked)
end


return PosternAuth
