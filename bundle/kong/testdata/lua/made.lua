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

return made
