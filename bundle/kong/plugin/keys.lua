-- SPDX-License-Identifier: Apache-2.0
--
-- The API keys that this gateway accepts. It has their SHA-256 and what each key is valid for, never a key: these files
-- can't be used to call the API.

local sha256 = require "resty.sha256"
local to_hex = require("resty.string").to_hex
local headers = require "kong.plugins.postern-auth.headers"
local limits = require "kong.plugins.postern-auth.limits"

local keys = {}

-- The longest key, in bytes, and the longest one where keys were imported.
keys.MAX_LENGTH = 128
keys.MAX_IMPORTED = 4096

-- How many parsed entries, of about 2 KB each, a store holds before it drops those that were not used since it was half
-- full.
local MOST_ENTRIES = 20000

local BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

local function base62_check(number)
  local digits = {}
  for place = 6, 1, -1 do
    local digit = number % 62
    digits[place] = BASE62:sub(digit + 1, digit + 1)
    number = (number - digit) / 62
  end
  return table.concat(digits)
end


-- Reports whether text has the shape of a key: <prefix>_<environment>_<32 base62 characters><6 of CRC-32 over all
-- before>.
function keys.well_formed(key)
  if #key > keys.MAX_LENGTH then
    return false
  end
  local prefix, environment, secret = key:match("^([a-z][a-z0-9]+)_([a-z][a-z0-9-]*)_([0-9A-Za-z]+)$")
  if not prefix or #prefix > 16 or #secret ~= 38 then
    return false
  end
  return base62_check(ngx.crc32_long(key:sub(1, -7))) == key:sub(-6)
end


-- Reports whether text can be a key, so that it is worth a lookup. Keys that were imported can have any form.
local function possible(settings, key)
  if settings.imported_keys then
    return key ~= "" and #key <= keys.MAX_IMPORTED
  end
  return keys.well_formed(key)
end


-- Hashing never yields to another request, so one context serves all of them.
local hasher = sha256:new()

local function digest(key)
  hasher:reset()
  hasher:update(key)
  return to_hex(hasher:final())
end


-- The fields of an entry, which is one line, broken here:
--   key_01 tenant=tnt_1 type=kty_1 scopes=a,b env=prod until=1767225600 limits=hour:9,day:99
--   ips=192.0.2.0/24,::1/128 frozen user_frozen asid=a%20b consumer=<uuid> owner=billing service
-- asid, asname, ascustom and ascredential are the identity that upstreams know from another gateway, and asmetadata is
-- the key's metadata, escaped as in a URL. Only the id, tenant, consumer and owner are always there; the owner is last
-- and may contain spaces. Returns nil for an invalid line, damaged by hand. The line of a revoked key is "revoked".
local function parse(line)
  local head, owner = line:match("^(.-) owner=(.+)$")
  if not head then
    return nil
  end
  local entry = { id = head:match("^(%S+)"), owner = owner }
  for field in head:gmatch(" (%S+)") do
    local name, value = field:match("^(%l+)=(.*)$")
    entry[name or field] = value or true
  end
  if entry["until"] then
    entry.valid_until = tonumber(entry["until"]) or 0
  end
  if entry.limits then
    entry.limits = limits.parse(tostring(entry.limits))
    if not entry.limits then
      return nil
    end
  end
  return entry.id and entry.tenant and entry.consumer and entry or nil
end


-- The scopes of the key, joined by spaces; "" if there are none.
local function scopes_of(settings, entry)
  if entry.scopes then
    return (entry.scopes:gsub(",", " "))
  end
  local key_type = settings.key_types and settings.key_types[entry.type]
  return key_type and table.concat(key_type.scopes, " ") or ""
end


local function unescaped(value)
  return value and (value:gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
end


-- The X-Consumer-Custom-ID of the key. There is none if upstreams know its owner from another gateway, which sent none.
local function custom_id_of(entry)
  if entry.asid or entry.asname or entry.ascustom then
    return unescaped(entry.ascustom)
  end
  return entry.owner
end


-- The headers that tell the upstream who the caller is.
local function headers_of(settings, entry)
  local scopes = scopes_of(settings, entry)
  return {
    ["X-Consumer-ID"] = unescaped(entry.asid) or entry.consumer,
    ["X-Consumer-Username"] = unescaped(entry.asname) or entry.owner,
    ["X-Consumer-Custom-ID"] = custom_id_of(entry),
    ["X-Credential-Identifier"] = unescaped(entry.ascredential) or entry.id,
    ["X-Authenticated-Scope"] = scopes ~= "" and scopes or nil,
    ["X-Tenant-ID"] = entry.tenant,
    ["X-Project-ID"] = settings.project,
  }
end


-- Entries are parsed when a key is first used: there may be a million of them.
local function load(settings, hash)
  local line = settings.keys and settings.keys[hash]
  if line == "revoked" then
    return { revoked = true }
  end
  local entry = line and parse(line)
  if not entry then
    return nil
  end
  entry.kong_consumer = { id = entry.consumer, username = entry.owner, custom_id = entry.owner }
  entry.kong_credential = { id = entry.id, consumer = { id = entry.consumer } }
  entry.headers = headers_of(settings, entry)
  entry.metadata = unescaped(entry.asmetadata)
  entry.served = settings.tenants ~= nil and settings.tenants[entry.tenant] ~= nil
  entry.limited = limits.of_call(settings, entry)
  return entry
end


-- The keys in the plugin's settings, with space for the given number of entries in use.
function keys.store(settings, most)
  return { settings = settings, recent = {}, older = {}, count = 0, half = (most or MOST_ENTRIES) / 2 }
end


local function keep(store, hash, entry)
  if store.count >= store.half then
    store.older, store.recent, store.count = store.recent, {}, 0
  end
  store.recent[hash], store.count = entry, store.count + 1
  return entry
end


-- The entry of the key in an X-API-Key line; nil for an unknown or malformed key.
function keys.find(store, value)
  local key = headers.trimmed(value) -- nginx trims spaces around a value, but not tabs (RFC 9110, 5.6.3)
  if #key > keys.MAX_LENGTH and not store.settings.imported_keys then
    return nil
  end
  local hash = digest(key)
  local entry = store.recent[hash]
  if entry then
    return entry
  end
  entry = store.older[hash] or (possible(store.settings, key) and load(store.settings, hash))
  return entry and keep(store, hash, entry) or nil
end


return keys
