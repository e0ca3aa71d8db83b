-- SPDX-License-Identifier: Apache-2.0
--
-- Limits how many calls wait for a server at a time: a server that does not answer must not block all other calls.

local queue = {}


-- A queue of at most the given number of calls, each of which waits no longer than the given seconds.
function queue.new(most, within)
  return { count = 0, since = {}, most = most, within = within }
end


-- Adds a waiting call; nil if there are too many. A call that nginx ended while it waited never leaves: it counts until
-- its time would have run out.
function queue.enter(line, now)
  if line.count >= line.most then
    for call, began in pairs(line.since) do
      if now - began > line.within + 1 then
        line.since[call], line.count = nil, line.count - 1
      end
    end
  end
  if line.count >= line.most then
    return nil
  end
  local call = {}
  line.since[call], line.count = now, line.count + 1
  return call
end


function queue.leave(line, call)
  if line.since[call] then
    line.since[call], line.count = nil, line.count - 1
  end
end


return queue
