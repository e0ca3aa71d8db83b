-- SPDX-License-Identifier: Apache-2.0
--
-- Postern's access control, carried by the exported gateway.
--
-- Decides every call as the hosted gateway does: the same keys open the same
-- environments, the same errors say no, and the upstream sees the same headers.
-- Keys are known by their SHA-256 only; nothing here or in gateway.yaml opens
-- anything by itself.

local sha256 = require "resty.sha256"
local to_hex = require("resty.string").to_hex
local addresses = require "kong.plugins.postern-auth.addresses"
local limits = require "kong.plugins.postern-auth.limits"

local PosternAuth = {
  -- After cors (2000), before ip-restriction (990), acl (950) and
  -- rate-limiting (910), which need to know whose call it is. The last one cannot
  -- take our limits over: Kong runs one instance of a plugin for a call, and ours
  -- are counted by key, owner, address and project at once.
  PRIORITY = 1250,
  VERSION = "1.0.0",
}

-- Headers that upstreams trust because only a gateway sets them.
local IDENTITY_HEADERS = {
  ["x-consumer-id"] = true,
  ["x-consumer-username"] = true,
  ["x-consumer-custom-id"] = true,
  ["x-consumer-groups"] = true,
  ["x-credential-identifier"] = true,
  ["x-credential-username"] = true,
  ["x-anonymous-consumer"] = true,
  ["x-authenticated-scope"] = true,
  ["x-authenticated-userid"] = true,
  ["x-tenant-id"] = true,
}

-- Headers that Kong overwrites itself, but only when spelled with hyphens. An
-- upstream that reads CGI variables cannot tell X_Real_IP from X-Real-IP.
local FORWARDING_HEADERS = {
  ["x-forwarded-for"] = true,
  ["x-forwarded-host"] = true,
  ["x-forwarded-path"] = true,
  ["x-forwarded-port"] = true,
  ["x-forwarded-prefix"] = true,
  ["x-forwarded-proto"] = true,
  ["x-real-ip"] = true,
}

local KEY_HEADER = "x-api-key"

-- Kong hands out at most this many header lines, and drops the rest silently.
local MOST_HEADERS = 1000

local ANSWERS = {
  credentials_required = { 401, "Send an API key in the X-API-Key header." },
  invalid_key = { 401, "This API key is not valid here." },
  key_frozen = { 403, "This API key is frozen." },
  wrong_tenant = { 403, "This API key belongs to a tenant that is not served here." },
  ip_denied = { 403, "Calls from this address are not allowed." },
  rate_limited = { 429, "Too many calls; try again after the time in Retry-After." },
  quota_exceeded = { 429, "The quota of calls is used up; try again after the time in Retry-After." },
  limits_unavailable = { 503, "Calls cannot be counted at the moment." },
  too_many_headers = { 431, "This request has too many header lines." },
  malformed_connection = { 400, "The Connection header may not name an identity header." },
  upstream_unreachable = { 502, "The upstream could not be reached." },
}

-- A route that is not in the exported table was added later by hand. It asks
-- for a key that opens every environment: closed until somebody decides.
local UNKNOWN_ROUTE = { mode = "authenticate", methods = { "api_key" }, keyless = "reject" }


local function refuse(code, headers)
  local status, message = ANSWERS[code][1], ANSWERS[code][2]
  headers = headers or {}
  headers["Content-Type"] = "application/json"
  if status == 401 then
    headers["WWW-Authenticate"] = 'Key realm="postern"'
  end
  local body = '{"message":"' .. message .. '","code":"' .. code .. '"}'
  return kong.response.exit(status, body, headers)
end


local function canonical(name)
  return (name:lower():gsub("_", "-"))
end


-- The tokens of a Connection line that name no identity header, and how many do.
local function without_identity(line)
  local kept, removed = {}, 0
  for token in line:gmatch("[^%s,]+") do
    if IDENTITY_HEADERS[canonical(token)] then
      removed = removed + 1
    else
      kept[#kept + 1] = token
    end
  end
  return table.concat(kept, ", "), removed
end


-- Kong removes, after every plugin has run, the headers that the caller's
-- Connection header names: "Connection: X-Consumer-ID" would take the identity
-- away from a call with a valid key. It reads that header from a copy made
-- before the plugins ran, so the copy is what has to be mended; the PDK has no
-- way to it. Where there is none (another Kong), such a call is refused.
local function protect_identity(headers)
  local lines = headers["connection"]
  if lines == nil then
    return true
  end
  if type(lines) ~= "table" then
    lines = { lines }
  end
  local mended, total = {}, 0
  for i, line in ipairs(lines) do
    local kept, removed = without_identity(line)
    mended[i], total = kept, total + removed
  end
  if total == 0 then
    return true
  end
  local copy = ngx.ctx.cached_request_headers
  if type(copy) ~= "table" then
    return false
  end
  copy["connection"] = mended
  return true
end


-- Removes what the caller sent under our names. Kong's own clearing knows any
-- case, but x_consumer_id is another header to it, so every spelling that came
-- is cleared under the very name it came with.
local function remove_spoofed(headers)
  for name in pairs(headers) do
    local plain = canonical(name)
    if IDENTITY_HEADERS[plain] or (FORWARDING_HEADERS[plain] and plain ~= name) then
      kong.service.request.clear_header(name)
    end
  end
end


-- The key header never reaches the upstream where keys are looked at.
local function remove_keys(headers)
  for name in pairs(headers) do
    if canonical(name) == KEY_HEADER then
      kong.service.request.clear_header(name)
    end
  end
end


local BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

local function base62_check(number)
  local digits = {}
  for place = 6, 1, -1 do
    local digit = number % 62
    digits[place] = BASE62:sub(digit + 1, digit + 1)
    number = (number - digit) / 62
  end
  return table.concat(digits)
end


-- <prefix>_<environment>_<32 base62 characters><6 of CRC-32 over all before>
local function well_formed(key)
  local prefix, environment, secret = key:match("^([a-z][a-z0-9]+)_([a-z][a-z0-9-]*)_([0-9A-Za-z]+)$")
  if not prefix or #prefix > 16 or #secret ~= 38 then
    return false
  end
  return base62_check(ngx.crc32_long(key:sub(1, -7))) == key:sub(-6)
end


local function digest(key)
  local hash = sha256:new()
  hash:update(key)
  return to_hex(hash:final())
end


-- The fields of an entry, which is one line:
--   key_01 tenant=tnt_1 type=kty_1 env=prod until=1767225600 limits=hour:9,day:99 ips=192.0.2.0/24,::1/128 frozen consumer=<uuid> owner=billing service
-- Only the id, tenant, consumer and owner are always there; the owner is last
-- and may hold blanks. nil for a line that was spoilt by hand.
local function parse_entry(line)
  local head, owner = line:match("^(.-) owner=(.+)$")
  if not head then
    return nil
  end
  local entry = { id = head:match("^(%S+)"), owner = owner }
  for field in head:gmatch(" (%S+)") do
    local name, value = field:match("^(%l+)=(.*)$")
    entry[name or field] = value or true
  end
  if entry["until"] then
    entry.valid_until = tonumber(entry["until"]) or 0
  end
  if entry.limits then
    entry.limits = limits.parse(tostring(entry.limits))
    if not entry.limits then
      return nil
    end
  end
  return entry.id and entry.tenant and entry.consumer and entry or nil
end


local function caller()
  return addresses.parse(kong.client.get_forwarded_ip())
end


-- The entry of a presented key, or nil and the code of the refusal.
local function check_key(config, environment, presented)
  if type(presented) ~= "string" then
    return nil, "invalid_key" -- a table: the header came more than once
  end
  -- nginx takes off blanks around a value, but not tabs (RFC 9110, 5.6.3).
  presented = presented:match("^[ \t]*(.-)[ \t]*$")
  if not well_formed(presented) then
    return nil, "invalid_key"
  end
  local line = config.keys and config.keys[digest(presented)]
  local entry = line and parse_entry(line)
  if not entry then
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
  if not (config.tenants and config.tenants[entry.tenant]) then
    return nil, "wrong_tenant"
  end
  if entry.ips and not addresses.listed(tostring(entry.ips), caller()) then
    return nil, "ip_denied"
  end
  return entry
end


-- What the key may do, joined by blanks; "" for nothing.
local function scopes_of(config, entry)
  if entry.scopes then
    return (entry.scopes:gsub(",", " "))
  end
  local key_type = config.key_types and config.key_types[entry.type]
  return key_type and table.concat(key_type.scopes, " ") or ""
end


-- Counts a call of an entry of keys, of the fallback, or of nobody. Gives the
-- headers of its answer and, where a limit is reached, the code of the refusal.
local function count(config, whose)
  local all = config.limits or {}
  local is_key = whose and whose.id
  return limits.count(
    { key = is_key and limits.of_key(config, whose), owner = all.owner, ip = all.ip, project = all.project },
    { key = is_key, owner = whose and whose.owner, ip = all.ip and addresses.canonical(kong.client.get_forwarded_ip()), project = "" }
  )
end


local function set_consumer(consumer_id, owner)
  kong.service.request.set_header("X-Consumer-ID", consumer_id)
  kong.service.request.set_header("X-Consumer-Username", owner)
  kong.service.request.set_header("X-Consumer-Custom-ID", owner)
end


-- kong.client.authenticate tells the other plugins whose call it is; the
-- headers for the upstream it leaves to us.
local function let_through_as_key(config, entry)
  kong.client.authenticate(
    { id = entry.consumer, username = entry.owner, custom_id = entry.owner },
    { id = entry.id, consumer = { id = entry.consumer } }
  )
  local scopes = scopes_of(config, entry)
  set_consumer(entry.consumer, entry.owner)
  kong.service.request.set_header("X-Credential-Identifier", entry.id)
  if scopes ~= "" then
    kong.service.request.set_header("X-Authenticated-Scope", scopes)
  end
  kong.service.request.set_header("X-Tenant-ID", entry.tenant)
end


local function let_through_as_fallback(owner)
  kong.client.authenticate({ id = owner.consumer, username = owner.owner, custom_id = owner.owner }, nil)
  set_consumer(owner.consumer, owner.owner)
end


local function allows_keys(policy)
  for _, method in ipairs(policy.methods or {}) do
    if method == "api_key" then
      return true
    end
  end
  return false
end


-- Whose call it is: the entry of its key, or the owner that it counts against
-- without one, or neither; and the code of the refusal, if it is refused.
local function authenticate(config, policy, presented)
  if not allows_keys(policy) then
    return nil, nil, policy.mode ~= "passthrough" and "credentials_required" or nil
  end
  if presented ~= nil then
    local entry, refusal = check_key(config, policy.environment, presented)
    return entry, nil, refusal
  end
  if policy.keyless == "owner_fallback" and config.fallback then
    return nil, config.fallback
  end
  return nil, nil, policy.mode ~= "passthrough" and "credentials_required" or nil
end


function PosternAuth:access(config)
  local headers = kong.request.get_headers(MOST_HEADERS)
  local lines = 0
  for _, value in pairs(headers) do
    lines = lines + (type(value) == "table" and #value or 1)
  end
  if lines >= MOST_HEADERS then
    return refuse("too_many_headers")
  end
  if not protect_identity(headers) then
    return refuse("malformed_connection")
  end

  local route = kong.router.get_route()
  local policy = route and config.routes and config.routes[route.id] or UNKNOWN_ROUTE

  remove_spoofed(headers)
  if allows_keys(policy) then
    remove_keys(headers) -- elsewhere credentials are the upstream's business
  end
  local entry, fallback, refusal = authenticate(config, policy, headers[KEY_HEADER])
  if refusal then
    return refuse(refusal)
  end
  if policy.ip and not addresses.admitted(policy.ip, caller()) then
    return refuse("ip_denied")
  end
  local standing, over = count(config, entry or fallback)
  if over then
    return refuse(over, standing)
  end
  kong.ctx.plugin.standing = standing

  if entry then
    let_through_as_key(config, entry)
  elseif fallback then
    let_through_as_fallback(fallback)
  end
end


-- Kong puts what the upstream answers behind headers that are set in access, so
-- where the caller stands is written here, over what the upstream sent.
function PosternAuth:header_filter()
  -- nginx takes an interim answer for the final one and sends what follows it as it
  -- is: a proxy in front would take that for the answer to another caller.
  if ngx.status < 200 and ngx.status ~= 101 then
    return refuse("upstream_unreachable", { ["Connection"] = "close" })
  end
  local standing = kong.ctx.plugin.standing
  if not standing then
    return
  end
  for _, name in ipairs(limits.HEADERS) do
    if standing[name] then
      kong.response.set_header(name, standing[name])
    else
      kong.response.clear_header(name)
    end
  end
end


return PosternAuth
