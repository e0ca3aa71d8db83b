local strict = require "strict"
local check, equal = strict.check, strict.equal

strict.request({}) -- the module must load with nothing but the stand-in
local handler = require "handler"

local function config()
  return {
    routes = {
      proven = {
        environment = "prod", mode = "passthrough", methods = {}, keyless = "reject",
        upstream = { ["X-Upstream-Token"] = "UPSTREAM_1_PROD_X_UPSTREAM_TOKEN" },
      },
      keyed = {
        environment = "prod", mode = "authenticate", methods = { "api_key" }, keyless = "reject",
        upstream = { ["X-Api-Key"] = "UPSTREAM_1_PROD_X_API_KEY" },
      },
      named = { environment = "dev", mode = "passthrough", methods = {}, keyless = "reject", host = "api.internal" },
      plain = { environment = "dev", mode = "passthrough", methods = {}, keyless = "reject" },
    },
    keys = {}, tenants = {}, key_types = {},
  }
end

local VARIABLES = { UPSTREAM_1_PROD_X_UPSTREAM_TOKEN = "s3cret", UPSTREAM_1_PROD_X_API_KEY = "other" }

local function call(route, lines, variables)
  local seen = strict.request({ route = route, lines = lines, variables = variables or VARIABLES })
  handler:access(config())
  return seen
end

local function values(seen, name)
  local out = {}
  for _, line in ipairs(seen.lines) do
    if line[1]:lower() == name then
      out[#out + 1] = line[2]
    end
  end
  return table.concat(out, "|")
end

check("a route's header reaches the upstream", function()
  equal(values(call("proven", {}), "x-upstream-token"), "s3cret")
end)

check("what callers send under its name is removed in every spelling", function()
  local seen = call("proven", {
    { "X-Upstream-Token", "forged" }, { "x_upstream_TOKEN", "forged" }, { "X-Other", "kept" },
  })
  equal(values(seen, "x-upstream-token"), "s3cret")
  equal(values(seen, "x_upstream_token"), "")
  equal(values(seen, "x-other"), "kept")
end)

check("Connection cannot take it away", function()
  local seen = call("proven", { { "Connection", "X-Upstream-Token, X-Other" } })
  equal(seen.ctx.cached_request_headers.connection, "X-Other")
end)

check("a route sets the Host of calls to the upstream", function()
  equal(values(call("named", {}), "host"), "api.internal")
  equal(values(call("plain", { { "Host", "own.example" } }), "host"), "own.example")
end)

check("other routes leave the name to callers", function()
  equal(values(call("plain", { { "X-Upstream-Token", "mine" } }), "x-upstream-token"), "mine")
end)

for what, value in pairs({ ["an empty"] = "", ["no"] = false }) do
  check("with " .. what .. " value calls are refused", function()
    local seen = call("proven", {}, { UPSTREAM_1_PROD_X_UPSTREAM_TOKEN = value or nil })
    equal(seen.status, 503)
    equal(seen.body:match('"code":"([^"]+)"'), "upstream_credentials_missing")
    equal(values(seen, "x-upstream-token"), "")
  end)
end

-- A call to a service with a client certificate, whose key is the text.
local function presenting(key, settings)
  local seen = strict.request({
    route = "plain", lines = {}, service = { client_certificate = { id = "one" } },
    certificates = key and { one = { cert = "certificate of a", key = key } },
  })
  handler:access(settings or config())
  return seen
end

check("a service's client certificate is presented with its own key", function()
  equal(presenting("private a").status, nil)
end)

for what, key in pairs({
  ["an empty key"] = "", ["a key that is none"] = "no key", ["another certificate's key"] = "private b",
  ["no certificate"] = false,
}) do
  check("with " .. what .. " calls are refused", function()
    local seen = presenting(key)
    equal(seen.status, 503)
    equal(seen.body:match('"code":"([^"]+)"'), "upstream_credentials_missing")
  end)
end

check("a key that fits is looked at once, and one that does not each time", function()
  local settings = config()
  equal(presenting("private b", settings).selected, 1)
  equal(presenting("private a", settings).selected, 1)
  equal(presenting("private a", settings).selected, 0)
end)

check("a caller without a key is not told that a value is missing", function()
  equal(call("keyed", {}, {}).status, 401)
end)

strict.done()
