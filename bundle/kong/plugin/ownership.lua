-- SPDX-License-Identifier: Apache-2.0
--
-- Follows the answer to a call whose rule remembers or forgets owners. The answer streams on
-- as it comes; what it says is read when the call is over.

local cjson = require "cjson.safe"
local objects = require "kong.plugins.postern-auth.objects"
local openfga = require "kong.plugins.postern-auth.openfga"

local ownership = {}

-- Bytes of an answer that an object can be read from.
local MOST = 256 * 1024


-- Takes note of the head of the upstream's answer.
function ownership.answered(tracked)
  if tracked then
    tracked.accepted = ngx.status >= 200 and ngx.status < 300
    tracked.parts, tracked.length = {}, 0
  end
end


-- Takes note of a piece of its body.
function ownership.received(tracked)
  local piece = tracked and tracked.accepted and ngx.arg[1]
  if not piece or piece == "" or not (tracked.rule.remembered and tracked.rule.remembered.answers) then
    return
  end
  tracked.length = tracked.length + #piece
  if tracked.length <= MOST then
    tracked.parts[#tracked.parts + 1] = piece
  else
    tracked.parts = {}
  end
end


local function report(_, rule, problem)
  -- A lower level is not printed: see KONG_LOG_LEVEL in docker-compose.yaml.
  kong.log.crit("the rule ", rule, " could not record an owner: ", problem)
end


-- The object that the answer names; nil and the problem where it names none.
local function remembered(tracked)
  local object, document = tracked.rule.remembered, nil
  if object.answers then
    if tracked.length > MOST then
      return nil, "the answer has more than " .. MOST .. " bytes"
    end
    document = cjson.decode(table.concat(tracked.parts))
    if type(document) ~= "table" then
      return nil, "the answer is no JSON"
    end
  end
  local text = objects.text(object, tracked.segments, document)
  return text, not text and "the answer does not name it" or nil
end


-- Acts on the answer, after it was sent.
function ownership.ended(tracked)
  if not tracked or not tracked.accepted then
    return
  end
  local change, problem = { user = tracked.user, tenant = tracked.tenant }, nil
  if tracked.rule.remembered then
    change.remember, problem = remembered(tracked)
    if problem then
      -- Not by the call itself: nginx would add its request line, with keys in the query.
      ngx.timer.at(0, report, tracked.rule.id, problem)
    end
  end
  if tracked.rule.forgotten then
    change.forget = objects.text(tracked.rule.forgotten, tracked.segments)
  end
  if change.remember or change.forget then
    openfga.change(tracked.server, change)
  end
end


return ownership
