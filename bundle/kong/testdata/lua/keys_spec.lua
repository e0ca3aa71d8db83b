local strict = require "strict"
local check, equal = strict.check, strict.equal

strict.request({})
local keys = require "keys"
local made = require "made"

local function settings_of(n)
  local some, lines = {}, {}
  for i = 1, n do
    some[i] = made.key("pst", "prod", ("%032d"):format(i))
    lines[made.digest(some[i])] = "key_" .. i .. " tenant=tnt_1 consumer=u" .. i .. " owner=o " .. i
  end
  return { keys = lines, tenants = { tnt_1 = { name = "default" } } }, some
end

check("find parses an entry once for as long as it is in use", function()
  local settings, some = settings_of(9)
  local store = keys.store(settings, 4)
  local first = keys.find(store, some[1])
  equal(first.id, "key_1")
  equal(first.owner, "o 1")
  equal(first.served, true)
  for i = 2, 9 do
    equal(keys.find(store, some[i]).id, "key_" .. i)
    equal(keys.find(store, some[1]), first, "the entry in use")
  end
  for i = 2, 9 do
    keys.find(store, some[i])
  end
  equal(keys.find(store, some[1]) ~= first, true, "an unused entry was dropped")
  equal(keys.find(store, some[1]).id, "key_1")
end)

check("find holds no more entries than the store may", function()
  local settings, some = settings_of(50)
  local store, held = keys.store(settings, 10), 0
  for i = 1, 50 do
    keys.find(store, some[i])
  end
  for _, generation in ipairs({ store.recent, store.older }) do
    for _ in pairs(generation) do
      held = held + 1
    end
  end
  equal(held <= 10, true, held .. " entries")
end)

check("find has no entry for an unknown, damaged or overlong key", function()
  local settings, some = settings_of(1)
  local store = keys.store(settings)
  equal(keys.find(store, made.key("pst", "prod", ("u"):rep(32))), nil)
  equal(keys.find(store, some[1]:sub(1, -2)), nil)
  equal(keys.find(store, made.key("pst", ("e"):rep(100), ("u"):rep(32))), nil)
  equal(keys.find(keys.store({}), some[1]), nil)
  equal(keys.find(store, "\t" .. some[1] .. " ").id, "key_1")
end)

check("find takes keys of any form where some were imported", function()
  local settings = settings_of(1)
  for _, key in ipairs({ "legacy-0123456789", ("a"):rep(4096), ("a"):rep(4097) }) do
    settings.keys[made.digest(key)] = "key_2 tenant=tnt_1 consumer=u2 owner=o 2"
  end
  equal(keys.find(keys.store(settings), "legacy-0123456789"), nil)
  settings.imported_keys = true
  local store = keys.store(settings)
  equal(keys.find(store, "legacy-0123456789").id, "key_2")
  equal(keys.find(store, ("a"):rep(4096)).id, "key_2")
  equal(keys.find(store, ("a"):rep(4097)), nil)
  equal(keys.find(store, ""), nil)
  equal(keys.find(store, "legacy-012345678"), nil)
end)

check("an entry has the identity that upstreams know from another gateway", function()
  local settings, some = settings_of(2)
  settings.keys[made.digest(some[1])] = "key_1 tenant=tnt_1 asid=c-1 asname=Ana%20B ascustom=7%2577 " ..
    "ascredential=x consumer=u1 owner=o 1"
  local store = keys.store(settings)
  local entry = keys.find(store, some[1])
  equal(entry.headers["X-Consumer-ID"], "c-1")
  equal(entry.headers["X-Consumer-Username"], "Ana B")
  equal(entry.headers["X-Consumer-Custom-ID"], "7%77")
  equal(entry.headers["X-Credential-Identifier"], "x")
  equal(entry.id, "key_1")
  equal(entry.kong_consumer.id, "u1")
  equal(keys.find(store, some[2]).headers["X-Consumer-ID"], "u2")
  equal(keys.find(store, some[2]).headers["X-Credential-Identifier"], "key_2")
end)

strict.done()
