-- SPDX-License-Identifier: Apache-2.0
--
-- Bounds the calls that wait for a server at a time: one that does not answer must not hold
-- up all others.

local queue = {}


-- A queue of at most so many calls, which wait no longer than so many seconds each.
function queue.new(most, within)
  return { count = 0, since = {}, most = most, within = within }
end


-- Counts a call that waits from now on; nil where too many do. A call that nginx ended
-- while it waited never leaves: it counts until it would have run out of time.
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
