-- SPDX-License-Identifier: Apache-2.0
--
-- Counts calls in fixed windows of the clock and the calendar, in UTC: a call is
-- let through where each of its counters is below the limit, and then counted by
-- all of them. A refused call is counted by none.
--
-- The counters are in memory that all workers of this node share. They outlive a
-- reload of the gateway, not a restart; each node has its own.
--
-- Keys and owners are as many as somebody has set up: where memory for them is
-- short, calls are refused. Addresses are as many as an attacker with an IPv6
-- network cares to use: where memory is short, the longest unseen is forgotten.

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

-- The narrowest first: whoever has used up a limit of their own touches no
-- counter that others share.
local DIMENSIONS = { "key", "owner", "ip", "project" }

local PREFIX = { key = "postern:k", owner = "postern:o", ip = "postern:i", project = "postern:p" }

-- What a counter outlives its window by, in seconds: the clocks by which memory
-- is freed and windows are told apart differ by some milliseconds.
local MARGIN = 5


-- The limits in a text such as "hour:100,day:1000"; "none" is no limit at all.
-- nil for what is neither.
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

-- The present month and year, worked out once a day.
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


-- Which window of its kind it is, and when it ends, in Unix seconds.
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


-- Where a dimension is counted, and whether counters may be forgotten there. What
-- must not be forgotten has memory of its own, where the gateway's environment
-- declares it; addresses have that of Kong's rate-limiting plugin, which is always
-- there. Where one memory is all there is, nothing may be forgotten.
local function memory_of(dimension)
  local own, kongs = ngx.shared.postern_limits, ngx.shared.kong_rate_limiting_counters
  if dimension == "ip" and own and kongs then
    return kongs, true
  end
  return own or kongs, false
end


-- The counters that a call is counted by: for each dimension that has limits, one
-- for each window that it limits. subjects says whose calls are counted in each
-- dimension; true stands for the address of each caller. nil for no limits at all.
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


-- The plan with another owner, which calls count for; nil for none.
function limits.of_owner(plan, owner)
  for _, counter in ipairs(plan or {}) do
    if counter.dimension == "owner" then
      counter.subject = owner
    end
  end
  return plan
end


-- Fills in the plan's counters for a call at this moment. No call is interrupted by
-- another while it is counted, so a plan serves all of its calls.
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


-- Looking for memory to free takes a walk over all counters.
local swept_at = 0

local function sweep(dict, now)
  if now - swept_at < 1 then
    return
  end
  swept_at = now
  dict:flush_expired()
end


-- Puts in a new counter without throwing out another that still holds, whose
-- callers would begin anew.
local function put(counter, now)
  local dict = counter.dict
  local kept, why = dict:safe_add(counter.key, 0, counter.ttl)
  if not kept and why == "no memory" then
    sweep(dict, now)
    dict:safe_add(counter.key, 0, counter.ttl)
  end
end


-- Counts a call and gives how many there are; nil when memory is short.
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


-- Takes the call out of the first so many counters again.
local function take_back(counters, last)
  for i = 1, last do
    local counter = counters[i]
    counter.dict:incr(counter.key, -1)
    counter.count = counter.count - 1
  end
end


-- Counts a call by all counters or by none, and tells which; nil when memory is
-- short. Afterwards each counter's count is the number of calls it has admitted.
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


-- Whether a has less left than b: of one window, then of all.
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


-- What headers_of can set. An upstream's own of these names would contradict it.
local HEADERS = { "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset" }
for _, title in ipairs(TITLES) do
  table.insert(HEADERS, "X-RateLimit-Limit-" .. title)
  table.insert(HEADERS, "X-RateLimit-Remaining-" .. title)
end


-- Of each window the counter that has the least left; and of all windows.
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


-- The headers that tell callers where they stand, with Kong's own names, and the
-- counter that has the least left.
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


-- Counts a call from an address by a plan. Returns the headers of its answer, and
-- the code of the refusal or nil.
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


-- Writes where the caller stands into the answer, over what the upstream sent.
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
