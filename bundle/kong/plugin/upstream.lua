-- SPDX-License-Identifier: Apache-2.0
--
-- Headers with secret values that calls carry to the upstream, which recognizes this
-- gateway by them. The configuration names environment variables of Kong; the values
-- are nowhere in the export.

local upstream = {}


-- The form in which a CGI-like upstream sees a header's name.
local function plain(name)
  return (name:lower():gsub("_", "-"))
end


-- The headers of a route by their variables; nil where there are none. An empty value
-- would let calls through without what the upstream asks for: missing names its
-- variable, and the route's calls are refused.
function upstream.store(variables)
  if not variables or not next(variables) then
    return nil
  end
  local out = { headers = {}, names = {} }
  for header, variable in pairs(variables) do
    local value = kong.vault.get("{vault://env/" .. variable .. "}")
    if type(value) ~= "string" or value == "" then
      out.missing = variable
    else
      out.headers[header] = value
    end
    out.names[plain(header)] = true
  end
  return out
end


-- Whether the route sets the header that a caller sent under this name.
function upstream.sets(own, name)
  return own ~= nil and own.names[plain(name)] == true
end


return upstream
