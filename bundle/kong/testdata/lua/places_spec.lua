local strict = require "strict"
local check, equal = strict.check, strict.equal
local json = require "cjson.safe"

strict.request({}) -- the module must load with nothing but the stand-in
local headers = require "headers"
local places = require "places"

local function named(lines)
  local list = {}
  for _, line in ipairs(lines) do
    list[#list + 1] = line[1]:lower() .. ": " .. line[2]
  end
  table.sort(list)
  return table.concat(list, "\n")
end

-- The table that the hosted gateway is tested with, too.
for line in io.lines("../../../../core/policy/testdata/key_places.jsonl") do
  local row = assert(json.decode(line))
  check(row.name, function()
    local query = row.query:sub(2)
    local options = { lines = row.headers, query = query }
    local seen = strict.request(options)
    local received = kong.request.get_headers(1000)
    local from = places.compile(row["in"])
    local count, text, authorization, sure = places.read(from, received, row.tokens)
    equal(count, row.count, "count")
    equal(text or "", row.text, "text")
    equal(authorization or "", row.authorization, "authorization")
    equal(sure and true or false, row.sure, "sure")
    equal(authorization ~= nil and not sure, row.maybe, "maybe")
    equal(places.offers_own(from, received), row.own, "own protocol")
    for name in pairs(received) do
      local _, plain = headers.fate(name)
      if from.stripped[plain] then
        kong.service.request.clear_header(name)
      end
    end
    places.strip(from, received)
    equal(named(seen.lines), named(row.upstream), "header of the upstream")
    -- Kong adds the question mark, also where a target ended with one (kong/runloop/handler.lua, access.after).
    local rest = options.query ~= "" and "?" .. options.query or (row.query:sub(-1) == "?" and "?" or "")
    equal(rest, row.upstream_query, "query of the upstream")
  end)
end

check("without settings, only X-API-Key", function()
  local from = places.compile()
  for name, count in pairs({ ["X-API-Key"] = 1, ["x_api_key"] = 0, ["apikey"] = 0, ["Authorization"] = 0 }) do
    strict.request({ lines = { { name, "k1" } } })
    equal((places.read(from, kong.request.get_headers(1000), false)), count, name)
  end
  equal(from.stripped["x-api-key"], true)
  strict.request({ lines = { { "X-API-Key", "k1" }, { "x-api-key", "k1" } } })
  equal((places.read(from, kong.request.get_headers(1000), false)), 2)
end)

check("repeats", function()
  for line, is in pairs({
    ["k1"] = true, ["Bearer k1"] = true, [" ApiKey\tk1 "] = true, ["Bearer xk1"] = false, ["k1 Bearer"] = false,
    [""] = false, ["Bearer"] = false,
  }) do
    equal(places.repeats(line, "k1"), is, line)
  end
  equal(places.repeats({ "Basic x", "Bearer k1" }, "k1"), true)
  equal(places.repeats(nil, "k1"), false)
  equal(places.repeats("Bearer ", ""), false)
end)

check("the gateway's protocol is selected for a handshake without one", function()
  for _, case in ipairs({
    { 101, true, nil, "postern" }, { 101, true, "", "postern" }, { 101, true, "chat", "chat" },
    { 101, false, nil, nil },
    { 200, true, nil, nil },
  }) do
    local seen = strict.request({ status = case[1], answer = { ["sec-websocket-protocol"] = case[3] } })
    places.select_own(case[2])
    local set = seen.answer["Sec-WebSocket-Protocol"] or seen.answer["sec-websocket-protocol"]
    equal(set, case[4])
  end
end)

strict.done()
