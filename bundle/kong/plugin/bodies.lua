-- SPDX-License-Identifier: Apache-2.0
--
-- The bodies that the plugin request-transformer changes after this one. It treats a body that does not fit into
-- nginx's buffer as empty, and replaces it with what is added. It also fails on JSON that is neither an object nor an
-- array.

local cjson = require "cjson.safe"

local bodies = {}

-- As many arguments as Kong reads of a form (lua_max_uri_args in docker-compose.yaml).
local MOST_ARGUMENTS = 1000

local JSON, FORM, PARTS = "application/json", "application/x-www-form-urlencoded", "multipart/form-data"


local function kind_of(content_type)
  content_type = content_type and content_type:lower() or ""
  for _, kind in ipairs({ JSON, PARTS, FORM }) do
    if content_type:find(kind, nil, true) then
      return kind
    end
  end
end


local function has_too_many_arguments(form)
  local from = 0
  for _ = 1, MOST_ARGUMENTS do
    from = form:find("&", from + 1, true)
    if not from then
      return false
    end
  end
  return true
end


-- Reports whether a text is JSON, but neither an object nor an array.
local function is_scalar(text)
  local first = text:match("^[ \t\r\n]*(.)")
  if not first or first == "{" or first == "[" then
    return false
  end
  local value = cjson.decode(text)
  return value ~= nil and type(value) ~= "table"
end


-- The refusal of a call whose body may have at most limit bytes; nil if it is admitted.
function bodies.refusal(limit)
  local kind = kind_of(kong.request.get_header("content-type"))
  if not kind then
    return nil
  end
  local length = tonumber(kong.request.get_header("content-length"))
  if length and length > limit then
    return "body_too_large"
  end
  ngx.req.read_body()
  local text = ngx.req.get_body_data()
  if not text then
    return ngx.req.get_body_file() and "body_too_large" or nil
  end
  if #text > limit or kind == FORM and has_too_many_arguments(text) then
    return "body_too_large"
  end
  return kind == JSON and is_scalar(text) and "bad_body" or nil
end


return bodies
