-- SPDX-License-Identifier: Apache-2.0
--
-- How an upstream may interpret a path differently from the gateway.

local decoded = require("kong.plugins.postern-auth.templates").decoded

local paths = {}

local find, sub = string.find, string.sub

local DOT, SLASH, BACKSLASH, SEMICOLON, PERCENT = 46, 47, 92, 59, 37


local HEX = {}
for digit = 0, 15 do
  HEX[("%x"):format(digit):byte()] = digit
  HEX[("%X"):format(digit):byte()] = digit
end


-- The bytes of a path, decoded until no escape is left, and their number. The digits of an escape may themselves be
-- encoded (%25%32%65), so a decoded byte can be the last one of another escape.
local function decode_wholly(path)
  local bytes, n = {}, 0
  for at = 1, #path do
    n = n + 1
    bytes[n] = path:byte(at)
    while bytes[n - 2] == PERCENT do
      local high, low = HEX[bytes[n - 1]], HEX[bytes[n]]
      if not high or not low then
        break
      end
      n = n - 2
      bytes[n] = high * 16 + low
    end
  end
  return bytes, n
end


-- Reports whether a path has no character that could hide a dot segment.
function paths.is_plain(path)
  return not path:find("[%%;\\\192\193\224\240]")
end


-- The first bytes of an overlong character, which has more bytes than in UTF-8 (RFC 3629, section 3), and the highest
-- byte that then follows.
local OVERLONG = { [0xC0] = 0xBF, [0xC1] = 0xBF, [0xE0] = 0x9F, [0xF0] = 0x8F }


local function is_overlong(first, second)
  return second and second >= 0x80 and second <= OVERLONG[first]
end


-- Reports whether a normalized path has a segment "." or ".." for an upstream that treats an encoded slash or a
-- backslash as a slash, that ends a segment at a semicolon (RFC 3986, section 3.3), or that decodes more than once.
-- Such an upstream would leave the base path of the environment that the call was authorized for. The same applies to
-- an ASCII byte in an overlong form, if the upstream decodes that. Once a segment is there, further decoding cannot
-- remove it, so the path is checked when nothing is left to decode.
function paths.hides_dot_segment(path)
  local dots, other = 0, false
  local bytes, n = decode_wholly(path)
  for at = 1, n do
    local c = bytes[at]
    if c == SLASH or c == BACKSLASH or c == SEMICOLON then
      if not other and (dots == 1 or dots == 2) then
        return true
      end
      dots, other = 0, false
    elseif c == DOT then
      dots = dots + 1
    elseif OVERLONG[c] and is_overlong(c, bytes[at + 1]) then
      return true
    else
      other = true
    end
  end
  return not other and (dots == 1 or dots == 2)
end


-- The same, as text.
local function decoded_wholly(path)
  local bytes, n = decode_wholly(path)
  for at = 1, n do
    bytes[at] = string.char(bytes[at])
  end
  return table.concat(bytes, "", 1, n)
end


-- The segments of a path that are not empty, without their parameters (RFC 3986, 3.3).
local function segments_of(path)
  local out = {}
  for segment in path:gmatch("[^/\\]+") do
    local bare = segment:match("^[^;]*")
    if bare ~= "" then
      out[#out + 1] = bare
    end
  end
  return out
end


-- The second bytes of a UTF-8 character, if not all are possible.
local SECOND = {
  [0xE0] = "^[\160-\191]", [0xED] = "^[\128-\159]", [0xF0] = "^[\144-\191]", [0xF4] = "^[\128-\143]",
}


-- The bytes that may follow the first byte of a UTF-8 character, and how many follow (RFC 3629, section 4).
local function follows(first)
  if first < 0xC2 or first > 0xF4 then
    return nil
  elseif first < 0xE0 then
    return "^[\128-\191]", 1
  end
  local second = SECOND[first] or "^[\128-\191]"
  if first < 0xF0 then
    return second .. "[\128-\191]", 2
  end
  return second .. "[\128-\191][\128-\191]", 3
end


-- Text without control characters and invalid UTF-8.
local function printable(text)
  local out, at = {}, 1
  while at <= #text do
    local first = text:byte(at)
    local pattern, more = follows(first)
    if first >= 0x20 and first < 0x7F then
      out[#out + 1] = sub(text, at, at)
    elseif pattern and find(text, pattern, at + 1) then
      local one = sub(text, at, at + more)
      out[#out + 1] = not find(one, "^\194[\128-\159]") and one or nil
      at = at + more
    end
    at = at + 1
  end
  return table.concat(out)
end


-- Unicode's white space in UTF-8, without control characters, by its number of bytes.
local SPACES = {
  { "^ " },
  { "^\194\160" },
  { "^\225\154\128", "^\226\128[\128-\138\168\169\175]", "^\226\129\159", "^\227\128\128" },
}


-- How many bytes the white space at the first or the last byte of a part has, or nil.
local function space(text, first, last, behind)
  for size, patterns in ipairs(SPACES) do
    for _, pattern in ipairs(size <= last - first + 1 and patterns or {}) do
      if find(text, pattern, behind and last - size + 1 or first) then
        return size
      end
    end
  end
end


local function trimmed(text)
  local first, last = 1, #text
  local size = space(text, first, last)
  while size do
    first = first + size
    size = space(text, first, last)
  end
  size = space(text, first, last, true)
  while size do
    last = last - size
    size = space(text, first, last, true)
  end
  return sub(text, first, last)
end


-- The segments of a path, decoded until no escape is left, as the least strict upstream reads it: NUL ends it, like
-- strings in C, and so does the beginning of a query or fragment; control characters, invalid UTF-8, and white space
-- around a segment are dropped.
local function loose_segments(path)
  local out = {}
  for _, segment in ipairs(segments_of(printable(decoded_wholly(path):match("^[^%z?#]*")))) do
    segment = trimmed(segment)
    if segment ~= "" then
      out[#out + 1] = segment
    end
  end
  return out
end


-- The ways in which an upstream may read a path, other than as segments that are decoded once: with encoded slashes and
-- backslashes as slashes, without the parameters of segments, and as the least strict upstream reads it.
paths.readings = {
  function(path) return segments_of(decoded(path)) end,
  function(path) return segments_of(decoded_wholly(path)) end,
  function(path)
    local cut = segments_of(path)
    return segments_of(decoded("/" .. table.concat(cut, "/")))
  end,
  loose_segments,
}


-- Reports whether a path can be read in another way. Kong leaves some characters unescaped that the hosted gateway
-- escapes.
function paths.has_readings(path)
  return find(path, "[^!-~]") or find(path, "[%%;\\]")
end


return paths
