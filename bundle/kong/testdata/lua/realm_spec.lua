local strict = require "strict"
local check, equal = strict.check, strict.equal
local http = require "resty.http"
local made = require "made"

strict.request({})
local handler = require "handler"

local ISSUER = "https://login.example/realms/shop"
local MODULUS = ("m"):rep(342) -- of 2048 bits
local HEAD = '{"alg":"RS256","kid":"r","typ":"at+jwt"}'
local CLAIMS = '{"iss":"' .. ISSUER .. '","aud":["account","cli_1"],"azp":"cli_1","sub":"usr_1","exp":2000,' ..
  '"tenant":"tnt_1","provider":"idp_1","groups":["/default/outer/inner","/default/a, b","/default"],"scope":"email"}'

http.answers["https://login.example:443/realms/shop/.well-known/openid-configuration"] = {
  body = '{"issuer":"' .. ISSUER .. '","jwks_uri":"https://login.example/keys"}',
}
local KEYS = '{"keys":[{"kty":"RSA","kid":"r","alg":"RS256","use":"sig","e":"AQAB","n":"' .. MODULUS .. '"}]}'
http.answers["https://login.example:443/keys"] = { body = KEYS }
http.answers["http://login:8080/keys"] = { body = KEYS }

local function segment(text)
  return (made.base64(text):gsub("+", "-"):gsub("/", "_"):gsub("=", ""))
end

local function token(claims, modulus)
  local signed = segment(HEAD) .. "." .. segment(claims or CLAIMS)
  return signed .. "." .. segment("sha256 pkcs1 key " .. (modulus or MODULUS) .. " signed " .. signed)
end

local function changed(from, to)
  local text, n = CLAIMS:gsub(from, to)
  assert(n == 1, from)
  return token(text)
end

local function config(change)
  local with = {
    project = "prj_1", key_types = {}, keys = {}, tenants = { tnt_1 = { name = "default" } },
    clients = {
      ["https://postern.example/oauth/cli_1"] = {
        id = "cli_1", tenant = "tnt_1", machine = true, consumer = "uuid-robot", frozen = false, keys = {},
        upstream = { idp_1 = "service", idp_2 = "none", idp_3 = "provider_id_token" },
      },
    },
    refused = { users = { usr_1 = "frozen" }, sessions = {} },
    realm = { issuer = "LOGIN_ISSUER", keys = "LOGIN_KEYS" },
    routes = { tokens = { environment = "prod", mode = "authenticate", methods = { "jwt" }, keyless = "reject" } },
  }
  if change then
    change(with, with.clients["https://postern.example/oauth/cli_1"])
  end
  return with
end

local function call(text, change, environment)
  local seen = strict.request({
    route = "tokens", lines = { { "Authorization", "Bearer " .. text } },
    shared = { postern_limits = strict.shared() },
    variables = environment or { LOGIN_ISSUER = ISSUER, LOGIN_KEYS = "" },
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

check("a user of the realm", function()
  local seen = call(token())
  equal(seen.status, nil)
  equal(value(seen, "X-Authenticated-Userid"), "usr_1")
  equal(value(seen, "X-Consumer-Groups"), "inner, outer")
  equal(value(seen, "X-Tenant-ID"), "tnt_1")
  assert(value(seen, "Authorization"))
end)

check("a user without a provider, and one without groups", function()
  equal(call(changed('"provider":"idp_1",', "")).status, nil)
  local seen = call(changed('"groups":%[.-%],', ""))
  equal(seen.status, nil)
  equal(value(seen, "X-Consumer-Groups"), nil)
end)

check("a user in groups of several tenants", function()
  local seen = call(changed('"/default/a, b"', '"/acme/admins","/defaults/root","/default/outer/north"'))
  equal(seen.status, nil)
  equal(value(seen, "X-Consumer-Groups"), "inner, north, outer")
end)

check("a machine", function()
  local seen = call(changed('"sub":"usr_1"', '"sub":"cli_1"'))
  equal(value(seen, "X-Consumer-Username"), "cli_1")
  equal(value(seen, "X-Authenticated-Userid"), nil)
end)

check("keys where the gateway reaches them", function()
  equal(call(token(), nil, { LOGIN_ISSUER = ISSUER, LOGIN_KEYS = "http://login:8080/keys" }).status, nil)
end)

check("a realm that is not trusted", function()
  refused(call(token(), nil, { LOGIN_ISSUER = "" }), 401, "invalid_token")
  refused(call(token(), nil, { LOGIN_ISSUER = "https://other.example" }), 401, "invalid_token")
  refused(call(token(), function(with) with.realm = nil end), 401, "invalid_token")
end)

check("tokens that are refused", function()
  for name, text in pairs({
    ["another key"] = token(nil, ("f"):rep(342)),
    ["of another client"] = changed('"azp":"cli_1"', '"azp":"cli_2"'),
    ["of no client"] = changed('"azp":"cli_1",', ""),
    ["for another audience"] = changed('"aud":%[.-%]', '"aud":"account"'),
    ["of another tenant"] = changed('"tenant":"tnt_1"', '"tenant":"tnt_2"'),
    ["of no tenant"] = changed('"tenant":"tnt_1",', ""),
    ["groups as a text"] = changed('"groups":%[.-%]', '"groups":"/default/staff"'),
    ["a number as a group"] = changed('"groups":%[.-%]', '"groups":[1]'),
    ["that has ended"] = changed('2000', '900'),
  }) do
    equal(call(text).status, 401, name)
    refused(call(text), 401, "invalid_token")
  end
  refused(call(token(), function(_, client) client.frozen = true end), 403, "client_frozen")
  refused(call(changed('"sub":"usr_1"', '"sub":"cli_1"'), function(_, client) client.machine = false end),
    401, "invalid_token")
end)

check("what the upstream gets", function()
  local seen = call(changed('"provider":"idp_1"', '"provider":"idp_2"'))
  equal(seen.status, nil)
  equal(value(seen, "Authorization"), nil)
  refused(call(changed('"provider":"idp_1"', '"provider":"idp_3"')), 503, "provider_token_unavailable")
end)

strict.done()
