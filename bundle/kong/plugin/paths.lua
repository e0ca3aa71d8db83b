-- SPDX-License-Identifier: Apache-2.0
--
-- Paths that an upstream may read differently than the gateway does.

local paths = {}

local DOT, SLASH, BACKSLASH, SEMICOLON, PERCENT = 46, 47, 92, 59, 37


local HEX = {}
for digit = 0, 15 do
  HEX[("%x"):format(digit):byte()] = digit
  HEX[("%X"):format(digit):byte()] = digit
end


-- The bytes of a path, decoded until no escape is left, and how many there are. The
-- digits of an escape may be encoded themselves (%25%32%65), so that a byte that was
-- decoded can be the last one of another escape.
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


-- Whether a path has no character behind which a dot segment could hide.
function paths.is_plain(path)
  return not path:find("%", 1, true) and not path:find(";", 1, true) and not path:find("\\", 1, true)
end


-- Whether a normalized path has a segment "." or ".." for an upstream that takes an
-- encoded slash or a backslash for a slash, that ends a segment at a semicolon (RFC
-- 3986, section 3.3), or that decodes more than once. Such an upstream would leave
-- the base path of the environment that the call was authorized for. Once a segment is
-- there, further decoding cannot remove it, so that the path is looked at when nothing is
-- left to decode.
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
    else
      other = true
    end
  end
  return not other and (dots == 1 or dots == 2)
end


return paths
