local strict = require "strict"
local check, equal = strict.check, strict.equal
local http = require "resty.http"
local made = require "made"

strict.request({})
local handler = require "handler"

local ENDPOINT = "https://id.example:443/introspect"
local SECRET = "INTROSPECTION_1_0_0_CLIENT_SECRET"
local GOOD = '{"active":true,"sub":"alice","scope":"read  write","iss":"https://id.example","aud":["x","shop"],' ..
  '"exp":1000.5,"token_type":"Bearer","client_id":"web","cnf":null}'
local INVALID = 'Bearer error="invalid_token"'

local secret = made.key("pst", "prod", ("s"):rep(32))

local function segment(text)
  return (made.base64(text):gsub("+", "-"):gsub("/", "_"):gsub("=", ""))
end

local function jwt_of(payload, head)
  return segment(head or '{"alg":"RS256"}') .. "." .. segment(payload) .. ".c2ln"
end

-- The configuration, with changes to the endpoint.
local function config(changes)
  local endpoint = {
    endpoint = "https://id.example/introspect", method = "client_secret_basic", client_id = "my api", secret = SECRET,
    tenant = "tnt_1", withheld = {
      issuers = { "https://pair.example" }, issuers_below = { "https://login.example/" }, tokens = { "gho_", "ya29." },
    },
  }
  for name, value in pairs(changes or {}) do
    endpoint[name] = value or nil
  end
  local function route(mode, methods, keyless)
    return {
      environment = "prod", mode = mode, methods = methods, keyless = keyless or "reject", introspection = "ver_1",
    }
  end
  return {
    project = "prj_1", key_types = {}, limits = { owner = { hour = 2 } },
    tenants = { tnt_1 = { name = "default", fallback = { owner = "own-fallback", consumer = "uuid-own" } } },
    fallback = { owner = "fallback", consumer = "uuid-fallback" },
    keys = { [made.digest(secret)] = "key_1 tenant=tnt_1 consumer=uuid-ana owner=ana" },
    introspection = { ver_1 = endpoint },
    routes = {
      tokens = route("authenticate", { "opaque" }), either = route("authenticate", { "api_key", "opaque" }),
      both = route("authenticate", { "jwt", "opaque" }), open = route("passthrough", { "opaque" }),
      fallback = route("authenticate", { "api_key", "opaque" }, "owner_fallback"),
      without = { environment = "prod", mode = "authenticate", methods = { "opaque" }, keyless = "reject" },
    },
  }
end

-- A call with a token, answered so by the endpoint.
local function call(text, answer, options)
  options = options or {}
  http.answers[ENDPOINT] = type(answer) == "string" and { body = answer } or answer
  options.lines = options.lines or { { "Authorization", "Bearer " .. text } }
  options.route = options.route or "tokens"
  options.shared = options.shared or { postern_limits = strict.shared() }
  options.variables = options.variables or { [SECRET] = "se/cret" }
  local seen = strict.request(options)
  rawset(ngx, "encode_base64", made.base64)
  rawset(ngx, "decode_base64", made.unbase64)
  handler:access(options.config or config(options.endpoint))
  equal(seen.threads, 0, "threads that are left")
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

local function refused(seen, status, code, challenge, what)
  equal(seen.status, status, (what or "") .. " status")
  equal(seen.body:match('"code":"([^"]+)"'), code, (what or "") .. " code")
  equal(seen.headers["WWW-Authenticate"], challenge, (what or "") .. " challenge")
end

local function asked() return http.asked[ENDPOINT] or 0 end

check("a token names the user, the scopes and the tenant", function()
  local seen = call("opaque", GOOD)
  equal(seen.status, nil, "status")
  equal(value(seen, "X-Authenticated-Userid"), "alice")
  equal(value(seen, "X-Authenticated-Scope"), "read write")
  equal(value(seen, "X-Tenant-ID"), "tnt_1")
  equal(value(seen, "X-Consumer-ID"), nil)
  equal(value(seen, "Authorization"), "Bearer opaque")
end)

check("every call asks", function()
  local before = asked()
  for _ = 1, 3 do
    equal(call("opaque", GOOD).status, nil)
  end
  equal(asked(), before + 3)
end)

check("the question names who asks as HTTP Basic, form-encoded", function()
  call("a+b/c=~", GOOD)
  equal(http.last.method, "POST")
  equal(http.last.body, "token=a%2Bb%2Fc%3D~&token_type_hint=access_token")
  equal(http.last.headers["Authorization"], "Basic " .. made.base64("my+api:se%2Fcret"))
  equal(http.last.headers["Content-Type"], "application/x-www-form-urlencoded")
  equal(http.last.path, "/introspect")
end)

check("the question names who asks in the form", function()
  call("opaque", GOOD, { endpoint = { method = "client_secret_post" } })
  equal(http.last.body, "client_id=my+api&client_secret=se%2Fcret&token=opaque&token_type_hint=access_token")
  equal(http.last.headers["Authorization"], nil)
  call("opaque", GOOD, { endpoint = { method = "client_secret_post", client_id = false, secret = false } })
  equal(http.last.body, "client_id=&token=opaque&token_type_hint=access_token")
end)

check("an endpoint without a client or without a secret", function()
  call("opaque", GOOD, { endpoint = { client_id = false, secret = false } })
  equal(http.last.headers["Authorization"], nil)
  call("opaque", GOOD, { endpoint = { secret = false } })
  equal(http.last.headers["Authorization"], "Basic " .. made.base64("my+api:"))
end)

check("the endpoint is not asked without the value of its secret", function()
  local before = asked()
  for _, variables in ipairs({ {}, { [SECRET] = "" } }) do
    refused(call("opaque", GOOD, { variables = variables }), 503, "provider_unavailable")
  end
  equal(asked(), before)
end)

check("answers that say that the token is not good", function()
  for _, answer in ipairs({
    '{"active":false}', "{}", '{"active":null,"sub":"a"}', '{"Active":true,"sub":"a"}', '{"active":true}',
    '{"active":true,"sub":""}', '{"active":true,"sub":"a\\r\\nX: y"}', '{"active":true,"sub":"a "}',
    '{"active":true,"sub":"a","exp":940}', '{"active":true,"sub":"a","nbf":1060.5}',
    '{"active":true,"sub":"a","token_type":"refresh_token"}', '{"active":true,"sub":"a","token_type":"DPoP"}',
    '{"active":true,"sub":"a","cnf":{"jkt":"x"}}', '{"active":true,"sub":"a","cnf":false}',
    '{"active":true,"sub":"a","scope":"\\u0001"}', '{"active":true,"sub":"a","scope":"\\""}',
  }) do
    refused(call("opaque", answer), 401, "invalid_token", INVALID, answer)
  end
end)

check("answers that say that it is good", function()
  for _, answer in ipairs({
    '{"active":true,"sub":"alice"}', '{"active":true,"sub":"alice","exp":941,"nbf":1060}',
    '{"active":true,"sub":"alice","token_type":"BEARER","exp":null}',
    ' {"active":true,"sub":"alice","x":{"sub":1,"y":{"sub":2}}}',
    '{"active":true,"sub":"alice","token_type":"access_token","aud":"x"}',
  }) do
    local seen = call("opaque", answer)
    equal(seen.status, nil, answer)
    equal(value(seen, "X-Authenticated-Userid"), "alice", answer)
  end
end)

check("answers that say nothing", function()
  for _, answer in ipairs({
    '{"active":"true","sub":"a"}', '{"active":1,"sub":"a"}', '{"active":true,"sub":7}', "true", "null", "", "[]",
    "<html>",
    '{"active":true,"sub":"a"', '{"active":true,"sub":"a"} x', '{"active":false,"exp":"1"}', '{"active":false,"aud":7}',
    '{"active":false,"aud":["a",7]}', '{"active":false,"scope":["a"]}', '{"active":false,"exp":1e999}',
    '{"active":true,"sub":"a","act":[{"sub":"b","sub":"c"}]}', '{"active":true,"sub":"a","x":{"sub":1,"sub":2}}',
    '{"active":true,"sub":"a","sub":"b"}', '{"active":true,"sub":"a","x":["\1"]}', '{"active":true,"sub":"a","x":"\t"}',
    '{"active":true,"sub":"a","x":"' .. ("x"):rep(70000) .. '"}',
    { status = 401, body = GOOD }, { status = 302, body = GOOD, headers = { Location = "https://other.example/" } },
    { status = 204 },
  }) do
    refused(call("opaque", answer), 502, "provider_answer_invalid", nil, tostring(answer):sub(1, 60))
  end
end)

check("endpoints that do not answer", function()
  http.answers[ENDPOINT] = nil
  refused(call("opaque", nil), 503, "provider_unavailable", nil, "closed")
  for _, answer in ipairs({
    { status = 500, body = GOOD }, { status = 503, body = ("x"):rep(70000) }, { status = 429 }, { status = 408 },
    { waits = true }, { body = GOOD, breaks = "closed" }, { body = GOOD, breaks = "timeout", headers = {} },
    { body = GOOD, headers = { ["Content-Length"] = "-5" } },
    { body = GOOD, headers = { ["Content-Length"] = { "3", "4" } } },
    { body = GOOD, breaks = "closed", headers = { ["Transfer-Encoding"] = "chunked" } },
  }) do
    refused(call("opaque", answer), 503, "provider_unavailable")
  end
end)

check("an answer that the end of the connection ends", function()
  local before = http.kept
  equal(call("opaque", { body = GOOD, headers = {}, breaks = "closed" }).status, nil)
  equal(call("opaque", { body = GOOD, headers = { ["Transfer-Encoding"] = "chunked" } }).status, nil)
  equal(http.kept, before + 2, "connections that are handed back")
end)

check("why tokens cannot be judged is logged every 30 seconds, without tokens and secrets", function()
  local lines = {}
  for _, now in ipairs({ 5000, 5010, 5029, 5031 }) do
    for _, line in ipairs(call("canary-token", { status = 500 }, { now = now }).warnings) do
      lines[#lines + 1] = line
    end
  end
  equal(#lines, 2)
  equal(lines[1], "the introspection endpoint https://id.example/introspect cannot check tokens: it returned 500")
end)

check("issuer and audience", function()
  local function as(changes) return call("opaque", GOOD, { endpoint = changes }) end
  equal(as({ issuer = "https://id.example", audience = "shop" }).status, nil)
  refused(as({ issuer = "https://id.example/" }), 401, "invalid_token", INVALID)
  refused(as({ audience = "sho" }), 401, "invalid_token", INVALID)
  refused(as({ tenant = false }), 403, "wrong_tenant")
  refused(as({ tenant = "tnt_gone" }), 403, "wrong_tenant")
end)

check("tokens that are shown to no endpoint", function()
  local before = asked()
  for _, text in ipairs({ "", "a b", "\195\173", ("x"):rep(16385) }) do
    refused(call(text, GOOD), 401, "invalid_token", INVALID)
    refused(call(text, GOOD, { route = "both" }), 401, "invalid_token", INVALID)
  end
  refused(call("opaque", GOOD, { route = "without" }), 401, "invalid_token", INVALID)
  for _, text in ipairs({
    jwt_of('{"iss":"https://pair.example"}'), jwt_of('{"iss":"https://login.example/x"}'), "gho_x", "ya29.x",
    jwt_of("", '{"alg":"RSA-OAEP","iss":"https://pair.example"}') .. ".a.b",
    (jwt_of('{"iss":"https://pair.example","sub":null}'):gsub("%.c2ln$", ".")),
  }) do
    for _, route in ipairs({ "tokens", "both" }) do
      refused(call(text, GOOD, { route = route }), 401, "invalid_token", INVALID, text)
    end
  end
  refused(call("opaque", GOOD, { endpoint = { withheld = { opaque = true } } }), 401, "invalid_token", INVALID)
  equal(asked(), before)
end)

check("tokens that look like those of another issuer, and are shown to the endpoint", function()
  local before = asked()
  local texts = {
    jwt_of('{"iss":"https://id.example"}'), jwt_of('{"iss":"https://pair.example","sub":7}'), jwt_of("[]"),
    jwt_of('{"iss":"https://pair.example","iss":"https://pair.example"}'),
    jwt_of('{"iss":"https://pair.example"}', "{}"), jwt_of('{"iss":"https://pair.example"}') .. ".x", jwt_of("", '{"alg":"dir"}') .. ".a.b", "ghp_x", "a.b.c", "gho",
    ("x"):rep(16384),
  }
  for _, text in ipairs(texts) do
    equal(call(text, GOOD, { route = "both" }).status, nil, text)
  end
  equal(asked(), before + #texts)
end)

check("tokens of the exported realm are not shown to the endpoint", function()
  local before, with = asked(), config()
  with.realm = { issuer = "LOGIN_ISSUER", keys = "LOGIN_KEYS" }
  local options = {
    route = "both", config = with, variables = { [SECRET] = "x", LOGIN_ISSUER = "https://login.mine/realms/x" },
  }
  refused(call(jwt_of('{"iss":"https://login.mine/realms/x"}'), GOOD, options), 401, "invalid_token", INVALID)
  equal(asked(), before)
end)

check("a key with the token", function()
  local lines = { { "Authorization", "Bearer opaque" }, { "X-API-Key", secret } }
  local seen = call("", GOOD, { route = "either", lines = lines })
  equal(value(seen, "X-Consumer-Username"), "ana")
  equal(value(seen, "X-Authenticated-Userid"), "alice")
  equal(value(seen, "X-Authenticated-Scope"), nil)
  refused(call("", '{"active":false}', { route = "either", lines = lines }), 401, "invalid_token", INVALID)
  refused(call("", { status = 500 }, { route = "either", lines = lines }), 503, "provider_unavailable")
  lines[2] = { "X-API-Key", "wrong" }
  refused(call("", GOOD, { route = "either", lines = lines }), 401, "invalid_key", 'Key realm="postern"')
end)

check("calls without a token", function()
  local before = asked()
  refused(call("", GOOD, { lines = {} }), 401, "credentials_required", "Bearer")
  refused(call("", GOOD, { lines = { { "Authorization", "Basic YTpi" } } }), 401, "credentials_required", "Bearer")
  refused(call("", GOOD, { lines = {}, route = "either" }), 401, "credentials_required", 'Key realm="postern", Bearer')
  equal(call("", GOOD, { lines = {}, route = "open" }).status, nil)
  equal(asked(), before)
  refused(call("opaque", '{"active":false}', { route = "open" }), 401, "invalid_token", INVALID)
  local line = { "Authorization", "Bearer opaque" }
  refused(call("", GOOD, { lines = { line, line } }), 401, "invalid_token", INVALID)
end)

check("calls that count for an owner, and for a user", function()
  equal(value(call("opaque", GOOD, { route = "fallback" }), "X-Consumer-Username"), "own-fallback")
  local shared, with = { postern_limits = strict.shared() }, config()
  local function again(answer) return call("opaque", answer, { shared = shared, config = with }) end
  equal(again(GOOD).status, nil)
  equal(again(GOOD).status, nil)
  refused(again(GOOD), 429, "rate_limited")
  equal(again((GOOD:gsub("alice", "bob"))).status, nil)
  equal(again((GOOD:gsub('"iss":"[^"]*",', ""))).status, nil) -- the endpoint is the issuer
end)

check("200 calls wait for one endpoint at a time", function()
  local introspection = require "introspection"
  local endpoint = config().introspection.ver_1
  strict.request({ now = 9000, variables = { [SECRET] = "x" } })
  rawset(ngx, "encode_base64", made.base64)
  rawset(ngx, "decode_base64", made.unbase64)
  local inner, depth, deepest = http.request, 0, nil
  function http:request(options) -- each question is put while the one before waits
    depth = depth + 1
    local token, refusal = introspection.ask("ver_1", endpoint, "opaque")
    if not token then
      deepest = deepest or refusal
    end
    return inner(self, options)
  end
  http.answers[ENDPOINT] = { body = '{"active":true,"sub":"alice"}' }
  equal(introspection.ask("ver_1", endpoint, "opaque").subject, "alice")
  http.request = inner
  equal(depth, 200)
  equal(deepest, "provider_unavailable")
  equal(introspection.ask("ver_1", endpoint, "opaque").subject, "alice", "when they have left")
end)

check("calls that nginx ended do not count for ever", function()
  local introspection = require "introspection"
  local endpoint, spawn = config().introspection.ver_1, nil
  local function at(now)
    strict.request({ now = now, variables = { [SECRET] = "x" } })
    rawset(ngx, "encode_base64", made.base64)
    rawset(ngx, "decode_base64", made.unbase64)
  end
  at(20000)
  spawn = ngx.thread.spawn
  rawset(ngx.thread, "spawn", function() error("the request is over") end)
  for _ = 1, 200 do
    pcall(introspection.ask, "ver_1", endpoint, "opaque")
  end
  rawset(ngx.thread, "spawn", spawn)
  equal(select(2, introspection.ask("ver_1", endpoint, "opaque")), "provider_unavailable")
  at(20007)
  equal(introspection.ask("ver_1", endpoint, "opaque").subject, "alice")
end)

strict.done()
