local strict = require "strict"
local check, equal = strict.check, strict.equal
local schema = require "schema"

-- What the schema language has (kong/db/schema/init.lua), as far as we use it.
-- An attribute that is not here is an error: Kong would refuse or ignore it.
local KNOWN = {
  string = { "match", "len_eq", "one_of", "uuid" }, number = {}, integer = { "gt" }, boolean = {},
  array = { "elements" }, map = { "keys", "values" }, record = { "fields" },
}

local function has(list, wanted)
  for _, one in ipairs(list) do
    if one == wanted then
      return true
    end
  end
  return false
end

local function well_made(spec, at)
  assert(KNOWN[spec.type], at .. ": no type " .. tostring(spec.type))
  for attribute in pairs(spec) do
    assert(attribute == "type" or attribute == "required" or has(KNOWN[spec.type], attribute), at .. ": attribute " .. attribute)
  end
  if spec.type == "record" then
    for _, field in ipairs(spec.fields) do
      local name, inner = next(field)
      assert(next(field, name) == nil, at .. ": two fields in one")
      well_made(inner, at .. "." .. name)
    end
  elseif spec.type == "map" then
    well_made(spec.keys, at .. "<key>")
    well_made(spec.values, at .. "<value>")
  elseif spec.type == "array" then
    well_made(spec.elements, at .. "[]")
  end
end

local UUID = "^%x%x%x%x%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%x%x%x%x%x%x%x%x$"

local validate
local function validate_string(spec, value)
  return type(value) == "string" and value ~= ""
    and (not spec.match or value:match(spec.match) ~= nil) and (not spec.len_eq or #value == spec.len_eq)
    and (not spec.one_of or has(spec.one_of, value)) and (not spec.uuid or value:match(UUID) ~= nil)
end

local function validate_record(spec, value)
  if type(value) ~= "table" then
    return false
  end
  local names = {}
  for _, field in ipairs(spec.fields) do
    local name, inner = next(field)
    names[name] = true
    local given = value[name]
    if given == nil and inner.type == "record" and inner.required ~= false then
      -- Every record in a plugin's configuration is required unless it says
      -- otherwise (kong/db/schema/entity.lua), and one that is required and
      -- absent is put in as {} before it is checked (kong/db/schema/init.lua).
      given = {}
    end
    if given == nil then
      if inner.required then
        return false
      end
    elseif not validate(inner, given) then
      return false
    end
  end
  for name in pairs(value) do
    if not names[name] then
      return false
    end
  end
  return true
end

function validate(spec, value)
  if spec.type == "string" then
    return validate_string(spec, value)
  elseif spec.type == "record" then
    return validate_record(spec, value)
  elseif spec.type == "integer" then
    return type(value) == "number" and value % 1 == 0 and value > spec.gt
  elseif spec.type == "map" then
    for k, v in pairs(value) do
      if not validate(spec.keys, k) or not validate(spec.values, v) then
        return false
      end
    end
    return true
  elseif spec.type == "array" then
    for _, v in ipairs(value) do
      if not validate(spec.elements, v) then
        return false
      end
    end
    return true
  end
  return type(value) == spec.type
end

local config
for _, field in ipairs(schema.fields) do
  config = field.config or config
end

local uuid = "6f0e4b52-3a1d-5c7e-9b84-2d1f7a90c3e5"
local function example()
  return {
    project = "prj_01",
    signing_key = "CALL_SIGNING_KEY",
    routes = { [uuid] = { environment = "prod", mode = "authenticate", methods = { "api_key" }, keyless = "reject",
      ip = { allow = { "192.0.2.0/24", "2001:db8::/32" }, deny = {} } } },
    tenants = { tnt_1 = { name = "default" } },
    limits = { key = { second = 1, year = 10 ^ 12 }, ip = { hour = 5 } },
    fallback = { owner = "fallback", consumer = uuid },
    introspection = { ver_1 = {
      endpoint = "https://id.example/introspect", method = "client_secret_basic", client_id = "{vault://env/HOME}",
      secret = "INTROSPECTION_1_0_0_CLIENT_SECRET", issuer = "x", audience = "y", tenant = "tnt_1",
      withheld = { issuers = { "a" }, issuers_below = { "b" }, tokens = { "gho_" }, opaque = true },
    }, ver_2 = { endpoint = "http://127.0.0.1/", method = "client_secret_post" } },
    key_types = { kty_1 = { name = "full", scopes = { "*" }, limits = { day = 1 } }, kty_2 = { name = "plain", scopes = {} } },
    keys = { [("ab"):rep(32)] = "key_1 tenant=tnt_1 type=kty_1 scopes=x env=prod until=1.5 frozen consumer=" .. uuid .. " owner=a b" },
  }
end

check("it is made of what Kong's schemas know", function()
  equal(schema.name, "postern-auth")
  well_made(config, "config")
end)

check("nothing in it is looked up in a vault", function()
  local function walk(spec)
    assert(spec.referenceable == nil, "a field is referenceable")
    for _, inner in pairs(spec) do
      if type(inner) == "table" then
        walk(inner)
      end
    end
  end
  walk(config)
end)

check("it takes what an export writes", function()
  assert(validate(config, example()))
  assert(validate(config, { project = "prj_01" }))
end)

check("it takes a project in which no call goes without a key", function()
  local c = example()
  c.fallback = nil
  assert(validate(config, c))
end)

local bad = {
  ["no project"] = function(c) c.project = nil end,
  ["a key that is not a hash"] = function(c) c.keys = { secret = c.keys[("ab"):rep(32)] } end,
  ["a hash in upper case"] = function(c) c.keys = { [("AB"):rep(32)] = c.keys[("ab"):rep(32)] } end,
  ["a key without an owner"] = function(c) c.keys[("ab"):rep(32)] = "key_1 tenant=tnt_1 consumer=" .. uuid end,
  ["a key without a consumer"] = function(c) c.keys[("ab"):rep(32)] = "key_1 tenant=tnt_1 owner=a" end,
  ["a key that is a record"] = function(c) c.keys[("ab"):rep(32)] = { id = "key_1" } end,
  ["a consumer that is not a UUID"] = function(c) c.fallback.consumer = "fallback" end,
  ["an unknown mode"] = function(c) c.routes[uuid].mode = "off" end,
  ["an unknown method"] = function(c) c.routes[uuid].methods = { "basic" } end,
  ["an endpoint that is not a URL"] = function(c) c.introspection.ver_1.endpoint = "id.example" end,
  ["an endpoint with another method"] = function(c) c.introspection.ver_1.method = "GET" end,
  ["an endpoint with a secret"] = function(c) c.introspection.ver_1.secret = "swordfish" end,
  ["an issuer without an audience"] = function(c) c.routes[uuid].issuers = { { issuer = "https://id.example" } } end,
  ["an issuer that is not a URL"] = function(c)
    c.routes[uuid].issuers = { { issuer = "id.example", audience = "shop" } }
  end,
  ["a fallback owner without a consumer"] = function(c) c.tenants.tnt_1.fallback = { owner = "fallback" } end,
  ["an unknown way without a key"] = function(c) c.routes[uuid].keyless = "anyone" end,
  ["a route that is not an id"] = function(c) c.routes = { prod = c.routes[uuid] } end,
  ["a window that is none"] = function(c) c.limits.key.week = 1 end,
  ["a limit of nothing"] = function(c) c.limits.key.hour = 0 end,
  ["a limit of a half"] = function(c) c.key_types.kty_1.limits.day = 0.5 end,
  ["a dimension that is none"] = function(c) c.limits.tenant = { hour = 1 } end,
  ["a rule that is not a range"] = function(c) c.routes[uuid].ip.deny = { "192.0.2.1" } end,
  ["rules without a list"] = function(c) c.routes[uuid].ip.deny = nil end,
  ["a tenant without a name"] = function(c) c.tenants.tnt_1 = {} end,
  ["an unknown setting"] = function(c) c.off = true end,
}
for name, change in pairs(bad) do
  check("it refuses " .. name, function()
    local c = example()
    change(c)
    assert(not validate(config, c))
  end)
end

strict.done()
