-- A thin stand-in for Kong around the exported plugin, inside a real nginx: the
-- parts of the PDK that the plugin uses, over ngx.*, and what Kong does before
-- and after its plugins as far as it touches them.
local shim = {}

-- A route that names hosts answers to these alone.
local function route_of(routes, host, uri)
  for _, route in ipairs(routes) do
    local matched = ngx.re.match(uri, "^" .. route.regex, "jo")
    if matched and (not route.hosts or route.hosts[host]) then
      return route, matched[0]
    end
  end
end

local function install()
  _G.kong = {
    request = {
      get_headers = ngx.req.get_headers,
      get_method = function() return ngx.req.get_method() end,
      get_raw_path = function() return (ngx.var.request_uri:gsub("?.*", "")) end,
      -- Not normalized: no case that the plugin alone decides has a plain dot segment.
      get_path = function() return (ngx.var.request_uri:gsub("?.*", "")) end,
    },
    service = {
      request = {
        clear_header = ngx.req.clear_header,
        set_headers = function(headers)
          for name, value in pairs(headers) do
            ngx.req.set_header(name, value)
          end
        end,
      },
    },
    router = {
      get_route = function() return ngx.ctx.route end,
      get_service = function() return nil end, -- no service here has a client certificate
    },
    client = {
      get_forwarded_ip = function() return ngx.var.remote_addr end,
      authenticate = function(consumer, credential)
        ngx.ctx.authenticated_consumer, ngx.ctx.authenticated_credential = consumer, credential
      end,
    },
    response = {
      set_header = function(name, value) ngx.header[name] = value end,
      clear_header = function(name) ngx.header[name] = nil end,
      exit = function(status, body, headers)
        ngx.status = status
        for name, value in pairs(headers) do
          ngx.header[name] = value
        end
        ngx.header["Content-Length"] = #body
        ngx.print(body)
        return ngx.exit(status)
      end,
    },
  }
end

-- Kong clears what Connection names after the plugins, by its copy of the headers.
local function clear_hop_by_hop()
  local connection = ngx.ctx.cached_request_headers["connection"]
  if type(connection) == "table" then
    connection = connection[1]
  end
  for name in (connection or ""):gmatch("[^%s,]+") do
    if name ~= "keep-alive" and name ~= "close" and name ~= "upgrade" then
      ngx.req.clear_header(name)
    end
  end
end

function shim.access(exported)
  if not rawget(_G, "kong") then
    install()
  end
  ngx.ctx.cached_request_headers = ngx.req.get_headers()
  local route, prefix = route_of(exported.routes, ngx.var.host, ngx.var.uri)
  if not route then
    return ngx.exit(404)
  end
  ngx.ctx.route = { id = route.id }
  ngx.var.upstream = route.upstream .. (prefix:sub(-1) == "/" and "/" or "") .. ngx.var.uri:sub(#prefix + 1)
  require("kong.plugins.postern-auth.handler"):access(exported.config)
  clear_hop_by_hop()
end

function shim.header_filter(exported)
  if ngx.ctx.route then
    require("kong.plugins.postern-auth.handler"):header_filter(exported.config)
  end
end

return shim
