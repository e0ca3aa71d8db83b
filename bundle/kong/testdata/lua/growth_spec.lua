-- What a call costs grows with its length, not with the square of it: everything here runs before a caller is known.
local stepwise = require "stepwise"
local library = { match = string.match, find = string.find, gsub = string.gsub }
stepwise.install()

local strict = require "strict"
local check, equal = strict.check, strict.equal
local made = require "made"

strict.request({})
local handler = require "handler"
local headers = require "headers"
local ownership = require "ownership"
local transforms = require "transforms"
local jwt = require "jwt"

-- A pass of a pattern over a text takes some 40 instructions a byte here, and a line sees at most 30 passes.
local MOST = 1200

local UNITS = { " ", "\t ", "a", "a ", " a", ",", ", ", "a, ", "_", "a_", "a_a_", ".", "a.", ":", "1.", "%", "%25", "%2",
  ";", "/", "\\", "=", "a=&", "&", "-", '"', '\\"', "Bearer ", "\224", "\226\128\128" }
local HEADS = { "x", "Bearer", "Bearer a" }
local PLACES = { { "authorization" }, { "x-api-key" }, { "connection" }, { "host", "content-type", "x-unknown" } }

local function route(methods)
  return { environment = "prod", mode = "authenticate", methods = methods, keyless = "reject", rules = "ver_1",
    transforms = "env_1", body_limit = 1000 }
end

local function config()
  return {
    project = "prj_1", keys = {}, tenants = {}, limits = {},
    rules = { ver_1 = { deny = true, list = { { methods = { "*" }, path = "/a/{id}", scopes = {} } } } },
    transforms = { env_1 = { request = { rename = { "a:b" } }, query = { rename = { "a:b" } } } },
    routes = {
      keys = route({ "api_key" }), either = route({ "api_key", "jwt" }),
      open = { environment = "prod", mode = "passthrough", methods = {}, keyless = "reject", rules = "ver_1",
        transforms = "env_1" },
    },
  }
end

local function call(name, lines, path, query)
  strict.request({ route = name, lines = lines, path = path, query = query,
    shared = { postern_limits = strict.shared() } })
  rawset(ngx, "encode_base64", made.base64)
  rawset(ngx, "decode_base64", made.unbase64)
  handler:rewrite()
  handler:access(config())
end

local function grows_evenly(length, body, what)
  local taken, problem = stepwise.count(MOST * length, body)
  if not taken then
    error(what .. ": " .. tostring(problem), 0)
  end
end

-- The lines of a length in each shape, and what to call them.
local function shapes(length)
  local at, count = 0, #UNITS * #HEADS
  return function()
    at = at + 1
    if at > count then
      return nil
    end
    local unit, head = UNITS[(at - 1) % #UNITS + 1], HEADS[math.floor((at - 1) / #UNITS) + 1]
    local text = head .. unit:rep(math.floor((length - #head - 1) / #unit)) .. "x"
    return text, ("%q and then %q"):format(head, unit)
  end
end

check("the stepwise patterns match as the library's do", function()
  for _, case in ipairs({
    { " a b ", "^[ \t]*(.-)[ \t]*$" }, { "a b  ", "([^ \t]*)[ \t]*$" }, { "", "([^ \t]*)[ \t]*$" },
    { "pst_prod_0aZ", "^([a-z][a-z0-9]+)_([a-z][a-z0-9-]*)_([0-9A-Za-z]+)$" },
    { "a.b.c", "^([^.]+)%.([^.]+)%.([^.]+)$" },
    { "a.b", "^([^.]+)%.([^.]+)%.([^.]+)$" }, { "x]y", "[]]" }, { "1e-5", "^[eE]?(%d)[+-]?" }, { "aXb", "%u" },
    { "-12", "-?%d[%d.eE+-]*" }, { "a:b:c", "^(.-):(.*)$" },
  }) do
    local want = { library.match(case[1], case[2]) }
    local got = { stepwise.match(case[1], case[2]) }
    equal(#got, #want, case[2])
    for i, one in ipairs(want) do
      equal(got[i], one, case[2])
    end
    equal(stepwise.find(case[1], case[2]), library.find(case[1], case[2]), "find " .. case[2])
    local function mark(text) return "<" .. text .. ">" end
    equal(stepwise.gsub(case[1], case[2], mark), library.gsub(case[1], case[2], mark), "gsub " .. case[2])
  end
  local parts = {}
  for part in stepwise.gmatch("a,,b", "([^,]*)") do
    parts[#parts + 1] = part
  end
  local want = {}
  for part in ("a,,b"):gmatch("([^,]*)") do
    want[#want + 1] = part
  end
  equal(table.concat(parts, "|"), table.concat(want, "|"))
end)

check("a pattern that looks for the end from every blank takes too many instructions", function()
  local text = ("a"):rep(64) .. (" "):rep(8000) .. "x"
  equal(stepwise.count(MOST * #text, function() return text:match("^[ \t]*(.-)[ \t]*$") end), false)
  equal(stepwise.count(MOST * #text, function() return text:match("([^ \t]*)[ \t]*$") end), false)
end)

for _, name in ipairs({ "keys", "either" }) do
  check("calls to a route of " .. name .. " with lines in any shape", function()
    for text, what in shapes(2048) do
      for _, place in ipairs(PLACES) do
        local lines = {}
        for i, header in ipairs(place) do
          lines[i] = { header, text }
        end
        grows_evenly(#lines * #text, function() call(name, lines, "/a/b", "") end, place[1] .. " of " .. what)
      end
    end
  end)
end

check("paths and queries in any shape", function()
  for text, what in shapes(2048) do
    grows_evenly(#text, function() call("open", {}, "/" .. text, "") end, "path of " .. what)
    grows_evenly(#text, function() call("open", {}, "/a/b", text) end, "query of " .. what)
  end
end)

check("several Connection lines, and several of Authorization", function()
  for text, what in shapes(1024) do
    local lines = {
      { "Connection", text }, { "Connection", text }, { "Authorization", text }, { "Authorization", text },
    }
    grows_evenly(4 * #text, function() call("either", lines, "/a/b", "") end, what)
  end
end)

for _, length in ipairs({ 8192, 65536 }) do
  check("lines of " .. length .. " bytes in the shapes that matter at their ends", function()
    for _, text in ipairs({ ("a"):rep(length - 2) .. "\255\t", "x" .. (" "):rep(length - 2) .. "x", (" "):rep(length),
      "Bearer" .. (" "):rep(length - 7) .. "x", ("a "):rep(length / 2), "Bearer " .. ("_"):rep(length - 7) }) do
      for _, place in ipairs({ "authorization", "x-api-key", "connection" }) do
        grows_evenly(length, function() call("either", { { place, text } }, "/a/b", "") end, place)
        grows_evenly(length, function() call("keys", { { place, text } }, "/a/b", "") end, place)
      end
    end
  end)
end

check("queries, names and tokens by themselves", function()
  local ops = transforms.store({ e = { query = { rename = { "a:b" } }, request = { rename = { "a:b" } } } }).e
  for text, what in shapes(2048) do
    grows_evenly(#text, function() return transforms.query(ops.query, text) end, "query of " .. what)
    grows_evenly(#text, function() transforms.request(ops, text) end, "Connection of " .. what)
    grows_evenly(#text, function() return jwt.parse(text), jwt.issuer_of(text) end, "token of " .. what)
    grows_evenly(#text, function() return headers.fate(text) end, "name of " .. what)
    strict.request({ head = { ["Content-Type"] = text } })
    local tracked = { rule = { remembered = { reads = true } } }
    grows_evenly(#text, function() ownership.answered(tracked) end, "Content-Type of " .. what)
  end
end)

check("trimmed and last_word return what the patterns returned", function()
  local bytes = { " ", "\t", "a", "_", "" }
  local function each(text, left)
    equal(headers.trimmed(text), library.match(text, "^[ \t]*(.-)[ \t]*$"), "trimmed " .. text)
    equal(headers.trimmed(text, headers.SPACE), library.match(text, "^%s*(.-)%s*$"), "trimmed of space " .. text)
    equal(headers.last_word(text, 128), library.match(text, "([^ \t]*)[ \t]*$"), "last word of " .. text)
    for _, one in ipairs(left > 0 and bytes or {}) do
      each(text .. one, left - 1)
    end
  end
  each("", 5)
  equal(headers.trimmed(" \v\fa\r\n", headers.SPACE), "a")
  equal(headers.trimmed("\va "), "\va")
  equal(headers.last_word("Bearer " .. ("a"):rep(128), 128), ("a"):rep(128))
  equal(headers.last_word("Bearer " .. ("a"):rep(129), 128), "")
end)

strict.done()
