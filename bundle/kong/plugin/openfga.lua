-- SPDX-License-Identifier: Apache-2.0
--
-- Checks and records owners of objects on an OpenFGA server (its HTTP API), into whose store authz/load.sh loaded the
-- export. Without a server, no caller owns an object. Responses are not cached.

local cjson = require "cjson.safe"
local fetch = require "kong.plugins.postern-auth.fetch"
local objects = require "kong.plugins.postern-auth.objects"
local queue = require "kong.plugins.postern-auth.queue"

local openfga = {}

-- The limits of a request, in seconds, and of a response, in bytes.
local TIMEOUT, MAX_ANSWER = 3, 64 * 1024

-- The most calls of a worker that wait for the server.
local MOST_WAITING = 200

-- Seconds between two lines in the log about checks that failed.
local LOG_EVERY = 30

-- The most attempts to write a relation, and the most tuples in one write, which is the
-- server's limit.
local TRIES, MOST_WRITES = 5, 100

local OWNER = "owner"


local function setting(variable)
  local value = kong.vault.get("{vault://env/" .. variable .. "}")
  return type(value) == "string" and value ~= "" and value or nil
end


-- The server that the configuration names; nil if no rule requires an owner.
function openfga.store(settings)
  return settings and {
    variables = { url = settings.url, store = settings.store, token = settings.token }, name = settings.name,
    line = queue.new(MOST_WAITING, TIMEOUT), logged = 0,
  } or nil
end


-- Reports whether a server is configured. The first call reads the settings: Kong cannot resolve vault references while
-- it loads its configuration.
function openfga.ready(server)
  if not server then
    return false
  end
  if server.url == nil then
    local url = setting(server.variables.url)
    server.url = url and url:gsub("/+$", "") or false
    server.token = setting(server.variables.token)
    server.name = setting(server.variables.store) or server.name
    if server.name:find("^%w+$") and #server.name == 26 and server.name:upper() == server.name then
      server.id = server.name -- a ULID
    end
  end
  return server.url ~= false
end


local function send(server, method, path, body)
  local headers = { ["Content-Type"] = "application/json" }
  if server.token then
    headers["Authorization"] = "Bearer " .. server.token
  end
  return fetch.send({
    method = method, address = server.url .. path, headers = headers, body = body and cjson.encode(body),
    within = TIMEOUT, most = MAX_ANSWER, keep = true,
  })
end


-- The id of the store of that name; nil and the problem if there is none or more than one.
local function find(server)
  if server.id then
    return server.id
  end
  if server.name:find("[^%w._-]") then
    return nil, "the name of the store has characters other than letters, digits and . _ -"
  end
  local answer, problem = send(server, "GET", "/stores?page_size=2&name=" .. server.name)
  if not answer then
    return nil, problem
  end
  local doc = answer.status == 200 and answer.body and cjson.decode(answer.body)
  local stores = type(doc) == "table" and doc.stores
  if type(stores) ~= "table" then
    return nil, "it returned " .. answer.status .. " to the request for its stores"
  end
  if #stores ~= 1 or type(stores[1].id) ~= "string" then
    return nil, "it has " .. (#stores == 0 and "no store " or "several stores ") .. server.name
  end
  server.id = stores[1].id
  return server.id
end


-- Sends a request about the store, again if a kept connection was closed or the store was replaced. Returns the decoded
-- response, or nil and the problem.
local function ask(server, path, body)
  local problem
  for _ = 1, 2 do
    local id, answer
    id, problem = find(server)
    if id then
      answer, problem = send(server, "POST", "/stores/" .. id .. path, body)
    end
    if answer and answer.status == 200 and answer.body then
      local doc = cjson.decode(answer.body)
      if type(doc) == "table" then
        return doc
      end
      return nil, "its response cannot be read"
    end
    if answer then
      problem = "it returned " .. answer.status
      if answer.status ~= 404 then
        return nil, problem
      end
      server.id = nil
    elseif problem == fetch.TOO_LATE then
      return nil, problem
    end
  end
  return nil, problem
end


local function report(_, url, problem)
  -- docker-compose.yaml sets KONG_LOG_LEVEL to crit: lower levels are not logged.
  kong.log.crit("OpenFGA at ", url, " cannot say who owns an object: ", problem)
end


local function unjudged(server, problem)
  local now = ngx.now()
  if now - server.logged >= LOG_EVERY then
    server.logged = now
    -- A timer logs it: in the call's own context nginx adds the request line, whose query
    -- may have a key.
    ngx.timer.at(0, report, server.url, problem)
  end
  return nil
end


-- Reports whether a user of a tenant owns an object; nil if the server did not answer.
function openfga.owns(server, tenant, user, object)
  local call = queue.enter(server.line, ngx.now())
  if not call then
    return unjudged(server, MOST_WAITING .. " calls wait for it")
  end
  local doc, problem = ask(server, "/check", {
    tuple_key = { user = objects.user(user), relation = OWNER, object = objects.name(tenant, object) },
    -- The relation may have been written a moment ago.
    consistency = "HIGHER_CONSISTENCY",
  })
  queue.leave(server.line, call)
  if not doc then
    return unjudged(server, problem)
  end
  if type(doc.allowed) ~= "boolean" then
    return unjudged(server, "its response cannot be read")
  end
  return doc.allowed
end


local function remember(server, change)
  return ask(server, "/write", { writes = {
    on_duplicate = "ignore",
    tuple_keys = { {
      user = objects.user(change.user), relation = OWNER, object = objects.name(change.tenant, change.remember),
    } },
  } })
end


-- Removes all owners of an object.
local function forget(server, change)
  local asked = { relation = OWNER, object = objects.name(change.tenant, change.forget) }
  while true do
    local page, problem = ask(server, "/read", { tuple_key = asked, page_size = MOST_WRITES })
    if not page then
      return nil, problem
    end
    local gone = {}
    for i, tuple in ipairs(page.tuples or {}) do
      gone[i] = { user = tuple.key.user, relation = tuple.key.relation, object = tuple.key.object }
    end
    if #gone == 0 then
      return true
    end
    local written
    written, problem = ask(server, "/write", { deletes = { on_missing = "ignore", tuple_keys = gone } })
    if not written then
      return nil, problem
    end
  end
end


local function write(premature, server, change)
  local problem
  for try = 1, premature and 1 or TRIES do
    local done
    if change.forget then
      done, problem = forget(server, change)
    else
      done, problem = remember(server, change)
    end
    if done then
      return
    end
    if try < TRIES and not premature then
      ngx.sleep(2 ^ (try - 1))
    end
  end
  kong.log.crit("the owner of ", change.remember or change.forget, " was not ",
    change.remember and "recorded" or "removed", " in OpenFGA: ", problem)
end


-- Records an owner (remember), or removes those of an object (forget), after the call.
function openfga.change(server, change)
  ngx.timer.at(0, write, server, change)
end


return openfga
