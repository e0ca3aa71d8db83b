-- SPDX-License-Identifier: Apache-2.0
--
-- Paths that an upstream may read differently than the gateway does.

local paths = {}

local DOT, SLASH, BACKSLASH, SEMICOLON, PERCENT = 46, 47, 92, 59, 37


-- The first character from a position on, which may be encoded any number of
-- times, and how many bytes it takes.
local function decode_fully(path, at)
  local c = path:byte(at)
  if c ~= PERCENT then
    return c, 1
  end
  local digits = at + 1
  while path:sub(digits, digits + 1) == "25" do
    digits = digits + 2
  end
  local hex = path:match("^%x%x", digits)
  if not hex then
    return PERCENT, digits - at
  end
  return tonumber(hex, 16), digits + 2 - at
end


-- Whether a path has no character behind which a dot segment could hide.
function paths.is_plain(path)
  return not path:find("%", 1, true) and not path:find(";", 1, true) and not path:find("\\", 1, true)
end


-- Whether a normalized path has a segment "." or ".." for an upstream that takes an
-- encoded slash or a backslash for a slash, that ends a segment at a semicolon (RFC
-- 3986, section 3.3), or that decodes more than once. Such an upstream would leave
-- the base path of the environment that the call was authorized for.
function paths.hides_dot_segment(path)
  local dots, other, at = 0, false, 1
  while at <= #path do
    local c, size = decode_fully(path, at)
    at = at + size
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
