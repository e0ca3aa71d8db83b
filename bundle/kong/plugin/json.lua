-- SPDX-License-Identifier: Apache-2.0
--
-- JSON (RFC 8259) from other systems, read as the hosted gateway reads it: texts that another reader could interpret
-- differently are refused.

local cjson = require("cjson.safe").new()

-- A number such as Infinity or 0x10 is not JSON (RFC 8259, section 6).
cjson.decode_invalid_numbers(false)
-- Distinguishes an empty list from an empty object.
cjson.decode_array_with_array_mt(true)

local json = { null = cjson.null }


-- How deeply values may be nested, as in Go's exactjson. Kong's library has a limit of 1,000.
local MAX_DEPTH = 100

-- The UTF-8 sequences of characters that are not ASCII (RFC 3629, section 4).
local CHARACTERS = {
  "[\194-\223][\128-\191]",
  "\224[\160-\191][\128-\191]",
  "[\225-\236\238\239][\128-\191][\128-\191]",
  "\237[\128-\159][\128-\191]",
  "\240[\144-\191][\128-\191][\128-\191]",
  "[\241-\243][\128-\191][\128-\191][\128-\191]",
  "\244[\128-\143][\128-\191][\128-\191]",
}


-- Reports whether a text is UTF-8 and has no escaped half of a surrogate pair. It is otherwise valid JSON. Kong's
-- library passes such bytes on, and another reader could interpret them differently.
local function is_unicode(text)
  if text:find("\\u[dD][89a-fA-F]") then
    local escapes = text:gsub("\\\\", "  "):gsub("\\u[dD][89abAB]%x%x\\u[dD][c-fC-F]%x%x", " ")
    if escapes:find("\\u[dD][89a-fA-F]") then
      return false
    end
  end
  if text:find("[\128-\255]") then
    for _, character in ipairs(CHARACTERS) do
      text = text:gsub(character, " ")
    end
  end
  return not text:find("[\128-\255]")
end


-- Reports whether no object has the same member twice, of which another parser, such as the upstream's, could use the
-- other one, and nothing is nested too deeply. text is otherwise valid JSON.
local function is_plain(text)
  local seen, depth, at = {}, 0, 1 -- seen: the names of the object or list at each depth
  while true do
    local from, _, sign = text:find('([{}%[%]"])', at)
    if not from then
      return true
    end
    at = from + 1
    if sign == '"' then
      local ends = at
      while true do
        ends = text:find('["\\]', ends)
        if text:sub(ends, ends) == '"' then
          break
        end
        ends = ends + 2 -- a backslash and what it escapes
      end
      local inner = text:sub(at, ends - 1)
      if text:find("^%s*:", ends + 1) then
        local name = cjson.decode('["' .. inner .. '"]')[1]
        if seen[depth][name] then
          return false
        end
        seen[depth][name] = true
      end
      at = ends + 1
    elseif sign == "{" or sign == "[" then
      depth = depth + 1
      if depth > MAX_DEPTH then
        return false
      end
      seen[depth] = {}
    else
      depth = depth - 1
    end
  end
end


local WORDS = { ["true"] = true, ["false"] = true, ["null"] = true }


-- Reports whether a word outside of texts is JSON. Kong's library also reads numbers such as 007 and 1.
local function is_word(word)
  local whole, rest = word:match("^%-?(%d+)(.*)$")
  if not whole then
    return WORDS[word] == true
  end
  rest = rest:gsub("^%.%d+", "", 1):gsub("^[eE][+-]?%d+", "", 1)
  return rest == "" and (whole == "0" or whole:sub(1, 1) ~= "0")
end


-- Reports whether all words and texts in text are JSON; it is otherwise valid. With finite, a number that does not fit
-- into a double is not.
local function is_strict(text, finite)
  if text:find("%z") then
    return false -- the library stops reading there
  end
  local at = 1
  while at do
    local from = text:find('"', at, true)
    for word in text:sub(at, (from or 0) - 1):gmatch("[%w.+-]+") do
      if not is_word(word) or finite and math.abs(tonumber(word) or 0) == math.huge then
        return false
      end
    end
    local ends = from and from + 1
    while ends do
      ends = text:find('["\\%z\1-\31]', ends)
      local sign = ends and text:sub(ends, ends)
      if not sign or sign < " " then
        return false
      elseif sign == '"' then
        break
      end
      ends = ends + 2 -- a backslash and what it escapes
    end
    at = ends and ends + 1
  end
  return true
end


-- The object in a text; nil for anything else.
function json.object(text)
  local doc = text:find("^%s*{") and cjson.decode(text)
  return doc and is_strict(text, true) and is_unicode(text) and is_plain(text) and doc or nil
end


-- The value of a JSON text; nil for any other text.
function json.value(text)
  local value = cjson.decode(text)
  if value == nil or not is_strict(text) then
    return nil
  end
  return value
end


-- The value of a member that is a text: "" if it is absent, nil for any other value.
function json.text(value)
  if value == nil or value == cjson.null then
    return ""
  end
  return type(value) == "string" and value or nil
end


-- Returns the values of a member that is a text or a list of texts; nil for anything else.
function json.texts(value)
  if value == nil or value == cjson.null then
    return {}
  end
  if type(value) == "string" then
    return { value }
  end
  if type(value) ~= "table" or getmetatable(value) ~= cjson.array_mt then
    return nil
  end
  local texts = {}
  for i, one in ipairs(value) do
    texts[i] = json.text(one)
    if not texts[i] then
      return nil
    end
  end
  return texts
end


-- Reports whether a member with a time is valid, and returns its seconds since 1970, nil if it is absent. A number that
-- is too large is read as infinite.
function json.time(value)
  if value == nil or value == cjson.null then
    return true, nil
  end
  return type(value) == "number" and math.abs(value) ~= math.huge, value
end


return json
