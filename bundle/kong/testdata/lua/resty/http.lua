-- A stand-in for Kong's library. http.answers has the answers by address; those that are
-- not there cannot be reached, and one with waits never comes. An answer may have status,
-- headers, body, and breaks: the problem at the end of its body. http.asked counts the
-- requests, and http.last is the last one. http.kept counts connections that are kept.
local strict = require "strict"

local http = { answers = {}, asked = {}, kept = 0 }
http.__index = http

function http.new() return setmetatable({ open = false }, http) end

function http:set_timeouts(...)
  for i = 1, 3 do
    assert((select(i, ...)) > 0, "a timeout that is over")
  end
end

function http:parse_uri(address)
  local scheme, host, path = address:match("^(https?)://([^/]+)(.*)$")
  if not scheme then
    return nil, "bad uri"
  end
  local name, port = host:match("^(.-):(%d+)$")
  return { scheme, name or host, tonumber(port) or (scheme == "https" and 443 or 80), path == "" and "/" or path }
end

function http:connect(options)
  assert(options.ssl_verify, "certificates are not checked")
  self.origin, self.open = options.scheme .. "://" .. options.host .. ":" .. options.port, true
  return true
end

function http:request(options)
  local address = self.origin .. options.path
  http.asked[address], http.last = (http.asked[address] or 0) + 1, options
  local answer = http.answers[address]
  if not answer then
    return nil, "connection refused"
  elseif answer.waits then
    error(strict.WAITS)
  end
  local left, problem = answer.body or "", answer.breaks
  return {
    status = answer.status or 200,
    headers = answer.headers or { ["Content-Length"] = tostring(#left) },
    body_reader = function(size)
      local part = left:sub(1, size)
      left = left:sub(size + 1)
      if part ~= "" then
        return part
      end
      local once = problem
      problem = nil
      return nil, once
    end,
  }
end

function http:close()
  assert(self.open, "it is closed already")
  self.open = false
end

function http:set_keepalive(idle, most)
  assert(idle > 0 and most > 0)
  self:close()
  http.kept = http.kept + 1
end

return http
