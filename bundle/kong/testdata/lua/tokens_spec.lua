local strict = require "strict"
local check, equal = strict.check, strict.equal
local http = require "resty.http"
local made = require "made"

strict.request({})
local handler = require "handler"
local jwt = require "jwt"
local issuers = require "issuers"
local jwks = require "jwks"

local ISSUER = "https://id.example"
local HEAD = '{"alg":"RS256","kid":"r","typ":"at+jwt"}'
local CLAIMS = '{"iss":"https://id.example","aud":"shop","sub":"alice","exp":2000,"scope":"read  write"}'
local MODULUS = ("m"):rep(342) -- of 2048 bits

local function segment(text)
  return (made.base64(text):gsub("+", "-"):gsub("/", "_"):gsub("=", ""))
end

-- A token that the key with that modulus signed.
local function token(head, claims, modulus)
  local signed = segment(head) .. "." .. segment(claims)
  return signed .. "." .. segment("sha256 pkcs1 key " .. (modulus or MODULUS) .. " signed " .. signed)
end

local function publish(keys)
  http.answers["https://id.example:443/.well-known/openid-configuration"] = {
    body = '{"issuer":"https://id.example","jwks_uri":"https://id.example/keys"}',
  }
  http.answers["https://id.example:443/keys"] = { body = '{"keys":[' .. keys .. "]}" }
end

local KEY = '{"kty":"RSA","kid":"r","alg":"RS256","use":"sig","e":"AQAB","n":"' .. MODULUS .. '"}'
publish(KEY)

local secret = made.key("pst", "prod", ("s"):rep(32))
local PAIRS = {
  { issuer = ISSUER, audience = "shop", tenant = "tnt_1" }, { issuer = ISSUER, audience = "acme", tenant = "tnt_2" },
  { issuer = ISSUER, audience = "gone" },
}

local function config()
  local function route(mode, methods, keyless)
    return { environment = "prod", mode = mode, methods = methods, keyless = keyless or "reject", issuers = PAIRS }
  end
  return {
    project = "prj_1", key_types = {}, limits = { owner = { hour = 2 } },
    tenants = {
      tnt_1 = { name = "default" }, tnt_2 = { name = "acme", fallback = { owner = "acme-fallback", consumer = "uuid-acme" } },
    },
    fallback = { owner = "fallback", consumer = "uuid-fallback" },
    keys = { [made.digest(secret)] = "key_1 tenant=tnt_1 consumer=uuid-ana owner=ana" },
    routes = {
      tokens = route("authenticate", { "jwt" }), either = route("authenticate", { "api_key", "jwt" }),
      fallback = route("authenticate", { "api_key", "jwt" }, "owner_fallback"),
      open = route("passthrough", { "jwt" }),
    },
  }
end

local function call(route, lines, options)
  options = options or {}
  options.route, options.lines = route, lines
  options.shared = options.shared or { postern_limits = strict.shared() }
  local seen = strict.request(options)
  rawset(ngx, "encode_base64", made.base64)
  rawset(ngx, "decode_base64", made.unbase64)
  handler:access(options.config or config())
  return seen
end

local function bearer(text) return { { "Authorization", "Bearer " .. text } } end

local function value(seen, name)
  for _, line in ipairs(seen.lines) do
    if line[1]:lower() == name:lower() then
      return line[2]
    end
  end
  return nil
end

local function refused(seen, status, code, challenge)
  equal(seen.status, status, "status")
  equal(seen.body:match('"code":"([^"]+)"'), code, "code")
  equal(seen.headers["WWW-Authenticate"], challenge, "challenge")
end

local GOOD = token(HEAD, CLAIMS)
local INVALID = 'Bearer error="invalid_token"'

check("a token names the user, the scopes and the tenant", function()
  local seen = call("tokens", bearer(GOOD))
  equal(seen.status, nil, "status")
  equal(value(seen, "X-Authenticated-Userid"), "alice")
  equal(value(seen, "X-Authenticated-Scope"), "read write")
  equal(value(seen, "X-Tenant-ID"), "tnt_1")
  equal(value(seen, "X-Project-ID"), "prj_1")
  equal(value(seen, "X-Consumer-ID"), nil)
  equal(value(seen, "Authorization"), "Bearer " .. GOOD)
end)

check("the keys are fetched once", function()
  call("tokens", bearer(GOOD))
  equal(http.asked["https://id.example:443/keys"], 1)
end)

check("refused tokens", function()
  for name, text in pairs({
    ["another payload"] = GOOD:gsub("%.[^.]+%.", "." .. segment('{"sub":"root"}') .. "."),
    ["another key"] = token(HEAD, CLAIMS, ("f"):rep(342)),
    ["alg none"] = token('{"alg":"none","kid":"r"}', CLAIMS),
    ["an HMAC"] = token('{"alg":"HS256","kid":"r"}', CLAIMS),
    ["an algorithm that the key is not for"] = token('{"alg":"RS512","kid":"r"}', CLAIMS),
    ["an ID token of ours"] = token('{"alg":"RS256","kid":"r","typ":"logout+jwt"}', CLAIMS),
    ["crit"] = token('{"alg":"RS256","kid":"r","crit":["exp"]}', CLAIMS),
    ["expired"] = token(HEAD, (CLAIMS:gsub("2000", "940"))),
    ["no exp"] = token(HEAD, (CLAIMS:gsub('"exp":2000,', ""))),
    ["another audience"] = token(HEAD, (CLAIMS:gsub("shop", "shop2"))),
    ["iss twice"] = token(HEAD, (CLAIMS:gsub("^{", '{"iss":"https://other.example",'))),
    ["a name twice, inside"] = token(HEAD, (CLAIMS:gsub("^{", '{"realm_access":{"roles":[],"roles":["admin"]},'))),
    ["kid twice"] = token((HEAD:gsub("^{", '{"kid":"new",')), CLAIMS),
    ["a name twice, inside the header"] = token((HEAD:gsub("^{", '{"jwk":{"n":"a","n":"b"},')), CLAIMS),
    ["sub twice, escaped"] = token(HEAD, (CLAIMS:gsub("^{", '{"\\u0073ub":"root",'))),
    ["a line break in sub"] = token(HEAD, (CLAIMS:gsub("alice", "alice\\r\\nX: y"))),
    ["a list as scope's member"] = token(HEAD, (CLAIMS:gsub('"read  write"', '[["a"]]'))),
    ["an object as scope"] = token(HEAD, (CLAIMS:gsub('"read  write"', "{}"))),
    ["padding"] = GOOD .. "=",
    ["too long"] = GOOD .. ("A"):rep(17000),
    ["nothing"] = "",
  }) do
    refused(call("tokens", bearer(text)), 401, "invalid_token", INVALID)
    equal(value(call("tokens", bearer(text)), "X-Authenticated-Userid"), nil, name)
  end
end)

check("accepted tokens", function()
  for name, text in pairs({
    ["the leeway of exp"] = token(HEAD, (CLAIMS:gsub("2000", "941"))),
    ["several audiences"] = token(HEAD, (CLAIMS:gsub('"shop"', '["x","shop"]'))),
    ["scp"] = token(HEAD, (CLAIMS:gsub('"scope":"read  write"', '"scp":["read","write"]'))),
    ["no kid"] = token('{"alg":"RS256"}', CLAIMS),
    ["nested names"] = token(HEAD, (CLAIMS:gsub("^{", '{"x":{"sub":1,"y":["\\"}",{"sub":2}]},'))),
  }) do
    local seen = call("tokens", bearer(text))
    equal(seen.status, nil, name)
    equal(value(seen, "X-Authenticated-Scope"), "read write", name)
  end
end)

check("an issuer's key is asked for again every 30 seconds at most", function()
  local unknown = token('{"alg":"RS256","kid":"new"}', CLAIMS)
  local before = http.asked["https://id.example:443/keys"]
  for _ = 1, 5 do
    refused(call("tokens", bearer(unknown), { now = 1040 }), 401, "invalid_token", INVALID)
  end
  equal(http.asked["https://id.example:443/keys"], before + 1)
  publish(KEY .. "," .. KEY:gsub('"r"', '"new"'))
  refused(call("tokens", bearer(unknown), { now = 1069 }), 401, "invalid_token", INVALID)
  equal(call("tokens", bearer(unknown), { now = 1071 }).status, nil)
end)

check("keys stay in use while the issuer is away, for a minute at most", function()
  http.answers["https://id.example:443/keys"] = { status = 500 }
  local late = token(HEAD, (CLAIMS:gsub("2000", "999999")))
  equal(call("tokens", bearer(late), { now = 1130 }).status, nil)
  refused(call("tokens", bearer(late), { now = 1132 }), 503, "issuer_unavailable")
  publish(KEY)
  equal(call("tokens", bearer(late), { now = 1163, no_timers = true }).status, nil)
end)

check("issuers that cannot be trusted", function()
  local pair = { issuer = "https://liar.example", audience = "shop", tenant = "tnt_1" }
  local function keys_of(document, keys)
    pair.issuer = "https://liar" .. #document .. ".example"
    local at = pair.issuer .. ":443"
    http.answers[at .. "/.well-known/openid-configuration"] = { body = (document:gsub("@", pair.issuer)) }
    http.answers[at .. "/keys"] = { body = keys or '{"keys":[' .. KEY .. "]}" }
    local _, why = issuers.key(pair, { algorithm = "RS256", key_id = "r" })
    return why
  end
  equal(keys_of('{"issuer":"@","jwks_uri":"@/keys"}'), nil)
  for _, document in ipairs({
    '{"issuer":"https://id.example","jwks_uri":"@/keys"}', '{"issuer":"@","jwks_uri":"http://liar/keys"}',
    '{"issuer":"@","jwks_uri":"https://127.0.0.1:8001/keys"}', '{"issuer":"@"}', '["@"]', "none",
    '{"issuer":"@","jwks_uri":"https://other.example/keys","jwks_uri":"@/keys"}', '{"issuer":"@", "JWKS_URI":"@/keys"}',
    '{"issuer":"https://id.example","issuer":"@","jwks_uri":"@/keys"}',
    '{"x":{"y":1,"y":2},"issuer":"@","jwks_uri":"@/keys"}',
  }) do
    equal(keys_of(document), "issuer_unavailable", document)
  end
  equal(keys_of('{"issuer":"@","jwks_uri":"@/keys","x":1}', '{"keys":[]}'), "issuer_unavailable")
  equal(keys_of('{"issuer":"@","jwks_uri":"@/keys","x":22}', (" "):rep(600000)), "issuer_unavailable")
  for i, set in ipairs({
    '{"keys":[],"keys":[' .. KEY .. "]}", '{"keys":[' .. KEY:gsub("^{", '{"kid":"q",') .. "]}",
    '{"keys":[' .. KEY .. ',{"x":1,"x":2}]}',
  }) do
    equal(keys_of('{"issuer":"@","jwks_uri":"@/keys","x":"' .. ("3"):rep(i) .. '"}', set), "issuer_unavailable", set)
  end
end)

check("keys that verify nothing", function()
  for _, doc in ipairs({
    { kty = "oct", k = "x" }, { kty = "RSA", n = MODULUS, e = "AQAB", d = "x" }, { kty = "RSA", n = "short", e = "AQAB" },
    { kty = "RSA", n = MODULUS, use = "enc" }, { kty = "EC", crv = "P-521", x = "x" }, { kty = "OKP", crv = "X25519", x = "x" },
    { kty = "RSA", n = ("m"):rep(12000) }, "text",
  }) do
    equal(#jwks.read({ keys = { doc } }), 0, tostring(doc.kty))
  end
end)

check("a key with the token", function()
  local lines = bearer(GOOD)
  lines[2] = { "X-API-Key", secret }
  local seen = call("either", lines)
  equal(value(seen, "X-Consumer-Username"), "ana")
  equal(value(seen, "X-Authenticated-Userid"), "alice")
  equal(value(seen, "X-Authenticated-Scope"), nil)
  lines[1] = bearer(token(HEAD, (CLAIMS:gsub("shop", "acme"))))[1]
  refused(call("either", lines), 403, "wrong_tenant")
  lines[1] = bearer("x")[1]
  refused(call("either", lines), 401, "invalid_token", INVALID)
  lines = bearer(GOOD)
  lines[2] = { "X-API-Key", "wrong" }
  refused(call("either", lines), 401, "invalid_key", 'Key realm="postern"')
end)

check("calls that count for an owner", function()
  equal(value(call("fallback", bearer(GOOD)), "X-Consumer-Username"), "fallback")
  local seen = call("fallback", bearer(token(HEAD, (CLAIMS:gsub("shop", "acme")))))
  equal(value(seen, "X-Consumer-Username"), "acme-fallback")
  equal(value(seen, "X-Tenant-ID"), "tnt_2")
  equal(seen.consumer.id, "uuid-acme")
  equal(value(call("either", bearer(GOOD)), "X-Consumer-Username"), nil)
end)

check("a tenant that is not served", function()
  refused(call("tokens", bearer(token(HEAD, (CLAIMS:gsub("shop", "gone"))))), 403, "wrong_tenant")
end)

check("calls without a token", function()
  refused(call("tokens", {}), 401, "credentials_required", "Bearer")
  refused(call("tokens", { { "Authorization", "Basic YTpi" } }), 401, "credentials_required", "Bearer")
  refused(call("tokens", { { "Authorization", "Bearers " .. GOOD } }), 401, "credentials_required", "Bearer")
  refused(call("either", {}), 401, "credentials_required", 'Key realm="postern", Bearer')
  refused(call("either", bearer(secret)), 401, "credentials_required", 'Key realm="postern"')
  refused(call("tokens", bearer(secret)), 401, "invalid_token", INVALID)
  equal(call("open", {}).status, nil)
  refused(call("open", bearer("x")), 401, "invalid_token", INVALID)
  refused(call("tokens", { bearer(GOOD)[1], bearer(GOOD)[1] }), 401, "invalid_token", INVALID)
end)

check("each user has limits of their own", function()
  local shared, with = { postern_limits = strict.shared() }, config()
  local bob = token(HEAD, (CLAIMS:gsub("alice", "bob")))
  for _ = 1, 2 do
    equal(call("tokens", bearer(GOOD), { shared = shared, config = with }).status, nil)
  end
  refused(call("tokens", bearer(GOOD), { shared = shared, config = with }), 429, "rate_limited")
  equal(call("tokens", bearer(bob), { shared = shared, config = with }).status, nil)
end)

check("names that can be sent", function()
  equal(jwt.is_name(("a"):rep(255)), true)
  for _, text in ipairs({ "", " a", "a ", "a\n", "\195\173", ("a"):rep(256) }) do
    equal(jwt.is_name(text), false, text)
  end
end)

strict.done()
