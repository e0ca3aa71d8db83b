local strict = require "strict"
local check, equal = strict.check, strict.equal
local http = require "resty.http"
local made = require "made"

strict.request({})
local handler = require "handler"
local objects = require "objects"

local URL, ID = "http://openfga.example:8080", "01JZZZZZZZZZZZZZZZZZZZZZZZ"
local STORES = URL .. "/stores?page_size=2&name=shop.7"
local CHECK, WRITE, READ = URL .. "/stores/" .. ID .. "/check", URL .. "/stores/" .. ID .. "/write",
  URL .. "/stores/" .. ID .. "/read"
local FOUND = '{"stores":[{"id":"' .. ID .. '","name":"shop.7"}],"continuation_token":""}'

local secret = made.key("pst", "prod", ("s"):rep(32))

local function config()
  return {
    project = "prj_1", key_types = { kty_1 = { name = "full", scopes = { "*" } } },
    tenants = { tnt_1 = { name = "default" } },
    keys = { [made.digest(secret)] = "key_1 tenant=tnt_1 type=kty_1 consumer=uuid-ana owner=ana & co" },
    openfga = { url = "OPENFGA_URL", store = "OPENFGA_STORE", token = "OPENFGA_TOKEN", name = "shop.7" },
    rules = { ver_1 = { deny = false, read_write = false, list = {
      { id = "rul_1", methods = { "GET" }, path = "/orders/{id}", owner = "order:{id}" },
      { id = "rul_2", methods = { "POST" }, path = "/orders", remember = "order:{response.data.0.id}" },
      { id = "rul_3", methods = { "DELETE" }, path = "/orders/{id}", owner = "order:{id}", forget = "order:{id}" },
      { id = "rul_4", methods = { "PUT" }, path = "/orders/{id}", remember = "order:{id}" },
    } } },
    routes = {
      guarded = {
        environment = "prod", mode = "authenticate", methods = { "api_key" }, keyless = "reject", rules = "ver_1",
        prefix = "/p",
      },
      open = {
        environment = "prod", mode = "passthrough", methods = { "api_key" }, keyless = "reject", rules = "ver_1",
        prefix = "/p",
      },
    },
  }
end

-- A call whose questions are answered so, by address. Its configuration is another one each
-- time, unless it is given.
local function call(method, path, answers, options)
  options = options or {}
  http.answers, http.asked, http.last = {}, {}, nil
  for address, answer in pairs(answers or {}) do
    http.answers[address] = type(answer) == "string" and { body = answer } or answer
  end
  options.method, options.path, options.route = method, "/p" .. path, options.route or "guarded"
  options.lines = options.lines or { { "X-API-Key", secret } }
  options.variables = options.variables or { OPENFGA_URL = URL .. "/" }
  local seen = strict.request(options)
  handler:access(options.config or config())
  equal(seen.threads, 0, "threads that are left")
  return seen
end

-- The rest of a call that was let through.
local function answer(status, ...)
  rawset(ngx, "status", status)
  rawset(ngx, "header", { ["Content-Type"] = "application/json; charset=utf-8" })
  handler:header_filter(config())
  for _, piece in ipairs({ ... }) do
    rawset(ngx, "arg", { piece, false })
    handler:body_filter()
  end
  rawset(ngx, "arg", { "", true })
  handler:body_filter()
  handler:log()
end

local function refused(seen, status, code, what)
  equal(seen.status, status, (what or "") .. " status")
  equal(seen.body:match('"code":"([^"]+)"'), code, (what or "") .. " code")
end

check("only the owner is let through", function()
  local seen = call("GET", "/orders/a%2Cb", { [STORES] = FOUND, [CHECK] = '{"allowed":true,"resolution":""}' })
  equal(seen.status, nil)
  equal(http.last.body, '{"consistency":"HIGHER_CONSISTENCY","tuple_key":{"object":"object:tnt_1.order%3Aa%2Cb",' ..
    '"relation":"owner","user":"user:ana%20%26%20co"}}')
  equal(http.last.headers["Authorization"], nil)
  refused(call("GET", "/orders/1", { [STORES] = FOUND, [CHECK] = '{"allowed":false}' }), 403, "not_owner")
end)

check("without a server no one owns anything", function()
  for _, url in ipairs({ "", "absent" }) do
    local seen = call("GET", "/orders/1", {}, { variables = url == "" and { OPENFGA_URL = "" } or {} })
    refused(seen, 403, "not_owner")
    equal(next(http.asked), nil, "asked")
  end
  local with = config()
  with.openfga = nil
  refused(call("GET", "/orders/1", {}, { config = with }), 403, "not_owner")
end)

check("callers without a credential own nothing, and are not asked about", function()
  refused(call("GET", "/orders/1", { [STORES] = FOUND, [CHECK] = '{"allowed":true}' }, { route = "open", lines = {} }),
    403, "not_owner")
  equal(next(http.asked), nil, "asked")
end)

check("what needs no owner asks nothing", function()
  equal(call("GET", "/other").status, nil)
  equal(next(http.asked), nil, "asked")
end)

check("the store is looked up once, and again when it is another one", function()
  local with = config()
  local good = { [STORES] = FOUND, [CHECK] = '{"allowed":true}' }
  equal(call("GET", "/orders/1", good, { config = with }).status, nil)
  equal(http.asked[STORES], 1)
  equal(call("GET", "/orders/1", good, { config = with }).status, nil)
  equal(http.asked[STORES], nil)
  refused(call("GET", "/orders/1", { [STORES] = FOUND, [CHECK] = { status = 404, body = "{}" } }, { config = with }), 503,
    "ownership_unavailable")
  equal(http.asked[STORES], 1)
end)

check("a store may be named by a setting, and a token sent", function()
  local named = URL .. "/stores?page_size=2&name=mine"
  local with = { OPENFGA_URL = URL, OPENFGA_STORE = "mine", OPENFGA_TOKEN = "se-cret" }
  equal(call("GET", "/orders/1", { [named] = FOUND, [CHECK] = '{"allowed":true}' }, { variables = with }).status, nil)
  equal(http.last.headers["Authorization"], "Bearer se-cret")
  with.OPENFGA_STORE = ID
  equal(call("GET", "/orders/1", { [CHECK] = '{"allowed":true}' }, { variables = with }).status, nil)
  equal(http.asked[named], nil)
end)

check("where it cannot be said, calls are refused, with a line in the log", function()
  for what, answers in pairs({
    ["no server"] = {},
    ["no store"] = { [STORES] = '{"stores":[]}' },
    ["several stores"] = { [STORES] = '{"stores":[{"id":"A"},{"id":"B"}]}' },
    ["an error"] = { [STORES] = FOUND, [CHECK] = { status = 500, body = "{}" } },
    ["no JSON"] = { [STORES] = FOUND, [CHECK] = "allowed" },
    ["no verdict"] = { [STORES] = FOUND, [CHECK] = "{}" },
    ["no boolean"] = { [STORES] = FOUND, [CHECK] = '{"allowed":"true"}' },
    ["no answer"] = { [STORES] = FOUND, [CHECK] = { waits = true } },
    ["a long answer"] = { [STORES] = FOUND, [CHECK] = (" "):rep(70000) },
  }) do
    local seen = call("GET", "/orders/1", answers)
    refused(seen, 503, "ownership_unavailable", what)
    assert(seen.warnings[1] and seen.warnings[1]:find(URL, 1, true), what .. " is not logged")
  end
end)

check("an answer with 2xx makes the caller an owner", function()
  local writes = { [STORES] = FOUND, [WRITE] = "{}" }
  equal(call("POST", "/orders", writes).status, nil)
  answer(201, '{"data":[{"i', 'd":"a/b 1"}]}')
  equal(http.last.body, '{"writes":{"on_duplicate":"ignore","tuple_keys":[{' ..
    '"object":"object:tnt_1.order%3Aa%252Fb%25201","relation":"owner","user":"user:ana%20%26%20co"}]}}')
  equal(call("POST", "/orders", writes).status, nil)
  answer(200, '{"data":[{"id":9007199254740991}]}')
  assert(http.last.body:find("order%%3A9007199254740991"), http.last.body)
  for text, object in pairs({ ["9223372036854775807"] = "9223372036854775807", ["-7"] = "-7", ['"1e3"'] = "1e3" }) do
    equal(call("POST", "/orders", writes).status, nil)
    answer(200, '{"a\\"1":[1.5,"\\\\"],"data":[{"id":' .. text .. "}]}")
    assert(http.last.body:find("order%3A" .. object, 1, true), http.last.body)
  end
  for _, text in ipairs({ "1e3", "1000.0", "10E2" }) do
    call("POST", "/orders", writes)
    answer(200, '{"data":[{"id":' .. text .. "}]}")
    equal(http.asked[WRITE], nil, text)
  end
  equal(call("PUT", "/orders/7", writes).status, nil)
  answer(200, "{}")
  assert(http.last.body:find("order%%3A7"), http.last.body)
end)

check("an answer that is only nearly JSON names nothing", function()
  for _, text in ipairs({ "7", "-7", "0", "10", "0.5", "1.5e3", "1E-2", "true", "false", "null", '"a\\"007"' }) do
    call("POST", "/orders", { [STORES] = FOUND, [WRITE] = "{}" })
    answer(201, '{"data":[{"id":"x", "n":' .. text .. '}]}')
    assert(http.asked[WRITE] == 1, text .. " is JSON")
  end
  for _, text in ipairs({ "007", "-01", "00", "0x10", "1.", "1.e3", ".5", "1e", "nan", "inf", "Infinity", '"\1"' }) do
    call("POST", "/orders", { [STORES] = FOUND, [WRITE] = "{}" })
    answer(201, '{"data":[{"id":"x", "n":' .. text .. '}]}')
    equal(http.asked[WRITE], nil, text)
  end
end)

check("an object from the path is recorded whatever the answer has", function()
  for _, head in ipairs({ {}, { ["Content-Type"] = "text/html" }, { ["Content-Encoding"] = "br" } }) do
    equal(call("PUT", "/orders/8", { [STORES] = FOUND, [WRITE] = "{}" }).status, nil)
    rawset(ngx, "status", 204)
    rawset(ngx, "header", head)
    handler:header_filter(config())
    rawset(ngx, "arg", { "", true })
    handler:body_filter()
    handler:log()
    equal(http.asked[WRITE], 1)
    assert(http.last.body:find("order%%3A8"), http.last.body)
  end
end)

check("an answer with 2xx ends the relations of an object", function()
  local owners = '{"tuples":[{"key":{"user":"user:a","relation":"owner","object":"object:x"},"timestamp":""}]}'
  local answers = { [STORES] = FOUND, [CHECK] = '{"allowed":true}', [READ] = { status = 200, body = owners } }
  answers[WRITE] = { status = 200, body = "{}" }
  equal(call("DELETE", "/orders/1", answers).status, nil)
  local request = http.request
  http.request = function(self, options)
    if options.path:find("/write$") then
      answers[READ].body = '{"tuples":[]}'
    end
    return request(self, options)
  end
  answer(204)
  http.request = request
  equal(http.asked[READ], 2)
  equal(http.asked[WRITE], 1)
end)

check("an answer that is not read as JSON names nothing", function()
  for problem, head in pairs({
    ["not that of JSON"] = { ["Content-Type"] = "text/html" },
    ["not with gzip"] = { ["Content-Type"] = "application/json", ["Content-Encoding"] = { "gzip", "br" } },
  }) do
    local seen = call("POST", "/orders", { [STORES] = FOUND, [WRITE] = "{}" })
    rawset(ngx, "status", 200)
    rawset(ngx, "header", head)
    handler:header_filter(config())
    rawset(ngx, "arg", { '{"data":[{"id":"1"}]}', true })
    handler:body_filter()
    handler:log()
    equal(http.asked[WRITE], nil, problem)
    assert(seen.warnings[1]:find(problem, 1, true), seen.warnings[1])
  end
end)

check("no other answer does", function()
  for _, case in ipairs({
    { 404, '{"data":[{"id":"1"}]}' }, { 200, "no JSON", "is not JSON" }, { 200, '{"data":[]}', "does not name it" },
    { 200, '{"data":[{"id":{}}]}', "does not name it" }, { 200, '{"data":[{"id":1.5}]}', "does not name it" },
    { 200, '{"data":[{"id":""}]}', "does not name it" }, { 200, "", "is not JSON" }, { 200, (" "):rep(1100000), "more than" },
    { 200, '"data"', "is not JSON" },
  }) do
    local seen = call("POST", "/orders", { [STORES] = FOUND, [WRITE] = "{}" })
    equal(seen.status, nil)
    answer(case[1], case[2])
    equal(http.asked[WRITE], nil, case[2])
    local logged = seen.warnings[1]
    equal(logged ~= nil, case[3] ~= nil, case[2] .. " logged")
    assert(not logged or (logged:find(case[3], 1, true) and logged:find("rul_2", 1, true)), logged)
  end
end)

check("what is refused is not followed", function()
  call("DELETE", "/orders/1", { [STORES] = FOUND, [CHECK] = '{"allowed":false}', [READ] = '{"tuples":[]}' })
  answer(403, "")
  equal(http.asked[READ], nil)
end)

check("a failed write is tried again, and logged in the end", function()
  local seen = call("POST", "/orders", { [STORES] = FOUND, [WRITE] = { status = 500, body = "{}" } })
  answer(201, '{"data":[{"id":"1"}]}')
  equal(http.asked[WRITE], 5)
  assert(seen.warnings[1]:find("the owner of order:1 was not recorded", 1, true), seen.warnings[1])
end)

check("names at OpenFGA", function()
  for line in io.lines("../../../openfga/testdata/names.txt") do
    local tenant, object, name = line:match("^(%S+) (%S+) (%S+)$")
    if tenant == "user" then
      equal(objects.user(object), name, object)
    elseif tenant then
      equal(objects.name(tenant, object), name, object)
    end
  end
end)

strict.done()
