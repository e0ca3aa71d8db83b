local strict = require "strict"
local check, equal = strict.check, strict.equal
local made = require "made"

strict.request({})
local handler = require "handler"

local ISSUER = "https://postern.example/oauth/cli_1"
local MODULUS = ("m"):rep(342) -- of 2048 bits
local HEAD = '{"alg":"RS256","kid":"sig_1","typ":"at+jwt"}'
local CLAIMS = '{"iss":"' .. ISSUER .. '","aud":"cli_1","sub":"usr_1","exp":2000,"client_id":"cli_1","tenant":"tnt_1",' ..
  '"sid":"ses_1","provider":"idp_1","groups":["staff","a, b","eu"],"scope":"orders:read"}'

local function segment(text)
  return (made.base64(text):gsub("+", "-"):gsub("/", "_"):gsub("=", ""))
end

local function token(claims, head, modulus)
  local signed = segment(head or HEAD) .. "." .. segment(claims or CLAIMS)
  return signed .. "." .. segment("sha256 pkcs1 key " .. (modulus or MODULUS) .. " signed " .. signed)
end

local function changed(from, to)
  local text, n = CLAIMS:gsub(from, to)
  assert(n == 1, from)
  return token(text)
end

local function jwk(kid) return '{"kty":"RSA","kid":"' .. kid .. '","alg":"RS256","e":"AQAB","n":"' .. MODULUS .. '"}' end

-- The configuration, after a change of it.
local function config(change)
  local function route(methods, keyless)
    return { environment = "prod", mode = "authenticate", methods = methods, keyless = keyless or "reject" }
  end
  local with = {
    project = "prj_1", key_types = {}, keys = {}, tenants = { tnt_1 = { name = "default" } }, audience = "https://api",
    fallback = { owner = "fallback", consumer = "uuid-fallback" },
    clients = {
      [ISSUER] = {
        id = "cli_1", tenant = "tnt_1", machine = true, consumer = "uuid-robot", frozen = false,
        keys = {
          { id = "sig_1", alg = "RS256", jwk = jwk("sig_1") }, { id = "sig_2", alg = "RS256", jwk = jwk("sig_2"), ["until"] = 900 },
          { id = "sig_3", alg = "RS512", jwk = jwk("sig_3") }, { id = "sig_4", alg = "RS256", jwk = "none" },
        },
        upstream = { idp_1 = "service", idp_2 = "none", idp_3 = "provider_id_token" },
      },
    },
    refused = { users = { usr_2 = "frozen", usr_3 = "deleted" }, sessions = { ses_2 = true } },
    routes = { tokens = route({ "jwt" }), fallback = route({ "api_key", "jwt" }, "owner_fallback") },
  }
  if change then
    change(with, with.clients[ISSUER])
  end
  return with
end

local function call(text, change, route)
  local seen = strict.request({
    route = route or "tokens", lines = { { "Authorization", "Bearer " .. text } },
    shared = { postern_limits = strict.shared() },
  })
  rawset(ngx, "encode_base64", made.base64)
  rawset(ngx, "decode_base64", made.unbase64)
  handler:access(config(change))
  return seen
end

local function value(seen, name)
  for _, line in ipairs(seen.lines) do
    if line[1]:lower() == name:lower() then
      return line[2]
    end
  end
  return nil
end

local function refused(seen, status, code)
  equal(seen.status, status, "status")
  equal(seen.body:match('"code":"([^"]+)"'), code, "code")
end

check("a user", function()
  local seen = call(token())
  equal(seen.status, nil)
  equal(value(seen, "X-Authenticated-Userid"), "usr_1")
  equal(value(seen, "X-Consumer-Groups"), "staff, eu")
  equal(value(seen, "X-Authenticated-Scope"), "orders:read")
  equal(value(seen, "X-Tenant-ID"), "tnt_1")
  equal(value(seen, "X-Consumer-ID"), nil)
  equal(table.concat(seen.shared.authenticated_groups, ";"), "staff;eu")
  assert(value(seen, "Authorization"))
end)

check("a user in many groups", function()
  local seen = call(changed('"sid"', '"groups_truncated":true,"sid"'))
  equal(value(seen, "X-Consumer-Groups"), "staff, eu")
  equal(value(seen, "X-Consumer-Groups-Truncated"), "true")
  equal(value(call(changed('"sid"', '"groups_truncated":false,"sid"')), "X-Consumer-Groups-Truncated"), nil)
  equal(value(call(token()), "X-Consumer-Groups-Truncated"), nil)
  local long = ("g"):rep(251) -- with the separator 253 bytes: 16 of them are in 4096
  for count, cut in pairs({ [16] = false, [17] = true }) do
    local list = ('"' .. long .. '",'):rep(count):sub(1, -2)
    seen = call(changed('"groups":%[.-%]', '"groups":[' .. list .. ']'))
    equal(value(seen, "X-Consumer-Groups"), (long .. ", "):rep(16):sub(1, -3), count)
    equal(value(seen, "X-Consumer-Groups-Truncated"), cut and "true" or nil, count)
    equal(#seen.shared.authenticated_groups, count)
  end
end)

check("a user with a fallback owner", function()
  local seen = call(token(), nil, "fallback")
  equal(value(seen, "X-Consumer-Username"), "fallback")
  equal(value(seen, "X-Authenticated-Userid"), "usr_1")
end)

check("a machine is its own consumer and no user", function()
  local seen = call(changed('"sub":"usr_1"', '"sub":"cli_1"'), nil, "fallback")
  equal(value(seen, "X-Consumer-Username"), "cli_1")
  equal(value(seen, "X-Consumer-ID"), "uuid-robot")
  equal(value(seen, "X-Authenticated-Userid"), nil)
  equal(value(seen, "X-Consumer-Groups"), nil)
end)

check("audiences", function()
  equal(call(changed('"aud":"cli_1"', '"aud":["https://api"]')).status, nil)
  refused(call(changed('"aud":"cli_1"', '"aud":"https://other"')), 401, "invalid_token")
  local without = function(with) with.audience = nil end
  refused(call(changed('"aud":"cli_1"', '"aud":"https://api"'), without), 401, "invalid_token")
  refused(call(changed('"aud":"cli_1"', '"aud":""'), without), 401, "invalid_token")
end)

check("tokens that were never accepted", function()
  for name, text in pairs({
    ["an ID token"] = token(nil, '{"alg":"RS256","kid":"sig_1"}'),
    ["another key"] = token(nil, nil, ("f"):rep(342)),
    ["a key that ended"] = token(nil, (HEAD:gsub("sig_1", "sig_2"))),
    ["a key of another algorithm"] = token(nil, (HEAD:gsub("sig_1", "sig_3"))),
    ["a key that is none"] = token(nil, (HEAD:gsub("sig_1", "sig_4"))),
    ["an unknown key"] = token(nil, (HEAD:gsub("sig_1", "sig_9"))),
    ["the leeway of other issuers"] = changed("2000", "999"),
    ["another app client"] = changed('"client_id":"cli_1"', '"client_id":"cli_2"'),
    ["another tenant"] = changed('"tenant":"tnt_1"', '"tenant":"tnt_2"'),
    ["groups as a text"] = changed('"groups":%[.-%]', '"groups":"staff"'),
    ["groups as an object"] = changed('"groups":%[.-%]', '"groups":{"a":"b"}'),
    ["a number as a group"] = changed('"groups":%[.-%]', '"groups":[1]'),
    ["a text as groups_truncated"] = changed('"sid"', '"groups_truncated":"true","sid"'),
    ["a text as groups_at"] = changed('"sid"', '"groups_at":"now","sid"'),
    ["a session that is a number"] = changed('"sid":"ses_1"', '"sid":1'),
  }) do
    equal(call(text).status, 401, name)
    refused(call(text), 401, "invalid_token")
  end
end)

check("by the state of the project", function()
  refused(call(changed('"sub":"usr_1"', '"sub":"usr_2"')), 403, "user_frozen")
  refused(call(changed('"sub":"usr_1"', '"sub":"usr_3"')), 401, "invalid_token")
  refused(call(changed('"sid":"ses_1"', '"sid":"ses_2"')), 401, "invalid_token")
  refused(call(token(), function(_, client) client.frozen = true end), 403, "client_frozen")
  refused(call(token(), function(with) with.tenants = {} end), 403, "wrong_tenant")
  local machine = changed('"sub":"usr_1"', '"sub":"cli_1"')
  refused(call(machine, function(_, client) client.machine = false end), 401, "invalid_token")
end)

check("users who left a group", function()
  local left = function(with) with.refused.left = { usr_1 = 900 } end
  local at = function(claims) return changed('"sid"', claims .. ',"sid"') end
  refused(call(at('"iat":900'), left), 401, "invalid_token")
  equal(call(at('"iat":901'), left).status, nil)
  equal(call(at('"iat":900,"groups_at":901'), left).status, nil)
  refused(call(at('"iat":901,"groups_at":900'), left), 401, "invalid_token")
end)

check("what the upstream gets", function()
  local seen = call(changed('"provider":"idp_1"', '"provider":"idp_2"'))
  equal(seen.status, nil)
  equal(value(seen, "Authorization"), nil)
  local sealed = '"provider":"idp_3","upstream":"provider_id_token","upstream_token":"sealed"'
  refused(call(changed('"provider":"idp_1"', sealed)), 503, "provider_token_unavailable")
  refused(call(changed('"provider":"idp_1"', '"provider":"idp_3"')), 401, "invalid_token")
  refused(call(changed('"provider":"idp_1"', '"provider":"idp_9"')), 401, "invalid_token")
end)

check("an issuer of ours that a route names too is judged as ours", function()
  local text = token((CLAIMS:gsub('"aud":"cli_1"', '"aud":"shop"')))
  refused(call(text, function(with)
    with.routes.tokens.issuers = { { issuer = ISSUER, audience = "shop", tenant = "tnt_1" } }
  end), 401, "invalid_token")
end)

strict.done()
