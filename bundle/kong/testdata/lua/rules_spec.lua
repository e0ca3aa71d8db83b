local strict = require "strict"
local check, equal = strict.check, strict.equal
local rules = require "rules"

local function listed(text)
  local out = {}
  for one in (text or ""):gmatch("[^,]+") do
    out[#out + 1] = one
  end
  return out
end

-- The table that the hosted gateway is tested with, too. What is in shadow or off is left out
-- of the configuration.
local list, settings, line_number = {}, {}, 0
for line in io.lines("../../../../core/policy/testdata/rules.txt") do
  line_number = line_number + 1
  local text, want = line:match("^(.-) : (.*)$")
  local words, with = {}, {}
  for word in (text or line):gmatch("%S+") do
    words[#words + 1] = word
    local name, value = word:match("^([%w_]+)=(.*)$")
    if name then
      with[name] = value
    end
  end
  if words[1] == "list" then
    list = with
    local enforced = (with.mode or "enforce") == "enforce"
    settings = { deny = enforced and with.default == "deny", read_write = enforced and with.read_write == "yes", list = {} }
  elseif words[1] == "rule" and (with.mode or list.mode or "enforce") == "enforce" then
    table.insert(settings.list, {
      methods = listed(words[3]), path = words[4], scopes = listed(with.scopes), groups = listed(with.groups),
      role = with.role, owner = with.owner,
    })
  elseif words[1] == "call" then
    local store, number = rules.store(settings), line_number
    check("rules.txt line " .. number, function()
      local caller = {
        scopes = table.concat(listed(with.scopes), " "), groups = listed(with.groups), admin = listed(with.admin),
        key = true,
        owns = function(object)
          for _, one in ipairs(listed(with.owns)) do
            if one == object then
              return true
            end
          end
          return false
        end,
      }
      local path = words[3] == "-" and "" or words[3]
      local refusal = rules.refusal(store, words[2], path, caller)
      equal(refusal or "allow", want:match("^%S+"), words[2] .. " " .. path)
    end)
  end
end

check("the scope that the caller lacks", function()
  local store = rules.store({ read_write = true, list = { { methods = { "GET" }, path = "/a", scopes = { "s", "t" } } } })
  local caller = { scopes = "s", key = true }
  for at, scope in pairs({ ["GET /a"] = "t", ["GET /b"] = "read", ["POST /b"] = "write" }) do
    local method, path = at:match("^(%S+) (%S+)$")
    local _, lacked = rules.refusal(store, method, path, caller)
    equal(lacked, scope, at)
  end
end)

check("the scopes of a token", function()
  local store = rules.store({ list = { { methods = { "GET" }, path = "/a", scopes = { "s" } } } })
  equal(rules.refusal(store, "GET", "/a", { scopes = "t", token = true }), "token_scope")
  equal(rules.refusal(store, "GET", "/a", { scopes = "s", token = true }), nil)
end)

-- Kong decodes what Go's normal form escapes.
check("raw bytes", function()
  local store = rules.store({ list = { { methods = { "GET" }, path = "/a b/{x}", scopes = { "s" } } } })
  for _, path in ipairs({ "/a b/1", "/a%20b/1", "/a b\\1", "/a b%5C1" }) do
    equal(rules.refusal(store, "GET", path, { scopes = "" }), "insufficient_scope", path)
  end
  store = rules.store({ list = { { methods = { "GET" }, path = "/admin", scopes = { "s" } } } })
  for _, path in ipairs({ "/admin\n", "/admin ", "/admin\255", "/\194\160admin" }) do
    equal(rules.refusal(store, "GET", path, { scopes = "" }), "insufficient_scope", path)
  end
end)

check("no rules", function() equal(rules.store(nil), nil) end)

strict.done()
