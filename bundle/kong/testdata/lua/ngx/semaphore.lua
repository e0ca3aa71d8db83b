-- A stand-in for OpenResty's library. Nothing runs at the same time here, so that a wait
-- ends at once: with what was posted, or by running out of time.
local semaphore = {}
semaphore.__index = semaphore

function semaphore.new() return setmetatable({ posted = 0 }, semaphore) end

function semaphore:post(n) self.posted = self.posted + n end

function semaphore:wait(seconds)
  assert(seconds > 0, "it would not wait")
  if self.posted > 0 then
    self.posted = self.posted - 1
    return true
  end
  return nil, "timeout"
end

return semaphore
