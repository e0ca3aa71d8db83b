-- A stand-in for Kong's PDK and the parts of ngx that the plugin may use. It is
-- strict: a name it does not know is an error, and so are arguments or a phase
-- that Kong 3.9 would not take (kong/pdk/*.lua).
local strict = {}

local function only(name, fields)
  return setmetatable(fields, {
    __index = function(_, field) error(name .. " has no " .. tostring(field), 2) end,
    __newindex = function(_, field) error(name .. "." .. tostring(field) .. " must not be set", 2) end,
  })
end

local function want(value, kind, what)
  if type(value) ~= kind then
    error(what .. " must be a " .. kind .. ", not " .. type(value), 3)
  end
end

-- nginx's table of request headers: names in lower case, repeated ones as a
-- list; looked up without regard to case, and with _ for -.
local function header_table(lines)
  local found = {}
  for _, line in ipairs(lines) do
    local name, value = line[1]:lower(), line[2]
    if found[name] == nil then
      found[name] = value
    elseif type(found[name]) == "table" then
      table.insert(found[name], value)
    else
      found[name] = { found[name], value }
    end
  end
  return setmetatable(found, {
    __index = function(t, name) return rawget(t, (name:lower():gsub("_", "-"))) end,
  })
end
strict.header_table = header_table

local function crc32(text)
  local bit = require "bit"
  local crc = 0xffffffff
  for i = 1, #text do
    crc = bit.bxor(crc, text:byte(i))
    for _ = 1, 8 do
      local low = bit.band(crc, 1)
      crc = bit.rshift(crc, 1)
      if low == 1 then
        crc = bit.bxor(crc, 0xedb88320)
      end
    end
  end
  local sum = bit.bnot(crc)
  return sum < 0 and sum + 2 ^ 32 or sum
end
strict.crc32 = crc32

-- Installs kong and ngx as globals for one request and returns what it did.
function strict.request(options)
  local lines = options.lines or {}
  local seen = { lines = lines, exits = 0 }

  local function remove(name)
    local kept = {}
    for _, line in ipairs(seen.lines) do
      if line[1]:lower() ~= name:lower() then
        kept[#kept + 1] = line
      end
    end
    seen.lines = kept
  end

  local service_request = only("kong.service.request", {
    clear_header = function(name)
      want(name, "string", "header")
      remove(name)
    end,
    set_header = function(name, value)
      want(name, "string", "header")
      want(value, "string", "value of " .. name)
      if value:find("[\r\n]") then
        error("value of " .. name .. " breaks the line", 2)
      end
      remove(name)
      seen.lines[#seen.lines + 1] = { name, value }
    end,
  })

  rawset(_G, "kong", only("kong", {
    request = only("kong.request", {
      get_headers = function(most)
        want(most, "number", "max_headers")
        if most < 1 or most > 1000 then
          error("max_headers is out of range", 2)
        end
        local some = {}
        for i = 1, math.min(most, #lines) do
          some[i] = lines[i]
        end
        return header_table(some)
      end,
    }),
    service = only("kong.service", { request = service_request }),
    router = only("kong.router", {
      get_route = function() return options.route and { id = options.route } or nil end,
    }),
    client = only("kong.client", {
      authenticate = function(consumer, credential)
        if consumer == nil and credential == nil then
          error("either credential or consumer must be provided", 2)
        end
        seen.consumer, seen.credential = consumer, credential
      end,
    }),
    response = only("kong.response", {
      exit = function(status, body, headers)
        want(status, "number", "code")
        want(body, "string", "body")
        want(headers, "table", "headers")
        seen.status, seen.body, seen.headers = status, body, headers
        seen.exits = seen.exits + 1
      end,
    }),
  }))
  rawset(_G, "ngx", only("ngx", {
    crc32_long = crc32,
    now = function() return options.now or 1000 end,
    ctx = options.ctx or { cached_request_headers = header_table(lines) },
  }))
  seen.ctx = _G.ngx.ctx
  return seen
end

-- A test per call of check; prints TAP (testanything.org).
local count, failed = 0, 0
function strict.check(name, body)
  count = count + 1
  local ok, why = pcall(body)
  if ok then
    print("ok " .. count .. " - " .. name)
  else
    failed = failed + 1
    print("not ok " .. count .. " - " .. name .. ": " .. tostring(why):gsub("\n", " "))
  end
end

function strict.equal(got, expected, what)
  if got ~= expected then
    error((what or "value") .. " is " .. tostring(got) .. ", not " .. tostring(expected), 2)
  end
end

function strict.done()
  print("1.." .. count)
  os.exit(failed == 0 and 0 or 1)
end

return strict
