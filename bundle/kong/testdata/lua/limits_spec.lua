local strict = require "strict"
local check, equal = strict.check, strict.equal
local limits = require "limits"

-- 2024-02-29T23:59:58.250Z, a day that only leap years have.
local LEAP = 1709251198.25

local function at(now, dict)
  strict.request({ now = now, shared = { postern_limits = dict } })
end

local function count(by_dimension, subjects)
  local plan = limits.plan(by_dimension, {
    key = subjects.key, owner = subjects.owner, ip = subjects.ip and true, project = subjects.project,
  })
  if plan then
    return limits.count(plan, subjects.ip)
  end
end

local function headers_are(got, want)
  for name, value in pairs(want) do
    equal(got[name], value, name)
  end
  for name in pairs(got) do
    equal(want[name] ~= nil, true, name .. " expected")
  end
end

check("texts are read", function()
  local found = limits.parse("hour:100,day:1000")
  equal(found.hour, 100)
  equal(found.day, 1000)
  equal(next(limits.parse("none")), nil)
  for _, text in ipairs({ "", "hour", "hour:", "hour:x", "week:1", "hour:1,", ",hour:1", "hour:-1", "true" }) do
    equal(limits.parse(text), nil, text)
  end
end)

check("nothing limited, nothing counted", function()
  local dict = strict.shared(0)
  at(1000, dict)
  local headers, refusal = count({ key = {} }, { key = "key_1", project = "" })
  equal(headers, nil)
  equal(refusal, nil)
end)

check("a limit admits that many in its window, and as many in the next", function()
  local dict = strict.shared()
  for _, now in ipairs({ 7200, 10799.9, 10800 }) do
    at(now, dict)
    local headers, refusal = count({ project = { hour = 2 } }, { project = "" })
    equal(refusal, nil)
    headers_are(headers, {
      ["X-RateLimit-Limit-Hour"] = "2", ["X-RateLimit-Remaining-Hour"] = now == 10799.9 and "0" or "1",
      ["RateLimit-Limit"] = "2", ["RateLimit-Remaining"] = now == 10799.9 and "0" or "1", ["RateLimit-Reset"] = now == 10799.9 and "1" or "3600",
    })
    if now == 10799.9 then
      local told, code = count({ project = { hour = 2 } }, { project = "" })
      equal(code, "rate_limited")
      equal(told["Retry-After"], "1")
      equal(told["RateLimit-Remaining"], "0")
    end
  end
end)

check("windows end with the clock and the calendar", function()
  local cases = {
    { LEAP, "second", 1 }, { LEAP, "minute", 2 }, { LEAP, "hour", 2 }, { LEAP, "day", 2 }, { LEAP, "month", 2 },
    { LEAP, "year", 26438402 }, { LEAP + 1.75, "month", 2678400 }, { 1735689599, "year", 1 }, { 1735689600, "year", 31536000 },
    { 951782400, "month", 86400 }, { 4107456000, "month", 86400 }, { 0, "month", 2678400 }, { 1704067200, "year", 31622400 },
  }
  for _, case in ipairs(cases) do
    at(case[1], strict.shared())
    local headers = count({ project = { [case[2]] = 5 } }, { project = "" })
    equal(headers["RateLimit-Reset"], tostring(case[3]), case[2] .. " at " .. case[1])
  end
end)

check("a counter outlives its window, and not by much", function()
  local dict = strict.shared()
  at(LEAP, dict)
  count({ project = { second = 5, year = 5 } }, { project = "" })
  for key, one in pairs(dict.held) do
    local ends = key:match("^postern:p1:") and LEAP + 0.75 or LEAP + 26438401.75
    equal(one.ends > ends and one.ends < ends + 60, true, key)
  end
end)

check("the code tells a rate from a quota", function()
  for window, want in pairs({ second = "rate_limited", minute = "rate_limited", hour = "rate_limited",
    day = "quota_exceeded", month = "quota_exceeded", year = "quota_exceeded" }) do
    at(LEAP, strict.shared())
    count({ project = { [window] = 1 } }, { project = "" })
    local _, code = count({ project = { [window] = 1 } }, { project = "" })
    equal(code, want, window)
  end
end)

check("the longest of several windows that are used up decides, then the lower limit", function()
  at(LEAP, strict.shared())
  local all = { key = { hour = 1, month = 1 }, project = { month = 2 } }
  count(all, { key = "key_1", project = "" })
  local headers, code = count(all, { key = "key_1", project = "" })
  equal(code, "quota_exceeded")
  equal(headers["RateLimit-Limit"], "1")
  equal(headers["Retry-After"], "2")
  count(all, { key = "key_2", project = "" })
  headers, code = count(all, { key = "key_2", project = "" })
  headers_are(headers, {
    ["X-RateLimit-Limit-Hour"] = "1", ["X-RateLimit-Remaining-Hour"] = "0",
    ["X-RateLimit-Limit-Month"] = "1", ["X-RateLimit-Remaining-Month"] = "0",
    ["RateLimit-Limit"] = "1", ["RateLimit-Remaining"] = "0", ["RateLimit-Reset"] = "2", ["Retry-After"] = "2",
  })
end)

check("each window shows the dimension with the least left", function()
  at(LEAP, strict.shared())
  local headers = count(
    { key = { hour = 100, day = 50 }, owner = { hour = 20 }, ip = { hour = 20, year = 1000 }, project = { day = 50, minute = 10 ^ 12 } },
    { key = "key_1", owner = "ana", ip = "192.0.2.1", project = "" })
  headers_are(headers, {
    ["X-RateLimit-Limit-Minute"] = "1000000000000", ["X-RateLimit-Remaining-Minute"] = "999999999999",
    ["X-RateLimit-Limit-Hour"] = "20", ["X-RateLimit-Remaining-Hour"] = "19",
    ["X-RateLimit-Limit-Day"] = "50", ["X-RateLimit-Remaining-Day"] = "49",
    ["X-RateLimit-Limit-Year"] = "1000", ["X-RateLimit-Remaining-Year"] = "999",
    ["RateLimit-Limit"] = "20", ["RateLimit-Remaining"] = "19", ["RateLimit-Reset"] = "2",
  })
end)

check("a refused call is counted by none", function()
  local dict = strict.shared()
  at(1000, dict)
  local all = { key = { hour = 10 }, owner = { hour = 10 }, ip = { hour = 1 }, project = { hour = 10, day = 10 } }
  local whose = { key = "key_1", owner = "ana", ip = "192.0.2.1", project = "" }
  count(all, whose)
  for _ = 1, 5 do
    local headers, code = count(all, whose)
    equal(code, "rate_limited")
    equal(headers["X-RateLimit-Remaining-Day"], "9")
  end
  for key, one in pairs(dict.held) do
    equal(one.value, 1, key)
  end
end)

check("those without a subject are not counted there", function()
  local dict = strict.shared()
  at(1000, dict)
  local each = { key = { hour = 1 }, owner = { hour = 1 }, ip = { hour = 1 }, project = { hour = 9 } }
  count(each, { ip = "192.0.2.1", project = "" })
  local n = 0
  for _ in pairs(dict.held) do
    n = n + 1
  end
  equal(n, 2)
end)

check("subjects are apart, whatever they are called", function()
  at(1000, strict.shared())
  local owners = { "ana", "ana ", "ana:1", "1:ana", ":", "k3:0:ana", "postern:o3:0:ana", ("x"):rep(128), "{vault://env/HOME}", "%s" }
  for _, owner in ipairs(owners) do
    local _, code = count({ owner = { hour = 1 } }, { owner = owner })
    equal(code, nil, owner)
    _, code = count({ owner = { hour = 1 } }, { owner = owner })
    equal(code, "rate_limited", owner)
  end
  local _, code = count({ key = { hour = 1 }, ip = { hour = 1 } }, { key = "ana", ip = "ana" })
  equal(code, nil)
end)

check("no counter makes room for another that still holds", function()
  local dict = strict.shared(2)
  at(1000, dict)
  local function call(ip)
    return select(2, count({ ip = { minute = 1 }, project = { minute = 100 } }, { ip = ip, project = "" }))
  end
  equal(call("192.0.2.1"), nil)
  equal(call("192.0.2.2"), "limits_unavailable")
  equal(call("192.0.2.3"), "limits_unavailable")
  equal(dict.swept, 1, "walks in one second")
  equal(call("192.0.2.1"), "rate_limited")
  local project
  for key, one in pairs(dict.held) do
    project = key:match("^postern:p") and one.value or project
  end
  equal(project, 1, "calls of the project")
  at(1100, dict) -- when the windows are over there is room again
  equal(call("192.0.2.2"), nil)
end)

check("without memory no one is let in", function()
  strict.request({ now = 1000, shared = {} })
  local headers, code = count({ project = { hour = 1 } }, { project = "" })
  equal(headers, nil)
  equal(code, "limits_unavailable")
end)

local function held_by(dict)
  local names = {}
  for key in pairs(dict.held) do
    names[#names + 1] = key:match("^postern:(%l)")
  end
  table.sort(names)
  return table.concat(names)
end

check("addresses have memory apart, in which the longest unseen is forgotten", function()
  local all = { key = { hour = 9 }, owner = { hour = 9 }, ip = { hour = 9 }, project = { hour = 9 } }
  local whose = { key = "key_1", owner = "ana", ip = "192.0.2.1", project = "" }
  local own, kongs = strict.shared(), strict.shared()
  kongs.forgets = true
  strict.request({ now = 1000, shared = { postern_limits = own, kong_rate_limiting_counters = kongs } })
  count(all, whose)
  equal(held_by(own), "kop")
  equal(held_by(kongs), "i")
  local only = strict.shared()
  strict.request({ now = 1000, shared = { kong_rate_limiting_counters = only } })
  count(all, whose)
  equal(held_by(only), "ikop")
end)

check("one plan counts every address apart, and every window from zero", function()
  local dict = strict.shared()
  local plan = limits.plan({ ip = { minute = 1 }, project = { hour = 3 } }, { ip = true, project = "" })
  at(60, dict)
  equal(select(2, limits.count(plan, "192.0.2.1")), nil)
  equal(select(2, limits.count(plan, "192.0.2.1")), "rate_limited")
  local headers, code = limits.count(plan, "192.0.2.2")
  equal(code, nil)
  equal(headers["X-RateLimit-Remaining-Hour"], "1")
  at(120, dict)
  equal(select(2, limits.count(plan, "192.0.2.1")), nil)
  equal(select(2, limits.count(plan, "192.0.2.3")), "rate_limited")
end)

check("of_call plans for a key, an owner and an anonymous caller", function()
  local function of(whose, by_dimension)
    local plan, found = limits.of_call({ limits = by_dimension }, whose) or {}, {}
    for i, counter in ipairs(plan) do
      found[i] = counter.dimension .. "=" .. (counter.subject or "*")
    end
    return table.concat(found, " ")
  end
  local all = { key = { day = 1 }, owner = { day = 1 }, ip = { day = 1 }, project = { day = 1 } }
  equal(of({ id = "key_1", owner = "ana" }, all), "key=key_1 owner=ana ip=* project=")
  equal(of({ owner = "ana" }, all), "owner=ana ip=* project=")
  equal(of(nil, all), "ip=* project=")
  equal(limits.of_call({}, { id = "key_1", owner = "ana" }), nil)
end)

strict.done()
