local strict = require "strict"
local check, equal = strict.check, strict.equal

strict.request({}) -- the module must load with nothing but the stand-in
local handler = require "handler"

local function config()
  return {
    project = "prj_1", signing_key = "CALL_SIGNING_KEY",
    routes = {
      signed = { environment = "prod", mode = "passthrough", methods = {}, keyless = "reject", tag = "env_1" },
      sending = {
        environment = "prod", mode = "authenticate", methods = { "api_key" }, keyless = "reject", tag = "env_1",
        send_metadata = true,
      },
      fallback = {
        environment = "prod", mode = "passthrough", methods = { "api_key" }, keyless = "owner_fallback", tag = "env_1",
      },
    },
    fallback = { owner = "fallback", consumer = "uuid-fallback" },
    keys = {}, tenants = {}, key_types = {},
  }
end

local made = require "made"
local ID = "<" .. made.digest('{"crv":"Ed25519","kty":"OKP","x":"x of jwk of key of shop"}') .. ">"

local function call(options, with)
  options.variables = options.variables or { CALL_SIGNING_KEY = "<key of shop>" }
  local seen = strict.request(options)
  handler:access(with or config())
  return seen
end

local function value(seen, name)
  local out = {}
  for _, line in ipairs(seen.lines) do
    if line[1]:lower() == name then
      out[#out + 1] = line[2]
    end
  end
  return table.concat(out, "|")
end

check("a call is signed as it is forwarded", function()
  local seen = call({
    route = "signed", lines = {}, method = "POST", upstream_uri = "/base/a%2Fb", query = "c=d", now = 1700000000.5,
  })
  local params = '("@method" "@path" "@query" "x-project-id");created=1700000000' ..
    ';keyid="' .. ID .. '";alg="ed25519";tag="env_1"'
  equal(value(seen, "signature-input"), "postern=" .. params)
  equal(value(seen, "signature"), 'postern=:<key of shop signed "@method": POST / "@path": /base/a%2Fb / ' ..
    '"@query": ?c=d / "x-project-id": prj_1 / "@signature-params": ' .. params .. ">:")
end)

check("without a query", function()
  assert(value(call({ route = "signed", lines = {} }), "signature"):find('"@query": ? / ', 1, true))
end)

check("every identity header is covered", function()
  local seen = call({ route = "fallback", lines = {} })
  equal(value(seen, "signature-input"):match('"@query" (.-)%)'),
    '"x-project-id" "x-consumer-id" "x-consumer-username" "x-consumer-custom-id"')
  for _, line in ipairs(seen.lines) do
    local name = line[1]:lower()
    if name:find("^x%-") then
      assert(value(seen, "signature"):find('"' .. name .. '": ' .. line[2] .. " / ", 1, true), name)
    end
  end
end)

check("the metadata of a key is covered", function()
  local key = made.key("pst", "prod", ("s"):rep(32))
  local with = config()
  with.tenants.tnt_1 = { name = "default" }
  with.keys[made.digest(key)] = "key_1 tenant=tnt_1 asmetadata=%7B%22a%22:1%7D consumer=u1 owner=ana"
  local seen = call({ route = "sending", lines = { { "X-API-Key", key } } }, with)
  equal(value(seen, "signature-input"):match('"@query" (.-)%)'),
    '"x-project-id" "x-consumer-id" "x-consumer-username" "x-consumer-custom-id" "x-credential-identifier" ' ..
    '"x-consumer-metadata" "x-tenant-id"')
  assert(value(seen, "signature"):find('"x-consumer-metadata": {"a":1} / ', 1, true))
end)

check("the caller's signature is removed in every spelling", function()
  local seen = call({ route = "signed", lines = {
    { "Signature", "theirs" }, { "signature_input", "theirs" }, { "SIGNATURE-INPUT", "theirs" },
    { "Signature-Agent", "theirs" }, { "X-Signature", "kept" },
  } })
  for _, line in ipairs(seen.lines) do
    assert(line[2] ~= "theirs", line[1])
  end
  equal(value(seen, "x-signature"), "kept")
end)

check("Connection cannot take it away", function()
  local seen = call({ route = "signed", lines = { { "Connection", "Signature, signature-input, X-Other" } } })
  equal(seen.ctx.cached_request_headers.connection, "X-Other")
end)

check("without a usable key calls are refused", function()
  for _, text in ipairs({ "", "key of shop", "<no key>", "<key of rsa>" }) do
    local seen = call({ route = "signed", lines = {}, variables = { CALL_SIGNING_KEY = text } })
    equal(seen.status, 503, text)
    equal(value(seen, "signature"), "", text)
  end
end)

check("a route that was added by hand is not signed", function()
  local with = config()
  with.routes.signed.tag = nil
  equal(value(call({ route = "signed", lines = {} }, with), "signature"), "")
end)

check("a project that does not sign leaves the caller's signature", function()
  local with = config()
  with.signing_key, with.routes.signed.tag = nil, nil
  equal(value(call({ route = "signed", lines = { { "Signature", "theirs" } } }, with), "signature"), "theirs")
end)

strict.done()
