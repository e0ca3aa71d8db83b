-- The patterns of Lua 5.1, matched step by step in Lua, so that a hook that counts instructions also counts what
-- patterns cost. install puts it in place of the library, before the plugin's modules are loaded.
local stepwise = {}

local byte, sub, matches_one = string.byte, string.sub, string.find
local ESCAPE, OPEN, CLOSE, END, ANCHOR = 37, 40, 41, 36, 94

-- Where the item of a pattern ends that begins at a place.
local function item_end(p, at)
  local c = byte(p, at)
  if c == ESCAPE then
    return at + 2
  elseif c ~= 91 then -- [
    return at + 1
  end
  at = at + (byte(p, at + 1) == ANCHOR and 2 or 1)
  repeat
    at = at + (byte(p, at) == ESCAPE and 2 or 1)
  until byte(p, at) == 93 -- ]
  return at + 1
end

-- The bytes that each item matches, found out once.
local sets = {}

local function set_of(item)
  if not sets[item] then
    local set = {}
    for c = 0, 255 do
      set[c] = matches_one(string.char(c), "^" .. item) ~= nil
    end
    sets[item] = set
  end
  return sets[item]
end

local run

-- What an item matches, most or, for "-", fewest first.
local function repeated(s, si, p, item, rest, caps, least, lazy)
  local set, n = set_of(item), 0
  while n < least or not lazy do
    if not set[byte(s, si + n)] then
      break
    end
    n = n + 1
  end
  while n >= least do
    local ends = run(s, si + n, p, rest, caps)
    if ends then
      return ends
    end
    if lazy and not set[byte(s, si + n)] then
      return nil
    end
    n = n + (lazy and 1 or -1)
  end
  return nil
end

-- The place after what a pattern matches from a place on, nil if it does not.
function run(s, si, p, pi, caps)
  while pi <= #p do
    local c = byte(p, pi)
    if c == OPEN then
      caps[#caps + 1] = { from = si }
      local ends = run(s, si, p, pi + 1, caps)
      caps[#caps] = ends and caps[#caps]
      return ends
    elseif c == CLOSE then
      local at = #caps
      while caps[at].to do
        at = at - 1
      end
      caps[at].to = si - 1
      local ends = run(s, si, p, pi + 1, caps)
      caps[at].to = ends and caps[at].to
      return ends
    elseif c == END and pi == #p then
      return si == #s + 1 and si or nil
    end
    assert(not (c == ESCAPE and matches_one(sub(p, pi + 1, pi + 1), "[bf%d]")), "not supported here")
    local rest = item_end(p, pi)
    local item, quantity = sub(p, pi, rest - 1), sub(p, rest, rest)
    if quantity == "*" or quantity == "-" then
      return repeated(s, si, p, item, rest + 1, caps, 0, quantity == "-")
    elseif quantity == "+" then
      return repeated(s, si, p, item, rest + 1, caps, 1, false)
    end
    local fits = set_of(item)[byte(s, si)]
    if quantity == "?" then
      local ends = fits and run(s, si + 1, p, rest + 1, caps)
      if ends then
        return ends
      end
      pi = rest + 1
    elseif not fits then
      return nil
    else
      si, pi = si + 1, rest
    end
  end
  return si
end

-- The first match from a place on: where it begins, the place after it, and its captures.
local function first(s, p, at)
  local anchored = byte(p, 1) == ANCHOR
  repeat
    local caps = {}
    local ends = run(s, at, p, anchored and 2 or 1, caps)
    if ends then
      for i, one in ipairs(caps) do
        caps[i] = sub(s, one.from, one.to)
      end
      return at, ends, caps
    end
    at = at + 1
  until anchored or at > #s + 1
end

local function start(s, init)
  init = init or 1
  return init < 0 and math.max(1, #s + init + 1) or math.max(1, init)
end

local function all(from, ends, s, caps)
  if #caps == 0 then
    return sub(s, from, ends - 1)
  end
  return unpack(caps)
end

function stepwise.match(s, p, init)
  local from, ends, caps = first(s, p, start(s, init))
  if from then
    return all(from, ends, s, caps)
  end
end

function stepwise.find(s, p, init, plain)
  if plain then
    return matches_one(s, p, init, true)
  end
  local from, ends, caps = first(s, p, start(s, init))
  if from then
    return from, ends - 1, unpack(caps)
  end
end

function stepwise.gmatch(s, p)
  local at = 1
  return function()
    local from, ends, caps
    if at <= #s + 1 then
      from, ends, caps = first(s, p, at)
    end
    if not from then
      at = #s + 2
      return nil
    end
    at = ends == from and ends + 1 or ends
    return all(from, ends, s, caps)
  end
end

function stepwise.gsub(s, p, with, most)
  local out, at, n = {}, 1, 0
  local anchored = byte(p, 1) == ANCHOR
  while not most or n < most do
    local from, ends, caps = at, nil, {}
    ends = run(s, at, p, anchored and 2 or 1, caps)
    if ends then
      n = n + 1
      for i, one in ipairs(caps) do
        caps[i] = sub(s, one.from, one.to)
      end
      local whole, value = sub(s, from, ends - 1), with
      if type(with) == "function" then
        value = with(all(from, ends, s, caps))
      else
        assert(not matches_one(with, "%", 1, true), "not supported here")
      end
      out[#out + 1] = value or whole
    end
    if ends and ends > at then
      at = ends
    elseif at <= #s then
      out[#out + 1] = sub(s, at, at)
      at = at + 1
    else
      break
    end
    if anchored then
      break
    end
  end
  out[#out + 1] = sub(s, at)
  return table.concat(out), n
end

function stepwise.install()
  jit.off()
  for _, name in ipairs({ "match", "find", "gmatch", "gsub" }) do
    string[name] = stepwise[name]
  end
end

-- How many instructions body takes; an error once they are more than most.
function stepwise.count(most, body)
  local taken = 0
  debug.sethook(function()
    taken = taken + 1000
    if taken > most then
      debug.sethook()
      error("takes more than " .. most .. " instructions", 0)
    end
  end, "", 1000)
  local ok, problem = pcall(body)
  debug.sethook()
  return ok and taken, problem
end

return stepwise
