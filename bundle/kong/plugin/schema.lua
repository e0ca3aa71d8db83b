-- SPDX-License-Identifier: Apache-2.0

local typedefs = require "kong.db.schema.typedefs"

-- No field is referenceable: an owner named {vault://env/HOME} stays a name.

-- One line for each key, because Kong needs minutes to check and copy 100,000
-- records of several fields. handler.lua says how it is read.
local key = {
  type = "string",
  match = "^%S+ tenant=%S+ .*consumer=[0-9a-f-]+ owner=%S",
}

-- Calls that each window admits, by its name.
local windows = {
  type = "map",
  keys = { type = "string", one_of = { "second", "minute", "hour", "day", "month", "year" } },
  values = { type = "integer", gt = 0 },
}

local ranges = {
  type = "array",
  required = true,
  elements = { type = "string", match = "^[%x:.]+/%d+$" },
}

-- Kong fills in a record that is absent unless it is told not to.
local ip = {
  type = "record",
  required = false,
  fields = {
    { allow = ranges },
    { deny = ranges },
  },
}

local policy = {
  type = "record",
  fields = {
    { environment = { type = "string", required = true } },
    { mode = { type = "string", required = true, one_of = { "passthrough", "authenticate" } } },
    { methods = { type = "array", required = true, elements = { type = "string", one_of = { "api_key" } } } },
    { keyless = { type = "string", required = true, one_of = { "reject", "owner_fallback" } } },
    { ip = ip },
    -- the environment's id, which signatures of its calls have as their tag
    { tag = { type = "string", required = false, match = "^[%w_]+$" } },
    -- by the name of a header that calls carry to the upstream; the environment
    -- variable with its value
    { upstream = {
        type = "map",
        required = false,
        keys = { type = "string", match = "^[%w-]+$" },
        values = { type = "string", match = "^[%u%d_]+$" },
    } },
  },
}

local key_type = {
  type = "record",
  fields = {
    { name = { type = "string", required = true } },
    { scopes = { type = "array", required = true, elements = { type = "string" } } },
    { limits = windows },
  },
}

local tenant = {
  type = "record",
  fields = {
    { name = { type = "string", required = true } },
  },
}

local limits = {
  type = "record",
  required = false,
  fields = {
    { key = windows },
    { owner = windows },
    { ip = windows },
    { project = windows },
  },
}

local fallback = {
  type = "record",
  required = false,
  fields = {
    { owner = { type = "string", required = true } },
    { consumer = { type = "string", uuid = true, required = true } },
  },
}

return {
  name = "postern-auth",
  fields = {
    { consumer = typedefs.no_consumer },
    { protocols = typedefs.protocols_http },
    { config = {
        type = "record",
        fields = {
          -- the id that upstreams see as X-Project-ID
          { project = { type = "string", match = "^[%w_]+$" } },
          -- the environment variable with the key that signs calls to upstreams
          { signing_key = { type = "string", match = "^[%u%d_]+$" } },
          -- by SHA-256 of the whole key, lower-case hexadecimal
          { keys = {
              type = "map",
              keys = { type = "string", match = "^[0-9a-f]+$", len_eq = 64 },
              values = key,
          } },
          -- by id; what keys of the type may do, for the upstream to read
          { key_types = { type = "map", keys = { type = "string" }, values = key_type } },
          -- by id; a key of any other tenant is told so
          { tenants = { type = "map", keys = { type = "string" }, values = tenant } },
          -- for each key without limits of its own or of its type, each owner,
          -- each address, and for all calls together
          { limits = limits },
          -- by the id of the Kong route
          { routes = {
              type = "map",
              keys = { type = "string", uuid = true },
              values = policy,
          } },
          -- whom calls without a key count against, where a route lets them in
          { fallback = fallback },
        },
    } },
  },
}
