-- SPDX-License-Identifier: Apache-2.0
--
-- Counts calls in fixed windows of the clock and the calendar, in UTC: a call is let through if all of its counters are
-- below their limits, and then all of them count it. A refused call isn't counted.
--
-- The counters are in memory that all workers of this node share. They survive a reload of the gateway, but not a
-- restart; each node has its own.
--
-- The number of keys and owners is limited by the configuration: if their memory is full, calls are refused. An
-- attacker with an IPv6 network can use any number of addresses: if their memory is full, the address that hasn't
-- called for the longest time is forgotten.

local floor, ceil, max = math.floor, math.ceil, math.max

local limits = {}

-- Shortest first.
local WINDOWS = { "second", "minute", "hour", "day", "month", "year" }
local INDEX = {}
for i, window in ipairs(WINDOWS) do
  INDEX[window] = i
end

local TITLES = { "Second", "Minute", "Hour", "Day", "Month", "Year" }

local SPANS = { second = 1, minute = 60, hour = 3600, day = 86400 }

-- The narrowest first: a caller who has used up their own limit doesn't change counters that others share.
local DIMENSIONS = { "key", "owner", "ip", "project" }

local PREFIX = { key = "postern:k", owner = "postern:o", ip = "postern:i", project = "postern:p" }

-- How long a counter outlives its window, in seconds: the clock that frees memory and the clock that determines windows
-- differ by some milliseconds.
local MARGIN = 5


-- The limits in a text such as "hour:100,day:1000"; "none" means no limit at all. nil for any other text.
function limits.parse(text)
  local found = {}
  if text == "none" then
    return found
  end
  for part in (text .. ","):gmatch("([^,]*),") do
    local window, calls = part:match("^(%l+):(%d+)$")
    if not INDEX[window] then
      return nil
    end
    found[window] = tonumber(calls)
  end
  return found
end


-- The limits of a key: its own, or those of its type, or the project's.
local function of_key(settings, entry)
  if entry.limits then
    return entry.limits
  end
  local key_type = settings.key_types and settings.key_types[entry.type]
  if key_type and key_type.limits and next(key_type.limits) then
    return key_type.limits
  end
  return settings.limits and settings.limits.key
end


local DAYS = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

-- The current month and year, computed once a day.
local calendar = { from = 0, till = 0 }

local function calendar_at(second)
  if second < calendar.from or second >= calendar.till then
    local date = os.date("!*t", second)
    local today = second - second % 86400
    local leap = date.year % 4 == 0 and (date.year % 100 ~= 0 or date.year % 400 == 0)
    local days = date.month == 2 and leap and 29 or DAYS[date.month]
    calendar = {
      from = today, till = today + 86400,
      month = date.year * 100 + date.month, month_end = today + (days - date.day + 1) * 86400,
      year = date.year, year_end = today + ((leap and 366 or 365) - date.yday + 1) * 86400,
    }
  end
  return calendar
end


-- The number of the current window of a kind, and when it ends, in Unix seconds.
local function window_at(window, second)
  local span = SPANS[window]
  if span then
    local number = floor(second / span)
    return number, (number + 1) * span
  end
  local now = calendar_at(second)
  if window == "month" then
    return now.month, now.month_end
  end
  return now.year, now.year_end
end


-- The memory that a dimension is counted in, and whether counters may be forgotten there. Counters that must not be
-- forgotten have their own memory if the gateway's environment declares it; addresses use that of Kong's rate-limiting
-- plugin, which is always there. If there is only one memory, nothing may be forgotten.
local function memory_of(dimension)
  local own, kongs = ngx.shared.postern_limits, ngx.shared.kong_rate_limiting_counters
  if dimension == "ip" and own and kongs then
    return kongs, true
  end
  return own or kongs, false
end


-- The counters that count a call: for each dimension that has limits, one for each limited window. subjects has the
-- name to count by in each dimension; true means the address of each caller. nil if there are no limits at all.
function limits.plan(by_dimension, subjects)
  local plan = {}
  for _, dimension in ipairs(DIMENSIONS) do
    local subject, of = subjects[dimension], by_dimension[dimension]
    for i, window in ipairs(WINDOWS) do
      local limit = subject and of and of[window]
      if limit then
        plan[#plan + 1] = {
          dimension = dimension,
          window = window,
          place = i,
          limit = limit,
          prefix = PREFIX[dimension] .. i .. ":",
          subject = subject ~= true and subject or nil,
        }
      end
    end
  end
  return plan[1] and plan or nil
end


-- The plan for the calls of an entry of the keys, of the fallback owner, or of an
-- anonymous caller (nil).
function limits.of_call(settings, whose)
  local all = settings.limits or {}
  local key = whose and whose.id
  return limits.plan(
    { key = key and of_key(settings, whose), owner = all.owner, ip = all.ip, project = all.project },
    { key = key, owner = whose and whose.owner, ip = true, project = "" }
  )
end


-- The plan with another owner that calls count for, or nil.
function limits.of_owner(plan, owner)
  for _, counter in ipairs(plan or {}) do
    if counter.dimension == "owner" then
      counter.subject = owner
    end
  end
  return plan
end


-- Sets the plan's counters for a call at this moment. Calls don't interrupt each other while they are counted, so one
-- plan serves all of its calls.
local function point(plan, address, now)
  local second = floor(now)
  for _, counter in ipairs(plan) do
    local number, ends = window_at(counter.window, second)
    -- The subject comes last: an owner's name may contain anything.
    counter.key = counter.prefix .. number .. ":" .. (counter.subject or address)
    counter.dict, counter.forgets = memory_of(counter.dimension)
    counter.reset = max(1, ceil(ends - now))
    counter.ttl = ends - now + MARGIN
  end
end


-- Looking for memory to free walks over all counters.
local swept_at = 0

local function sweep(dict, now)
  if now - swept_at < 1 then
    return
  end
  swept_at = now
  dict:flush_expired()
end


-- Adds a new counter without evicting another that still applies, whose callers would start from zero.
local function put(counter, now)
  local dict = counter.dict
  local kept, why = dict:safe_add(counter.key, 0, counter.ttl)
  if not kept and why == "no memory" then
    sweep(dict, now)
    dict:safe_add(counter.key, 0, counter.ttl)
  end
end


-- Counts a call and returns the count; nil if memory is full.
local function add(counter, now)
  local dict = counter.dict
  if not dict then
    return nil
  end
  if counter.forgets then
    return (dict:incr(counter.key, 1, 0, counter.ttl))
  end
  local count, problem = dict:incr(counter.key, 1)
  if not count and problem == "not found" then
    put(counter, now)
    count = dict:incr(counter.key, 1) -- also when another worker has put it in
  end
  return count
end


-- Removes the call from the first n counters.
local function take_back(counters, last)
  for i = 1, last do
    local counter = counters[i]
    counter.dict:incr(counter.key, -1)
    counter.count = counter.count - 1
  end
end


-- Counts a call in all counters or in none, and reports which; nil if memory is full. After that, each counter's count
-- is the number of calls it has admitted.
local function admit(counters, now)
  for i, counter in ipairs(counters) do
    counter.count = add(counter, now)
    if not counter.count then
      take_back(counters, i - 1)
      return nil
    end
    if counter.count > counter.limit then
      take_back(counters, i)
      for later = i + 1, #counters do
        local rest = counters[later]
        rest.count = rest.dict and rest.dict:get(rest.key) or 0
      end
      return false
    end
  end
  return true
end


local function remaining(counter)
  return max(0, counter.limit - counter.count)
end


-- Reports whether a has fewer calls left than b: in one window, then in all.
local function tighter(a, b)
  local left, other = remaining(a), remaining(b)
  if left ~= other then
    return left < other
  end
  if a.place ~= b.place then
    return a.place > b.place
  end
  return a.limit < b.limit
end


local function number(n)
  return ("%.0f"):format(n)
end


-- The headers that headers_of can set. An upstream's own headers with these names would contradict them.
local HEADERS = { "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset" }
for _, title in ipairs(TITLES) do
  table.insert(HEADERS, "X-RateLimit-Limit-" .. title)
  table.insert(HEADERS, "X-RateLimit-Remaining-" .. title)
end


-- The counter with the fewest calls left, of each window and of all windows.
local function least_of(counters)
  local least, tightest = {}, nil
  for _, counter in ipairs(counters) do
    local of_window = least[counter.place]
    if not of_window or tighter(counter, of_window) then
      least[counter.place] = counter
    end
    if not tightest or tighter(counter, tightest) then
      tightest = counter
    end
  end
  return least, tightest
end


-- The rate limit headers for callers, with Kong's own names, and the counter with the fewest calls left.
local function headers_of(counters)
  local least, tightest = least_of(counters)
  local headers = {
    ["RateLimit-Limit"] = number(tightest.limit),
    ["RateLimit-Remaining"] = number(remaining(tightest)),
    ["RateLimit-Reset"] = number(tightest.reset),
  }
  for place, counter in pairs(least) do
    headers["X-RateLimit-Limit-" .. TITLES[place]] = number(counter.limit)
    headers["X-RateLimit-Remaining-" .. TITLES[place]] = number(remaining(counter))
  end
  return headers, tightest
end


-- Counts a call from an address by a plan. Returns the headers for its response, and the code of the refusal or nil.
function limits.count(plan, address)
  local now = ngx.now()
  point(plan, address, now)
  local admitted = admit(plan, now)
  if admitted == nil then
    return nil, "limits_unavailable"
  end
  local headers, tightest = headers_of(plan)
  if admitted then
    return headers
  end
  headers["Retry-After"] = headers["RateLimit-Reset"]
  return headers, tightest.place <= INDEX.hour and "rate_limited" or "quota_exceeded"
end


-- Sets the rate limit headers of the response, replacing the upstream's.
function limits.tell(standing)
  for _, name in ipairs(standing and HEADERS or {}) do
    if standing[name] then
      kong.response.set_header(name, standing[name])
    else
      kong.response.clear_header(name)
    end
  end
end


return limits
