-- SPDX-License-Identifier: Apache-2.0
--
-- The gateway's own requests, limited in time and size. Redirects are not followed. Problems quote neither requests nor
-- answers, which may have tokens in them.

local fetch = {}

-- The problem if a request gets no answer in time.
fetch.TOO_LATE = "there is no response in time"

-- Idle connections that each worker keeps to one server, and for how long, in milliseconds.
local MOST_IDLE, IDLE_FOR = 32, 60000


-- How the body of an answer ends: if a server sends neither a length nor chunks, it ends when the connection is closed.
-- Returns nil for an invalid length, for which the library would read forever.
local function framing(headers)
  local length = headers["Content-Length"]
  if headers["Transfer-Encoding"] ~= nil then
    return "chunks"
  elseif length == nil then
    return "end"
  end
  return type(length) == "string" and length:find("^%d+$") and "length" or nil
end


-- The body of an answer; or nil and the problem, and whether it is longer than most bytes.
local function body_of(answer, most)
  local framed = framing(answer.headers)
  if not framed then
    return nil, "its Content-Length is malformed"
  end
  local reader, parts, length = answer.body_reader, {}, 0
  while true do
    local part, problem = reader(8192)
    local ended = problem == "closed" and framed == "end"
    if problem and not ended then
      return nil, "the connection breaks off: " .. problem
    end
    parts[#parts + 1] = part
    length = length + (part and #part or 0)
    if length > most then
      return nil, "the response has more than " .. most .. " bytes", true
    end
    if not part or ended then
      return table.concat(parts)
    end
  end
end


local function exchange(request)
  local client = require("resty.http").new()
  -- Longer than fetch.send waits: nginx logs a socket that runs out of time, with the request
  -- line of the call.
  local within = request.within * 1000 + 1000
  client:set_timeouts(within, within, within)
  local target, problem = client:parse_uri(request.address)
  if not target then
    return nil, "its URL is malformed"
  end
  local host, connected = target[2], nil
  connected, problem = client:connect({
    scheme = target[1], host = host, port = target[3], ssl_verify = true, ssl_server_name = host:gsub("%.$", ""),
  })
  if not connected then
    return nil, problem
  end
  request.headers["User-Agent"] = "postern"
  request.headers["Accept"] = "application/json"
  local answer = client:request({
    method = request.method, path = target[4], headers = request.headers, body = request.body,
  })
  if not answer then
    client:close()
    return nil, "the connection breaks off, or does not use HTTP"
  end
  local body, too_long
  body, problem, too_long = body_of(answer, request.most)
  if not body or not request.keep then
    client:close()
  else
    client:set_keepalive(IDLE_FOR, MOST_IDLE)
  end
  return { status = answer.status, body = body, problem = problem, too_long = too_long }
end


local function sleep(seconds)
  ngx.sleep(seconds)
end


-- Sends {method, address, headers, body} and returns the answer: {status, body}, or {status, problem, too_long} without
-- its body. Returns nil and the problem if the answer is not complete within the given seconds. most limits the body,
-- in bytes; with keep, the connection is reused.
function fetch.send(request)
  local work, clock = ngx.thread.spawn(exchange, request), ngx.thread.spawn(sleep, request.within)
  local worked, answer, problem = ngx.thread.wait(work, clock)
  ngx.thread.kill(work)
  ngx.thread.kill(clock)
  if not worked then
    return nil, "it cannot be asked"
  end
  return answer, problem or (answer == nil and fetch.TOO_LATE or nil)
end


return fetch
