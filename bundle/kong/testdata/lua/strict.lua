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

-- nginx's table of request headers: names in lowercase, repeated ones as a
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

local BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

-- As nginx's: without padding, and nil for another alphabet.
function strict.decode_base64(text)
  text = text:gsub("=+$", "")
  if text:find("[^%w+/]") or #text % 4 == 1 then
    return nil
  end
  local out, bits, number = {}, 0, 0
  for i = 1, #text do
    number, bits = number % 4096 * 64 + BASE64:find(text:sub(i, i), 1, true) - 1, bits + 6
    if bits >= 8 then
      bits = bits - 8
      out[#out + 1] = string.char(math.floor(number / 2 ^ bits) % 256)
    end
  end
  return table.concat(out)
end

-- nginx's shared memory, as far as it is used: counters with an end. room is how
-- many fit; what is over makes room only when it is looked for.
function strict.shared(room)
  local dict = { held = {}, now = 0, swept = 0 }

  local function live(key)
    local one = dict.held[key]
    return one and one.ends > dict.now and one or nil
  end

  function dict:get(key)
    want(key, "string", "key")
    local one = live(key)
    return one and one.value
  end

  function dict:incr(key, by, first, ttl)
    want(key, "string", "key")
    want(by, "number", "value")
    local one = live(key)
    if not one and first then -- throws out what still holds, where room is short
      assert(dict.forgets, "a counter may have been thrown out")
      want(ttl, "number", "init_ttl")
      one = { value = first, ends = dict.now + ttl }
      dict.held[key] = one
    end
    if not one then
      return nil, "not found"
    end
    one.value = one.value + by
    return one.value
  end

  function dict:safe_add(key, value, ttl)
    want(key, "string", "key")
    want(value, "number", "value")
    want(ttl, "number", "exptime")
    assert(ttl > 0, "it would never end")
    if live(key) then
      return false, "exists"
    end
    local count = 0
    for _ in pairs(dict.held) do
      count = count + 1
    end
    if room and count >= room then
      return nil, "no memory"
    end
    dict.held[key] = { value = value, ends = dict.now + ttl }
    return true
  end

  function dict:flush_expired()
    dict.swept = dict.swept + 1
    for key in pairs(dict.held) do
      if not live(key) then
        dict.held[key] = nil
      end
    end
  end

  return dict
end

-- What the body of a thread raises where it would wait without end.
strict.WAITS = {}

-- Light threads, which run here when they are waited for. Only the one that made a thread
-- may wait for it and kill it; one that is not killed holds the request up.
local function threads(seen)
  local slept = 0

  local function run(thread)
    local results = { pcall(thread.body, unpack(thread.arguments)) }
    thread.ended = results[1] or results[2] ~= strict.WAITS
    return thread.ended, unpack(results)
  end

  local function sleep(seconds)
    want(seconds, "number", "seconds")
    assert(seconds > 0, "it would not sleep")
    slept = slept + 1
  end

  return sleep, only("ngx.thread", {
    spawn = function(body, ...)
      want(body, "function", "body")
      assert(debug.getinfo(body).what ~= "C", "Lua function expected")
      seen.threads = seen.threads + 1
      return { body = body, arguments = { ... } }
    end,
    wait = function(work, clock)
      local answered = { run(work) }
      if answered[1] then
        return unpack(answered, 2)
      end
      local ended = { run(clock) }
      assert(slept > 0, "nothing bounds the time")
      return unpack(ended, 2)
    end,
    kill = function(thread)
      seen.threads = seen.threads - 1
      return not thread.ended or nil
    end,
  })
end

-- Installs kong and ngx as globals for one request and returns what it did.
function strict.request(options)
  local lines = options.lines or {}
  local seen = { lines = lines, exits = 0, selected = 0, answer = options.answer or {}, warnings = {}, shared = {},
    threads = 0 }
  local sleep, thread = threads(seen)

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
      for _, line in ipairs(type(value) == "table" and value or { value }) do
        want(line, "string", "value of " .. name)
        seen.lines[#seen.lines + 1] = { name, line }
      end
    end,
    set_raw_query = function(query)
      want(query, "string", "query")
      options.query = query
    end,
    set_headers = function(headers)
      want(headers, "table", "headers")
      for name, value in pairs(headers) do
        want(name, "string", "header")
        want(value, "string", "value of " .. name)
        if value:find("[\r\n]") then
          error("value of " .. name .. " breaks the line", 2)
        end
        remove(name)
        seen.lines[#seen.lines + 1] = { name, value }
      end
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
        for i = 1, math.min(most, #seen.lines) do
          some[i] = seen.lines[i]
        end
        return header_table(some)
      end,
      get_http_version = function() return options.http_version or 1.1 end,
      get_method = function() return options.method or "GET" end,
      get_raw_query = function() return options.query or "" end,
      get_raw_path = function() return options.path or "/" end,
      get_path = function() return options.normalized or options.path or "/" end,
    }),
    service = only("kong.service", { request = service_request }),
    vault = only("kong.vault", {
      get = function(reference)
        want(reference, "string", "reference")
        local name = reference:match("^{vault://env/([%w_]+)}$")
        if not name then
          error(reference .. " is not a reference to a variable", 2)
        end
        local value = (options.variables or {})[name]
        if value == nil then
          return nil, "could not get value from external vault"
        end
        return value
      end,
    }),
    -- Certificates have their keys' references replaced (kong/db/schema/init.lua, process_auto_fields).
    db = only("kong.db", { certificates = only("kong.db.certificates", {
      select = function(_, pk)
        seen.selected = seen.selected + 1
        return (options.certificates or {})[pk.id]
      end,
    }) }),
    ctx = only("kong.ctx", { shared = seen.shared }),
    log = only("kong.log", {
      crit = function(...)
        assert(seen.in_timer or options.no_timers, "nginx would log the request line too")
        seen.warnings[#seen.warnings + 1] = table.concat({ ... })
      end,
    }),
    router = only("kong.router", {
      get_route = function() return options.route and { id = options.route } or nil end,
      get_service = function() return options.service end,
    }),
    client = only("kong.client", {
      get_forwarded_ip = function() return options.address or "192.0.2.1" end,
      authenticate = function(consumer, credential)
        if consumer == nil and credential == nil then
          error("either credential or consumer must be provided", 2)
        end
        seen.consumer, seen.credential = consumer, credential
      end,
    }),
    response = only("kong.response", {
      get_headers = function(most)
        want(most, "number", "max_headers")
        local found = {}
        for name, value in pairs(seen.answer) do
          found[name:lower()] = value
        end
        return found
      end,
      get_header = function(name)
        want(name, "string", "header")
        for known, value in pairs(seen.answer) do
          if known:lower() == name:lower() then
            return type(value) == "table" and value[1] or value
          end
        end
        return nil
      end,
      set_header = function(name, value)
        want(name, "string", "header")
        for _, line in ipairs(type(value) == "table" and value or { value }) do
          want(line, "string", "value of " .. name)
        end
        seen.answer[name] = value
      end,
      clear_header = function(name)
        want(name, "string", "header")
        for known in pairs(seen.answer) do
          if known:lower() == name:lower() then
            seen.answer[known] = nil
          end
        end
      end,
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
    time = function() return math.floor(options.now or 1000) end,
    var = only("ngx.var", { upstream_uri = options.upstream_uri or "/" }),
    -- not base64, but as easy to tell from the text
    encode_base64 = function(text, no_padding)
      return "<" .. (no_padding and require("resty.string").to_hex(text) or text) .. ">"
    end,
    decode_base64 = function(text) return text:match("^<(.*)>$") or strict.decode_base64(text) end,
    status = options.status or 200, -- of the upstream's answer
    sleep = sleep,
    thread = thread,
    timer = only("ngx.timer", {
      at = function(delay, body, ...)
        want(delay, "number", "delay")
        if options.no_timers then
          return nil, "too many pending timers"
        end
        seen.in_timer = true
        body(false, ...)
        seen.in_timer = false
        return true
      end,
    }),
    shared = options.shared or {},
    arg = {}, -- a piece of the body in body_filter
    header = options.head or {}, -- of the upstream's answer
    ctx = options.ctx or { cached_request_headers = header_table(lines) },
    exit = function(code)
      want(code, "number", "code")
      seen.ended = code -- nginx answers by itself, and runs header_filter again
    end,
  }))
  seen.ctx = _G.ngx.ctx
  for _, dict in pairs(_G.ngx.shared) do
    dict.now = _G.ngx.now()
  end
  return seen
end

-- The plugin's modules by the names that Kong has for them.
for _, part in ipairs({ "addresses", "answers", "bodies", "fetch", "headers", "introspection", "issuers", "json", "jwks",
  "jwt", "keys", "limits", "objects", "openfga", "own", "ownership", "paths", "places", "queue", "realm", "rules",
  "schema", "signature", "templates", "tokens", "transforms", "upstream" }) do
  package.preload["kong.plugins.postern-auth." .. part] = function() return require(part) end
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
