-- Only what the schema may use; anything else fails.
return setmetatable({
  no_consumer = { type = "foreign", reference = "consumers", eq = "null" },
  protocols_http = { type = "set" },
}, { __index = function(_, name) error("typedefs has no " .. tostring(name), 2) end })
