-- SPDX-License-Identifier: Apache-2.0
--
-- How the upstream recognizes this gateway: by headers with secret values, and by the client certificate that Kong
-- presents. The configuration names Kong's environment variables; the secrets are not in the export.

local upstream = {}


-- The form in which a CGI-like upstream sees a header's name.
local function plain(name)
  return (name:lower():gsub("_", "-"))
end


-- The headers of a route by their variables, and the names of other headers that the gateway sets; nil if there are
-- none. The first call reads the values, because Kong does not have them while it reads its configuration.
function upstream.store(variables, others)
  variables = variables or {}
  if not next(variables) and not others then
    return nil
  end
  local own = { variables = variables, names = {} }
  for _, name in ipairs(others or {}) do
    own.names[name] = true
  end
  for header in pairs(variables) do
    own.names[plain(header)] = true
  end
  return own
end


-- The route's headers with their values; nil if a value is empty. Calls are then refused: they must not reach the
-- upstream without what it requires.
function upstream.headers(own)
  if own.values then
    return own.values
  end
  local values = {}
  for header, variable in pairs(own.variables) do
    local value = kong.vault.get("{vault://env/" .. variable .. "}")
    if type(value) ~= "string" or value == "" then
      return nil
    end
    values[header] = value
  end
  own.values = values
  return values
end


-- Reports whether the private key belongs to the certificate, both in PEM.
local function fits(certificate, private)
  if type(private) ~= "string" or private == "" then
    return false
  end
  local key = require("resty.openssl.pkey").new(private, { format = "PEM", type = "pr" })
  local leaf = key and require("resty.openssl.x509").new(certificate, "PEM")
  return leaf ~= nil and leaf ~= false and leaf:check_private_key(key) == true
end


-- Reports whether Kong can present the client certificate of the call's service, if it has one. With a private key that
-- it cannot read, or that belongs to another certificate, Kong calls the upstream without a certificate. checked has
-- the ids of those that it can present.
function upstream.presentable(checked)
  local service = kong.router.get_service()
  local named = service and service.client_certificate
  if not named or checked[named.id] then
    return true
  end
  local found = kong.db.certificates:select({ id = named.id })
  if not found or not fits(found.cert, found.key) then
    return false
  end
  checked[named.id] = true
  return true
end


-- Reports whether the route sets the header that a caller sent with this name.
function upstream.sets(own, name)
  return own ~= nil and own.names[plain(name)] == true
end


return upstream
