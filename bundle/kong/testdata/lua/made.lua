-- Well-formed keys and their digests, for the specs.
local sha256, hex = require "resty.sha256", require("resty.string").to_hex
local strict = require "strict"

local made = {}

local BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

function made.key(prefix, environment, secret)
  local body = prefix .. "_" .. environment .. "_" .. secret
  local sum, check_digits = strict.crc32(body), ""
  for _ = 1, 6 do
    local digit = sum % 62
    check_digits = BASE62:sub(digit + 1, digit + 1) .. check_digits
    sum = (sum - digit) / 62
  end
  return body .. check_digits
end

function made.digest(text)
  local h = sha256:new()
  h:update(text)
  return hex(h:final())
end

local BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

-- What nginx's own does (RFC 4648, section 4).
function made.base64(text)
  local out = text:gsub("..?.?", function(three)
    local a, b, c = three:byte(1, 3)
    local bits = a * 65536 + (b or 0) * 256 + (c or 0)
    local four = ""
    for place = 3, 0, -1 do
      local digit = math.floor(bits / 64 ^ place) % 64
      four = four .. BASE64:sub(digit + 1, digit + 1)
    end
    return four:sub(1, #three + 1) .. ("="):rep(3 - #three)
  end)
  return out
end

function made.unbase64(text)
  if #text % 4 ~= 0 then
    return nil
  end
  local out = text:gsub("....", function(four)
    local bits = 0
    for i = 1, 4 do
      bits = bits * 64 + ((BASE64:find(four:sub(i, i), 1, true) or 1) - 1)
    end
    local three = string.char(math.floor(bits / 65536) % 256, math.floor(bits / 256) % 256, bits % 256)
    return three:sub(1, 3 - #four:match("=*$"))
  end)
  return out
end

return made
