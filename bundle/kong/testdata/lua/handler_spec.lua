local strict = require "strict"
local check, equal = strict.check, strict.equal
local made = require "made"
local json = require "cjson.safe"

strict.request({}) -- the module must load with nothing but the stand-in
local handler = require "handler"

local key, digest = made.key, made.digest

local secret = ("s"):rep(32)
local good = key("pst", "prod", secret)
local ROUTES = {
  guarded = { environment = "prod", mode = "authenticate", methods = { "api_key" }, keyless = "reject" },
  dev = { environment = "dev", mode = "authenticate", methods = { "api_key" }, keyless = "reject" },
  fallback = { environment = "prod", mode = "authenticate", methods = { "api_key" }, keyless = "owner_fallback" },
  open = { environment = "prod", mode = "passthrough", methods = {}, keyless = "reject" },
  optional = { environment = "prod", mode = "passthrough", methods = { "api_key" }, keyless = "reject" },
  ruled = {
    environment = "prod", mode = "authenticate", methods = { "api_key" }, keyless = "reject",
    ip = { allow = { "198.51.100.0/24" }, deny = { "198.51.100.64/26" } },
  },
  ruledopen = {
    environment = "prod", mode = "passthrough", methods = {}, keyless = "reject",
    ip = { allow = { "198.51.100.0/24" }, deny = { "198.51.100.64/26" } },
  },
  ruledfallback = {
    environment = "prod", mode = "authenticate", methods = { "api_key" }, keyless = "owner_fallback",
    ip = { allow = { "198.51.100.0/24" }, deny = { "198.51.100.64/26" } },
  },
  grouped = {
    environment = "prod", mode = "authenticate", methods = { "api_key" }, keyless = "reject", rules = "ver_1",
  },
  sending = {
    environment = "prod", mode = "authenticate", methods = { "api_key" }, keyless = "owner_fallback",
    send_metadata = true, tag = "env_1",
  },
  closed = { environment = "prod", mode = "authenticate", methods = {}, keyless = "reject" },
}

local ORDER = { "type", "scopes", "env", "until", "limits", "ips" }

local function config(change)
  change = change or {}
  local fields = { type = "kty_1", env = "prod" }
  for name, value in pairs(change) do
    fields[name] = value
  end
  local line = "key_1 tenant=tnt_1"
  for _, name in ipairs(ORDER) do
    if fields[name] and fields[name] ~= "absent" then
      line = line .. " " .. name .. "=" .. fields[name]
    end
  end
  line = change.line or (line .. (change.frozen and " frozen" or "") .. " consumer=uuid-ana owner=ana & co")
  return {
    project = change.project, routes = ROUTES, keys = { [digest(good)] = line },
    tenants = { tnt_1 = { name = "default" } }, limits = change.project_limits,
    key_types = { kty_1 = { name = "full", scopes = { "a", "b:c" } }, kty_2 = { name = "none", scopes = {} } },
    fallback = { owner = "fallback", consumer = "uuid-fallback" },
  }
end

local function call(route, lines, with, options)
  options = options or {}
  options.route, options.lines = route, lines
  local seen = strict.request(options)
  with = with or config()
  handler:access(with)
  handler:header_filter(with)
  return seen
end

local function value(seen, name)
  local found
  for _, line in ipairs(seen.lines) do
    if line[1]:lower() == name:lower() then
      if found then
        error(name .. " is there twice")
      end
      found = line[2]
    end
  end
  return found
end

local function refused(seen, status, code)
  equal(next(seen.answer), nil, "header after the refusal")
  equal(seen.status, status, "status")
  equal(seen.exits, 1, "exits")
  equal(seen.consumer, nil, "consumer")
  equal(seen.body:match('"code":"([a-z_]+)"}$'), code, "code")
  equal(seen.headers["Content-Type"], "application/json", "content type")
  equal(seen.headers["WWW-Authenticate"], status == 401 and 'Key realm="postern"' or nil, "challenge")
end

local function passed(seen)
  equal(seen.status, nil, "status")
end

check("priority and version", function()
  equal(handler.PRIORITY, 1250)
  equal(type(handler.VERSION), "string")
end)

check("an accepted key sets every identity header and goes no further", function()
  local seen = call("guarded", { { "X-API-Key", good }, { "X-Other", "1" } })
  passed(seen)
  equal(value(seen, "X-Consumer-ID"), "uuid-ana")
  equal(value(seen, "X-Consumer-Username"), "ana & co")
  equal(value(seen, "X-Consumer-Custom-ID"), "ana & co")
  equal(value(seen, "X-Credential-Identifier"), "key_1")
  equal(value(seen, "X-Authenticated-Scope"), "a b:c")
  equal(value(seen, "X-Tenant-ID"), "tnt_1")
  equal(value(seen, "X-API-Key"), nil)
  equal(value(seen, "X-Other"), "1")
  equal(seen.consumer.id, "uuid-ana")
  equal(seen.consumer.username, "ana & co")
  equal(seen.credential.id, "key_1")
end)

check("keys of any form are accepted where some were imported", function()
  local function with(imported)
    local out = config()
    out.imported_keys = imported
    out.keys[digest("legacy-0123456789")] = "key_2 tenant=tnt_1 type=kty_1 ascredential=old-7 consumer=u2 owner=bob"
    return out
  end
  refused(call("guarded", { { "X-API-Key", "legacy-0123456789" } }, with(nil)), 401, "invalid_key")
  local seen = call("guarded", { { "X-API-Key", "legacy-0123456789" } }, with(true))
  passed(seen)
  equal(value(seen, "X-Consumer-Username"), "bob")
  equal(value(seen, "X-Credential-Identifier"), "old-7")
end)

check("the metadata of a key goes to the routes that send it, and never a caller's", function()
  local with = config({
    line = "key_1 tenant=tnt_1 asmetadata=%7B%22city%22:%22Z%5Cu00fcrich%22%2C%22p%22:%22%2525%22%7D" ..
      " consumer=uuid-ana owner=ana & co",
  })
  local function sent(route, to, more)
    local lines = { { "X-API-Key", good }, { "X-Consumer-Metadata", "theirs" }, { "x_consumer_metadata", "theirs" } }
    local seen = call(route, more or lines, to)
    passed(seen)
    equal(value(seen, "x_consumer_metadata"), nil)
    return value(seen, "X-Consumer-Metadata")
  end
  equal(sent("sending", with), '{"city":"Z\\u00fcrich","p":"%25"}')
  equal(sent("guarded", with), nil)
  equal(sent("sending", with), '{"city":"Z\\u00fcrich","p":"%25"}')
  equal(sent("sending", config()), nil)
  equal(sent("sending", with, { { "X-Consumer-Metadata", "theirs" } }), nil, "fallback owner")
end)

check("scopes of the key's own come before those of its type", function()
  equal(value(call("guarded", { { "X-API-Key", good } }, config({ scopes = "x,y:z" })), "X-Authenticated-Scope"), "x y:z")
end)

check("no scopes, no header", function()
  for _, change in ipairs({ { type = "kty_2" }, { scopes = "" }, { type = "kty_9" }, { type = "absent" } }) do
    equal(value(call("guarded", { { "X-API-Key", good } }, config(change)), "X-Authenticated-Scope"), nil)
  end
end)

check("no key is asked for one", function()
  refused(call("guarded", {}), 401, "credentials_required")
  refused(call("guarded", { { "Authorization", "Bearer " .. good } }), 401, "credentials_required")
  refused(call("guarded", { { "x_api_key", good } }), 401, "credentials_required")
end)

check("a refusal says what Authorization has", function()
  for line, message in pairs({
    ["Bearer " .. good] = "Authorization contains an API key. Send it in the X-API-Key header.",
    [good] = "Authorization contains an API key. Send it in the X-API-Key header.",
    ["Bearer a.b.c"] = "Authorization contains a token, but this API doesn't accept tokens. " ..
      "Send an API key in the X-API-Key header.",
    ["Bearer"] = "Send an API key in the X-API-Key header.",
    ["Basic YTpi"] = "Send an API key in the X-API-Key header.",
  }) do
    local seen = call("guarded", { { "Authorization", line } })
    refused(seen, 401, "credentials_required")
    equal(seen.body:match('"message":"(.-)"'), message, line)
  end
end)

-- The settings of a route whose keys travel elsewhere, as bundle/kong writes them.
local function elsewhere(places, methods)
  return {
    environment = "prod", mode = "authenticate", methods = methods or { "api_key" }, keyless = "reject",
    api_key = {
      ["in"] = places, challenge = 'Bearer realm="postern"', either_challenge = "both",
      messages = {
        credentials_required = "There.", either_required = "There, or a token.", key_in_authorization = "Misplaced.",
        tokens_not_accepted = "No token.",
      },
    },
  }
end

local function call_elsewhere(places, lines, options, methods)
  local with = config()
  with.routes = { moved = elsewhere(places, methods) }
  return call("moved", lines, with, options)
end

local BEARER = { { header = "Authorization", prefix = "Bearer" } }

check("keys are read where the route says, and removed there", function()
  local moved = call_elsewhere({ { header = "apikey" } }, { { "apikey", good }, { "X-API-Key", "of-the-upstream" } })
  passed(moved)
  equal(value(moved, "X-Consumer-ID"), "uuid-ana")
  equal(value(moved, "apikey"), nil)
  equal(value(moved, "X-API-Key"), "of-the-upstream")

  local bearer = call_elsewhere(BEARER, { { "Authorization", "bearer " .. good } })
  passed(bearer)
  equal(value(bearer, "Authorization"), nil)

  local cookie = call_elsewhere({ { cookie = "session" } }, { { "Cookie", "a=1; session=" .. good } })
  passed(cookie)
  equal(value(cookie, "Cookie"), "a=1")

  local options = { query = "a=%2f&api_key=" .. good .. "&b" }
  local query = call_elsewhere({ { query = "api_key" } }, {}, options)
  passed(query)
  equal(options.query, "a=%2f&b")
end)

check("a key in a place that the route doesn't name is told where it belongs", function()
  local function says(seen, message)
    equal(seen.status, 401)
    equal(seen.body, '{"message":"' .. message .. '","code":"credentials_required"}')
    equal(seen.headers["WWW-Authenticate"], 'Bearer realm="postern"')
  end
  says(call_elsewhere({ { header = "apikey" } }, { { "X-API-Key", good } }), "There.")
  says(call_elsewhere({ { header = "apikey" } }, { { "Authorization", "Bearer " .. good } }), "Misplaced.")
  says(call_elsewhere({ { header = "apikey" } }, { { "Authorization", "Bearer a.b.c" } }), "No token.")
  says(call_elsewhere(BEARER, { { "Authorization", good } }), "Misplaced.")
  says(call_elsewhere(BEARER, { { "Authorization", "Basic x" } }), "There.")
end)

check("two keys are refused, and a foreign Authorization isn't one", function()
  local places = { { header = "apikey" }, { query = "key" }, BEARER[1] }
  local function code(lines, query)
    local seen = call_elsewhere(places, lines, { query = query })
    return seen.body and seen.body:match('"code":"([a-z_]+)"') or "passed", seen
  end
  equal((code({ { "apikey", good } }, "key=" .. good)), "invalid_key")
  equal((code({ { "apikey", good }, { "apikey", good } })), "invalid_key")
  equal((code({ { "apikey", good }, { "Authorization", "Bearer " .. good } })), "invalid_key")
  equal((code({ { "Authorization", "Bearer a.b.c" } })), "invalid_key")
  local answered, seen = code({ { "apikey", good }, { "Authorization", "Bearer a.b.c" } })
  equal(answered, "passed")
  equal(value(seen, "Authorization"), "Bearer a.b.c")
end)

check("where Authorization has keys and tokens, what isn't a key is a token", function()
  local methods = { "api_key", "jwt" }
  local seen = call_elsewhere(BEARER, { { "Authorization", "Bearer " .. good } }, nil, methods)
  passed(seen)
  equal(value(seen, "Authorization"), nil)
  local function code(text)
    return call_elsewhere(BEARER, { { "Authorization", "Bearer " .. text } }, nil, methods).body:match('"code":"([a-z_]+)"')
  end
  equal(code("a.b.c"), "invalid_token")
  equal(code(key("pst", "prod", ("u"):rep(32))), "invalid_key")
  local none = call_elsewhere(BEARER, {}, nil, methods)
  equal(none.body, '{"message":"There, or a token.","code":"credentials_required"}')
  equal(none.headers["WWW-Authenticate"], "both")
end)

-- The table that the hosted gateway is tested with, too: keys of another form in several states.
for line in io.lines("../../../../core/policy/testdata/key_states.jsonl") do
  local row = assert(json.decode(line))
  check(row.name, function()
    local with = config()
    with.imported_keys, with.keys = true, {}
    for name, fields in pairs({ active = "", frozen = " frozen", expired = " until=1", ended = " until=1" }) do
      with.keys[digest("legacy-" .. name .. "-0123456789")] = "key_2 tenant=tnt_1 type=kty_1" .. fields ..
        " consumer=u2 owner=ana"
    end
    with.keys[digest("legacy-revoked-0123456789")] = "revoked"
    with.routes = { moved = elsewhere(row["in"] or { { header = "X-API-Key" } }, row.methods) }
    local function fill(text)
      return (text:gsub("%u%u%u%u+", function(name) return "legacy-" .. name:lower() .. "-0123456789" end))
    end
    local lines = {}
    for _, header in ipairs(row.headers) do
      lines[#lines + 1] = { header[1], fill(header[2]) }
    end
    local seen = call("moved", lines, with)
    equal(seen.body and seen.body:match('"code":"([a-z_]+)"') or "", row.code, "code")
    equal(seen.body ~= nil and seen.body:find("This token", 1, true) ~= nil, row.introspected, "read as a token")
    if row.code == "" then
      equal(value(seen, "Authorization") or "", fill(row.authorization), "Authorization of the upstream")
    end
  end)
end

-- The table that the hosted gateway is tested with, too: what the upstream gets of a key that was imported.
for line in io.lines("../../../../core/policy/testdata/kept_identity.jsonl") do
  local row = assert(json.decode(line))
  check("the identity of an imported key: " .. row.name, function()
    local with = config()
    with.imported_keys = true
    with.keys = {
      [digest("legacy-0123456789")] = "key_2 tenant=tnt_1 type=kty_1" .. row.entry ..
        " consumer=82743729-15f0-5978-98fd-d34ea4e30811 owner=ana",
    }
    local seen = call("guarded", { { "X-API-Key", "legacy-0123456789" }, { "X-Consumer-Custom-ID", "forged" } }, with)
    passed(seen)
    for _, name in ipairs({
      "X-Consumer-ID", "X-Consumer-Username", "X-Consumer-Custom-ID", "X-Credential-Identifier",
    }) do
      equal(value(seen, name), row.headers[name], name)
    end
  end)
end

check("the key isn't forwarded if Authorization repeats it", function()
  local seen = call("guarded", { { "X-API-Key", good }, { "Authorization", "Bearer " .. good } })
  passed(seen)
  equal(value(seen, "Authorization"), nil)
  equal(value(call("guarded", { { "X-API-Key", good }, { "Authorization", "Bearer x" } }), "Authorization"), "Bearer x")
end)

check("the key isn't forwarded if X-API-Key repeats it elsewhere", function()
  local places = { { header = "apikey" } }
  local seen = call_elsewhere(places, { { "apikey", good }, { "X-API-Key", good } })
  passed(seen)
  equal(value(seen, "X-API-Key"), nil)
  equal(value(call_elsewhere(places, { { "apikey", good }, { "X_API_Key", good } }), "X_API_Key"), nil)
  equal(value(call_elsewhere(places, { { "apikey", good }, { "X-API-Key", "x" } }), "X-API-Key"), "x")
end)

check("a browser's WebSocket gets the protocol that it offers", function()
  local places = { { websocket_protocol = true } }
  local entry = "postern.key." .. made.base64(good):gsub("+", "-"):gsub("/", "_"):gsub("=", "")
  local seen = call_elsewhere(places, { { "Sec-WebSocket-Protocol", "postern, " .. entry } }, { status = 101 })
  passed(seen)
  equal(value(seen, "Sec-WebSocket-Protocol"), nil)
  equal(seen.answer["Sec-WebSocket-Protocol"], "postern")
  seen = call_elsewhere(places, { { "Sec-WebSocket-Protocol", "chat, " .. entry } }, { status = 101 })
  passed(seen)
  equal(value(seen, "Sec-WebSocket-Protocol"), "chat")
  equal(seen.answer["Sec-WebSocket-Protocol"], nil)
end)

check("a refusal names the scope that the caller lacks", function()
  local with = config()
  with.rules = { ver_1 = { list = { { methods = { "*" }, path = "/", scopes = { "a", "orders:read" } } } } }
  local seen = call("grouped", { { "X-API-Key", good } }, with)
  refused(seen, 403, "insufficient_scope")
  equal(seen.body:match('"message":"(.-)"'), "This route requires a scope that the caller doesn't have: orders:read.")
end)

check("a key that came twice is refused", function()
  refused(call("guarded", { { "X-API-Key", good }, { "x-api-key", good } }), 401, "invalid_key")
end)

check("malformed keys are refused without a lookup", function()
  local never = config()
  never.keys = setmetatable({}, { __index = function() error("looked up") end })
  local hash = digest(good)
  for _, bad in ipairs({ "", "x", hash, good:sub(1, -2), good .. "0", good:upper(), "PST" .. good:sub(4), good:gsub("prod", "Prod"),
    "p" .. good:sub(4), ("p"):rep(17) .. good:sub(4), good:sub(1, -7) .. "000000", good .. "\0", good .. "\n", "1st" .. good:sub(4),
    key("pst", "prod", ("s"):rep(31)), key("pst", "prod", ("s"):rep(33)), key("p", "prod", secret), key(("p"):rep(17), "prod", secret),
    key("pst", "Prod", secret), key("pst", "", secret), key("pst", "1", secret), key("pst_x", "prod", secret) }) do
    refused(call("guarded", { { "X-API-Key", bad } }, never), 401, "invalid_key")
  end
end)

check("unknown keys are refused", function()
  refused(call("guarded", { { "X-API-Key", key("pst", "prod", ("u"):rep(32)) } }), 401, "invalid_key")
  local empty = config()
  empty.keys = nil
  refused(call("guarded", { { "X-API-Key", good } }, empty), 401, "invalid_key")
end)

check("blanks and tabs around a key do not count", function()
  passed(call("guarded", { { "X-API-Key", "\t " .. good .. " \t" } }))
end)

check("a key for one environment opens no other", function()
  refused(call("dev", { { "X-API-Key", good } }), 401, "invalid_key")
  passed(call("dev", { { "X-API-Key", good } }, config({ env = "absent" })))
end)

check("a key ends by the clock, to the moment", function()
  local ends = config({ ["until"] = "1000.5" })
  passed(call("guarded", { { "X-API-Key", good } }, ends, { now = 1000.499 }))
  refused(call("guarded", { { "X-API-Key", good } }, ends, { now = 1000.5 }), 401, "invalid_key")
end)

check("an owner may look like a field", function()
  local line = "key_1 tenant=tnt_1 env=prod consumer=u owner=x env=dev frozen owner=y"
  local seen = call("guarded", { { "X-API-Key", good } }, config({ line = line }))
  passed(seen)
  equal(value(seen, "X-Consumer-Username"), "x env=dev frozen owner=y")
end)

check("a line that was spoilt by hand opens nothing", function()
  for _, line in ipairs({ "", "key_1", "key_1 tenant=tnt_1 consumer=u", "key_1 tenant=tnt_1 owner=x", "key_1 consumer=u owner=x",
    " owner=x", "key_1 tenant=tnt_1 consumer=u owner=", "key_1 tenant=tnt_1 until=soon consumer=u owner=x",
    "key_1 tenant=tnt_1 limits=hour consumer=u owner=x", "key_1 tenant=tnt_1 limits consumer=u owner=x" }) do
    refused(call("guarded", { { "X-API-Key", good } }, config({ line = line })), 401, "invalid_key")
  end
end)

check("a frozen key is told so, unless it would be refused anyway", function()
  refused(call("guarded", { { "X-API-Key", good } }, config({ frozen = true })), 403, "key_frozen")
  refused(call("guarded", { { "X-API-Key", good } }, config({ frozen = true, ["until"] = "999" })), 401, "invalid_key")
  refused(call("dev", { { "X-API-Key", good } }, config({ frozen = true })), 401, "invalid_key")
end)

check("every call names the project, whatever the caller sends", function()
  local forged = { { "X-Project-ID", "prj_2" }, { "x_project_id", "prj_2" }, { "X-API-Key", good } }
  for _, route in ipairs({ "guarded", "fallback", "open", "optional" }) do
    local seen = call(route, forged, config({ project = "prj_1" }))
    passed(seen)
    equal(value(seen, "X-Project-ID"), "prj_1", route)
    equal(value(seen, "x_project_id"), nil, route)
  end
  local seen = call("fallback", {}, config({ project = "prj_1" }))
  equal(value(seen, "X-Project-ID"), "prj_1")
end)

check("without a key the fallback owner lets in", function()
  local seen = call("fallback", { { "x_api_key", "x" }, { "Authorization", "mine" } })
  passed(seen)
  equal(value(seen, "X-Consumer-ID"), "uuid-fallback")
  equal(value(seen, "X-Consumer-Username"), "fallback")
  equal(value(seen, "X-Credential-Identifier"), nil)
  equal(value(seen, "X-Tenant-ID"), nil)
  equal(value(seen, "x_api_key"), nil)
  equal(value(seen, "Authorization"), "mine")
  equal(seen.consumer.id, "uuid-fallback")
  refused(call("fallback", { { "X-API-Key", "bad" } }), 401, "invalid_key")
end)

check("a fallback without an owner lets no one in", function()
  local without = config()
  without.fallback = nil
  refused(call("fallback", {}, without), 401, "credentials_required")
end)

check("an open route leaves credentials alone", function()
  local seen = call("open", { { "X-API-Key", "upstreams-own" }, { "Authorization", "mine" }, { "X-Consumer-ID", "spoofed" } })
  passed(seen)
  equal(value(seen, "X-API-Key"), "upstreams-own")
  equal(value(seen, "Authorization"), "mine")
  equal(value(seen, "X-Consumer-ID"), nil)
  equal(seen.consumer, nil)
end)

check("an optional key counts when there is one", function()
  local anonymous = call("optional", {})
  passed(anonymous)
  equal(value(anonymous, "X-Consumer-ID"), nil)
  equal(value(call("optional", { { "X-API-Key", good } }), "X-Consumer-ID"), "uuid-ana")
  refused(call("optional", { { "X-API-Key", "bad" } }), 401, "invalid_key")
end)

check("a route that requires credentials and names none is closed", function()
  refused(call("closed", { { "X-API-Key", good } }), 401, "credentials_required")
end)

check("a route that was added by hand requires a key of every environment", function()
  for _, route in ipairs({ "added", nil }) do
    refused(call(route, {}), 401, "credentials_required")
  end
  refused(call("added", { { "X-API-Key", good } }), 401, "invalid_key")
  passed(call("added", { { "X-API-Key", good } }, config({ env = "absent" })))
end)

check("a key of a tenant that is not served is told so, unless it would be refused anyway", function()
  local line = "key_1 tenant=tnt_9 env=prod consumer=u owner=x"
  refused(call("guarded", { { "X-API-Key", good } }, config({ line = line })), 403, "wrong_tenant")
  refused(call("guarded", { { "X-API-Key", good } }, config({ line = (line:gsub("env=prod", "env=prod frozen")) })), 403, "key_frozen")
  refused(call("dev", { { "X-API-Key", good } }, config({ line = line })), 401, "invalid_key")
  refused(call("guarded", { { "X-API-Key", good } }, config({ line = line .. " ips=x" })), 403, "wrong_tenant")
  local none = config()
  none.tenants = nil
  refused(call("guarded", { { "X-API-Key", good } }, none), 403, "wrong_tenant")
end)

check("a key opens from its address ranges only", function()
  local ranged = config({ ips = "192.0.2.0/24,2001:db8::/32" })
  for _, address in ipairs({ "192.0.2.7", "::ffff:192.0.2.7", "2001:db8::1" }) do
    passed(call("guarded", { { "X-API-Key", good } }, ranged, { address = address }))
  end
  for _, address in ipairs({ "192.0.3.7", "2001:db9::1", "unix:" }) do
    refused(call("guarded", { { "X-API-Key", good } }, ranged, { address = address }), 403, "ip_denied")
  end
  for _, spoilt in ipairs({ "", "192.0.2.1", "x" }) do
    refused(call("guarded", { { "X-API-Key", good } }, config({ ips = spoilt })), 403, "ip_denied")
  end
end)

check("a route's rules hold for every caller, after the key", function()
  for _, route in ipairs({ "ruled", "ruledopen", "ruledfallback" }) do
    passed(call(route, { { "X-API-Key", good } }, nil, { address = "198.51.100.1" }))
    refused(call(route, { { "X-API-Key", good } }, nil, { address = "198.51.100.66" }), 403, "ip_denied")
    refused(call(route, { { "X-API-Key", good } }, nil, { address = "192.0.2.1" }), 403, "ip_denied")
  end
  refused(call("ruledfallback", {}, nil, { address = "192.0.2.1" }), 403, "ip_denied")
  refused(call("ruledopen", {}, nil, { address = "192.0.2.1" }), 403, "ip_denied")
  refused(call("ruled", {}, nil, { address = "192.0.2.1" }), 401, "credentials_required")
  refused(call("ruled", { { "X-API-Key", "bad" } }, nil, { address = "192.0.2.1" }), 401, "invalid_key")
end)

check("Kong's acl learns the groups of the owner of a key", function()
  for name, case in pairs({
    members = { { groups = { "ops", "staff" } }, "ops;staff" },
    admins = { { groups = { "ops" }, admin = { "staff" } }, "ops;staff" },
    admin = { { admin = { "staff" } }, "staff" },
  }) do
    local with = config()
    with.members = { ["tnt_1/ana & co"] = case[1] }
    local seen = call("guarded", { { "X-API-Key", good } }, with)
    passed(seen)
    equal(table.concat(seen.shared.authenticated_groups, ";"), case[2], name)
    equal(value(seen, "X-Consumer-Groups"), nil, name)
  end
  equal(call("guarded", { { "X-API-Key", good } }).shared.authenticated_groups, nil)
  local with = config()
  with.members = { ["tnt_1/fallback"] = { groups = { "staff" } } }
  equal(call("fallback", {}, with).shared.authenticated_groups, nil, "a fallback owner")
end)

check("a key gets the groups of its tenant's owner, and not of another tenant's owner with the same name", function()
  for tenant, code in pairs({ tnt_1 = false, tnt_2 = "not_in_group", [""] = "not_in_group" }) do
    local with = config()
    with.rules = { ver_1 = { list = { { methods = { "*" }, path = "/", groups = { "staff" } } } } }
    with.members = { [tenant .. "/ana & co"] = { groups = { "staff" } }, ["tnt_3/ana & co"] = { groups = { "staff" } } }
    local seen = call("grouped", { { "X-API-Key", good } }, with)
    if code then
      refused(seen, 403, code)
      equal(seen.shared.authenticated_groups, nil, tenant)
    else
      passed(seen)
      equal(table.concat(seen.shared.authenticated_groups), "staff", tenant)
    end
  end
end)

local function limited(change, limits)
  change = change or {}
  change.project_limits = limits
  return config(change)
end

check("limits refuse with where the caller stands", function()
  local shared = { postern_limits = strict.shared() }
  local with = limited(nil, { owner = { day = 1 } })
  local first = call("guarded", { { "X-API-Key", good } }, with, { shared = shared })
  passed(first)
  equal(first.answer["RateLimit-Remaining"], "0")
  equal(first.answer["X-RateLimit-Limit-Day"], "1")
  equal(first.answer["Retry-After"], nil)
  equal(first.consumer.id, "uuid-ana")
  local second = call("guarded", { { "X-API-Key", good } }, with, { shared = shared })
  refused(second, 429, "quota_exceeded")
  equal(second.headers["Retry-After"], "85400")
  equal(second.headers["X-RateLimit-Remaining-Day"], "0")
  passed(call("fallback", {}, with, { shared = shared })) -- another owner
  refused(call("fallback", {}, with, { shared = shared }), 429, "quota_exceeded")
  passed(call("open", {}, with, { shared = shared })) -- no owner
  passed(call("open", {}, with, { shared = shared }))
end)

check("an upstream's own headers of these names do not contradict them", function()
  local function told(limits)
    local upstreams = { ["RateLimit-Limit"] = "7", ["X-RateLimit-Remaining-Year"] = "7", ["X-Other"] = "7" }
    return call("open", {}, limited(nil, limits), { shared = { postern_limits = strict.shared() }, answer = upstreams }).answer
  end
  local answer = told({ project = { hour = 5 } })
  equal(answer["RateLimit-Limit"], "5")
  equal(answer["X-RateLimit-Remaining-Year"], nil)
  equal(answer["X-Other"], "7")
  equal(told(nil)["RateLimit-Limit"], "7")
end)

check("a key's own limits come before those of its type, and those before the project's", function()
  local project = { key = { hour = 3 } }
  local function limit_of(change)
    change.project_limits = project
    local with = config(change)
    with.key_types.kty_2.limits = { hour = 2 }
    with.key_types.kty_1.limits = {}
    return call("guarded", { { "X-API-Key", good } }, with, { shared = { postern_limits = strict.shared() } }).answer["RateLimit-Limit"]
  end
  equal(limit_of({ type = "kty_2", limits = "hour:1" }), "1")
  equal(limit_of({ type = "kty_2" }), "2")
  equal(limit_of({ type = "kty_1" }), "3")
  equal(limit_of({ type = "absent" }), "3")
  equal(limit_of({ type = "kty_2", limits = "none" }), nil)
end)

check("keys and addresses are counted apart, the project as a whole", function()
  local shared = { postern_limits = strict.shared() }
  local with = limited(nil, { key = { hour = 1 }, ip = { hour = 2 }, project = { hour = 3 } })
  passed(call("open", {}, with, { shared = shared, address = "192.0.2.1" }))
  passed(call("guarded", { { "X-API-Key", good } }, with, { shared = shared, address = "::ffff:192.0.2.1" }))
  refused(call("open", {}, with, { shared = shared, address = "192.0.2.1" }), 429, "rate_limited")
  refused(call("guarded", { { "X-API-Key", good } }, with, { shared = shared, address = "192.0.2.2" }), 429, "rate_limited")
  passed(call("open", {}, with, { shared = shared, address = "192.0.2.3" }))
  refused(call("open", {}, with, { shared = shared, address = "192.0.2.4" }), 429, "rate_limited")
end)

check("calls that are refused before are not counted", function()
  local shared = { postern_limits = strict.shared() }
  local with = limited(nil, { ip = { hour = 1 }, project = { hour = 1 } })
  for _ = 1, 3 do
    refused(call("guarded", {}, with, { shared = shared }), 401, "credentials_required")
    refused(call("guarded", { { "X-API-Key", "bad" } }, with, { shared = shared }), 401, "invalid_key")
    refused(call("ruledopen", {}, with, { shared = shared }), 403, "ip_denied")
  end
  passed(call("open", {}, with, { shared = shared }))
end)

check("where counters cannot be kept, calls are refused", function()
  local with = limited(nil, { project = { hour = 1 } })
  refused(call("open", {}, with), 503, "limits_unavailable")
  refused(call("open", {}, with, { shared = { postern_limits = strict.shared(0) } }), 503, "limits_unavailable")
  passed(call("open", {}))
end)

local IDENTITY = {
  "X-Consumer-ID", "X-Consumer-Username", "X-Consumer-Custom-ID", "X-Consumer-Groups", "X-Credential-Identifier",
  "X-Credential-Username", "X-Anonymous-Consumer", "X-Authenticated-Scope", "X-Authenticated-Userid", "X-Tenant-ID",
  "X-Project-ID", "X-Consumer-Groups-Truncated", "X-Consumer-Metadata",
}

check("what a caller sends under our names is gone, in any spelling", function()
  for _, route in ipairs({ "open", "optional" }) do
    local lines = {}
    for _, name in ipairs(IDENTITY) do
      for _, spelling in ipairs({ name, name:lower(), name:upper(), (name:gsub("-", "_")), (name:gsub("-", "_", 1)), name }) do
        lines[#lines + 1] = { spelling, "spoofed" }
      end
    end
    lines[#lines + 1] = { "X-Consumer", "1" }
    local seen = call(route, lines)
    equal(#seen.lines, 1, "lines left at " .. route)
    equal(seen.lines[1][1], "X-Consumer")
  end
end)

check("forwarding headers are cleared only where Kong would not overwrite them", function()
  local seen = call("open", { { "X_Real_IP", "1" }, { "X-Forwarded_For", "2" }, { "X-Forwarded-For", "3" }, { "X-Real-IP", "4" } })
  equal(#seen.lines, 2)
  equal(value(seen, "X-Forwarded-For"), "3")
  equal(value(seen, "X-Real-IP"), "4")
end)

check("Connection cannot name identity headers away", function()
  local seen = call("guarded", { { "X-API-Key", good }, { "Connection", "close, X-Consumer-ID, x_tenant_id, X-Mine" } })
  passed(seen)
  equal(seen.ctx.cached_request_headers["connection"], "close, X-Mine")
  local several = call("guarded", { { "X-API-Key", good }, { "Connection", "close" }, { "Connection", "x-consumer-username" } })
  equal(several.ctx.cached_request_headers["connection"], "close")
  local plain = call("guarded", { { "X-API-Key", good }, { "Connection", "X-Mine" } })
  equal(plain.ctx.cached_request_headers["connection"], "X-Mine")
end)

check("where Kong keeps no such copy, such a call is refused", function()
  refused(call("guarded", { { "X-API-Key", good }, { "Connection", "X-Consumer-ID" } }, nil, { ctx = {} }), 400, "malformed_connection")
end)

check("more headers than Kong can show are refused", function()
  local lines = {}
  for i = 1, 999 do
    lines[i] = { "X-Many-" .. i, "1" }
  end
  passed(call("open", lines))
  for i = 1000, 1200 do
    lines[i] = { "X-Many", "1" }
  end
  lines[1201] = { "x_consumer_id", "spoofed" }
  refused(call("open", lines), 431, "too_many_headers")
end)

check("a call with Pragma alone gets Cache-Control", function()
  equal(value(call("open", { { "Pragma", "no-cache" }, { "pragma", "x" } }), "Cache-Control"), "no-cache")
  equal(value(call("open", { { "Pragma", "x" }, { "Pragma", "no-cache" } }), "Cache-Control"), nil)
  equal(value(call("open", { { "Pragma", "no-cache" }, { "Cache-Control", "" } }), "Cache-Control"), "")
  equal(value(call("open", { { "Pragma", "no-cache" } }, nil, { http_version = 2 }), "Cache-Control"), nil)
end)

check("an interim answer of an upstream becomes a 502, and nginx ends the connection", function()
  for _, status in ipairs({ 100, 102, 103, 199 }) do
    local seen = call("open", {}, nil, { status = status })
    equal(seen.ended, 501)
    equal(seen.exits, 0)
    _G.ngx.status = seen.ended
    handler:header_filter(config())
    equal(seen.status, 502)
    equal(seen.body, [[{"message":"The upstream can't be reached.","code":"upstream_unreachable"}]])
  end
  for _, status in ipairs({ 101, 501 }) do
    local seen = call("open", {}, nil, { status = status })
    passed(seen)
    equal(seen.ended, nil)
  end
end)

check("the key of a frozen user is told so, after what is wrong with the key itself", function()
  local line = "key_1 tenant=tnt_1 env=prod user_frozen consumer=u owner=usr_1"
  local function with(change)
    return config({ line = change and line:gsub(change[1], change[2]) or line })
  end
  refused(call("guarded", { { "X-API-Key", good } }, with()), 403, "user_frozen")
  local restricted = with({ "user_frozen", "user_frozen ips=192.0.2.9/32" })
  refused(call("guarded", { { "X-API-Key", good } }, restricted), 403, "user_frozen")
  refused(call("guarded", { { "X-API-Key", good } }, with({ "user_frozen", "frozen user_frozen" })), 403, "key_frozen")
  refused(call("guarded", { { "X-API-Key", good } }, with({ "tnt_1", "tnt_9" })), 403, "wrong_tenant")
  refused(call("dev", { { "X-API-Key", good } }, with()), 401, "invalid_key")
end)

check("a path that hides a dot segment is refused before the key is looked at", function()
  for _, path in ipairs({ "/1.0.0/prod/..%2fdev", "/1.0.0/prod/..;/dev", "/1.0.0/prod/%252e%252e/dev" }) do
    refused(call("guarded", {}, nil, { path = path }), 400, "bad_path")
    refused(call("open", {}, nil, { path = path }), 400, "bad_path")
  end
  passed(call("guarded", { { "X-API-Key", good } }, nil, { path = "/1.0.0/prod/a%2Fb" }))
  passed(call("guarded", { { "X-API-Key", good } }, nil, { path = "/1.0.0/prod/%2e%2e/x", normalized = "/1.0.0/x" }))
end)

check("Kong finds nothing of ours in a configuration to walk through on each call", function()
  local with = config()
  with.route_id, with.__key__ = "kong's own", "kong's too"
  handler:configure({ with })
  for field in pairs(with) do
    equal(field == "route_id" or field == "__key__", true, field .. " is Kong's")
  end
  for _ = 1, 2 do
    passed(call("guarded", { { "X-API-Key", good } }, with))
    handler:configure({ with })
  end
  local keyless = { keys = {}, tenants = { tnt_1 = {} }, routes = ROUTES }
  refused(call("guarded", { { "X-API-Key", good } }, keyless), 401, "invalid_key")
  handler:configure(nil)
end)

check("a configuration that was replaced is let go", function()
  local watched = setmetatable({}, { __mode = "k" })
  do
    local with = config()
    watched[with] = true
    passed(call("guarded", { { "X-API-Key", good } }, with))
  end
  strict.request({})
  for _ = 1, 4 do
    collectgarbage()
  end
  equal(next(watched), nil)
end)

strict.done()
