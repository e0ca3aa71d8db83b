-- SPDX-License-Identifier: Apache-2.0

local typedefs = require "kong.db.schema.typedefs"

-- No field is referenceable: an owner named {vault://env/HOME} stays a name.

-- One line for each key, because Kong needs minutes to check and copy 100,000 records of several fields. keys.lua
-- parses it.
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

-- Kong fills in an absent record unless it is told not to.
local ip = {
  type = "record",
  required = false,
  fields = {
    { allow = ranges },
    { deny = ranges },
  },
}

-- A token issuer, with the audience that its tokens must have.
local issuer = {
  type = "record",
  fields = {
    { issuer = { type = "string", required = true, match = "^https?://" } },
    { audience = { type = "string", required = true } },
    -- of its keys; without it, the discovery document's
    { jwks_url = { type = "string", required = false, match = "^https?://" } },
    -- the id of the tenant of its callers
    { tenant = { type = "string", required = false } },
  },
}

local texts = { type = "array", required = false, elements = { type = "string" } }

-- An endpoint that is asked about opaque tokens (RFC 7662).
local endpoint = {
  type = "record",
  fields = {
    { endpoint = { type = "string", required = true, match = "^https?://" } },
    { method = { type = "string", required = true, one_of = { "client_secret_basic", "client_secret_post" } } },
    { client_id = { type = "string", required = false } },
    -- the environment variable with the client secret; without it, there is none
    { secret = { type = "string", required = false, match = "^[%u%d_]+$" } },
    -- the required iss and aud of answers
    { issuer = { type = "string", required = false } },
    { audience = { type = "string", required = false } },
    -- the id of the tenant of its callers
    { tenant = { type = "string", required = false } },
    -- tokens of other issuers, which aren't sent to it: JSON Web Tokens of these issuers, or of issuers with these
    -- prefixes; other tokens with these prefixes
    { withheld = {
        type = "record",
        required = false,
        fields = {
          { issuers = texts }, { issuers_below = texts }, { tokens = texts },
          { opaque = { type = "boolean", required = false } }, -- all opaque ones
        },
    } },
  },
}

-- A place where callers send their keys: it has one of header, query, cookie and websocket_protocol.
local place = {
  type = "record",
  fields = {
    { header = { type = "string", required = false, match = "^[%w_-]+$" } },
    { prefix = { type = "string", required = false } },
    { prefix_optional = { type = "boolean", required = false } },
    { query = { type = "string", required = false } },
    { cookie = { type = "string", required = false } },
    { websocket_protocol = { type = "boolean", required = false } },
  },
}

-- Where keys travel if not in X-API-Key, and how refusals say so.
local api_key = {
  type = "record",
  required = false,
  fields = {
    { ["in"] = { type = "array", required = true, elements = place } },
    { messages = {
        type = "map",
        required = true,
        keys = { type = "string", match = "^[%l_]+$" },
        values = { type = "string" },
    } },
    { challenge = { type = "string", required = true } },
    { either_challenge = { type = "string", required = true } },
  },
}

local policy = {
  type = "record",
  fields = {
    { environment = { type = "string", required = true } },
    { mode = { type = "string", required = true, one_of = { "passthrough", "authenticate" } } },
    { methods = {
        type = "array",
        required = true,
        elements = { type = "string", one_of = { "api_key", "jwt", "opaque" } },
    } },
    { issuers = { type = "array", required = false, elements = issuer } },
    -- the id of the endpoint that is asked about opaque tokens
    { introspection = { type = "string", required = false } },
    { keyless = { type = "string", required = true, one_of = { "reject", "owner_fallback" } } },
    { api_key = api_key },
    -- whether the upstream gets the metadata of keys
    { send_metadata = { type = "boolean", required = false } },
    { ip = ip },
    -- the id of the version whose rules apply, and the prefix of its paths
    { rules = { type = "string", required = false, match = "^[%w_]+$" } },
    { prefix = { type = "string", required = false } },
    -- the size limit of bodies that request-transformer changes; without it, it changes none
    { body_limit = { type = "integer", required = false, gt = 0 } },
    -- the id of the environment whose transforms apply
    { transforms = { type = "string", required = false, match = "^[%w_]+$" } },
    -- the Host header of calls to the upstream; without it, it is the target's host
    { host = { type = "string", required = false, match = "^[%w._-]+$" } },
    -- the environment's id, which signatures of its calls have as their tag
    { tag = { type = "string", required = false, match = "^[%w_]+$" } },
    -- by the name of a header of calls to the upstream; the environment variable with its value
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

local tenant = {
  type = "record",
  fields = {
    { name = { type = "string", required = true } },
    -- the key owner of calls with a token of the tenant and no key
    { fallback = fallback },
  },
}

-- An app client. Its tokens are accepted until they expire.
local client = {
  type = "record",
  fields = {
    { id = { type = "string", required = true } },
    { tenant = { type = "string", required = true } },
    -- it may get tokens for itself; its consumer
    { machine = { type = "boolean", required = true } },
    { consumer = { type = "string", uuid = true, required = true } },
    { frozen = { type = "boolean", required = true } },
    { keys = {
        type = "array",
        required = true,
        elements = {
          type = "record",
          fields = {
            { id = { type = "string", required = true } },
            { alg = { type = "string", required = true } },
            -- in Unix seconds; without it, the key doesn't expire
            { ["until"] = { type = "number", required = false } },
            { jwk = { type = "string", required = true } },
          },
        },
    } },
    -- by the id of a provider: what the upstream gets of a user's token
    { upstream = {
        type = "map",
        required = true,
        keys = { type = "string" },
        values = {
          type = "string",
          one_of = { "service", "none", "provider_access_token", "provider_id_token" },
        },
    } },
  },
}

-- Users and sessions whose tokens are refused.
local refused = {
  type = "record",
  required = false,
  fields = {
    { users = {
        type = "map",
        keys = { type = "string" },
        values = { type = "string", one_of = { "frozen", "deleted" } },
    } },
    { sessions = { type = "map", keys = { type = "string" }, values = { type = "boolean" } } },
    { left = { -- users who left a group, up to the second whose tokens still name it
        type = "map",
        required = false,
        keys = { type = "string" },
        values = { type = "integer" },
    } },
  },
}

-- The exported realm, by the environment variables of Kong with its issuer and with the address of its keys; the
-- address of the keys may be empty, and is then discovered.
local realm = {
  type = "record",
  required = false,
  fields = {
    { issuer = { type = "string", required = true, match = "^[%u%d_]+$" } },
    { keys = { type = "string", required = true, match = "^[%u%d_]+$" } },
  },
}

-- The requirements of a route.
local rule = {
  type = "record",
  fields = {
    { id = { type = "string", required = true } },
    { methods = { type = "array", required = true, elements = { type = "string" } } },
    { path = { type = "string", required = true, match = "^/" } },
    { scopes = texts },
    { groups = texts },
    { role = { type = "string", required = false, one_of = { "member", "admin" } } },
    -- the object that the caller must own; that it owns after a 2xx response; that has no owner after one
    { owner = { type = "string", required = false } },
    { remember = { type = "string", required = false } },
    { forget = { type = "string", required = false } },
  },
}

-- The requirements of a version's routes. deny: those without a rule are refused. read_write: keys need the scope read
-- for GET, HEAD and OPTIONS, and write for other methods, unless a rule names scopes.
local version_rules = {
  type = "record",
  fields = {
    { deny = { type = "boolean", required = true } },
    { read_write = { type = "boolean", required = true } },
    { list = { type = "array", required = true, elements = rule } },
  },
}

-- OpenFGA, which stores the owners of objects: the environment variables of Kong with its URL, the name or id of its
-- store, and a preshared key. All may be empty: without a URL, no caller owns an object; without a store, the one with
-- this name is used.
local openfga = {
  type = "record",
  required = false,
  fields = {
    { url = { type = "string", required = true, match = "^[%u%d_]+$" } },
    { store = { type = "string", required = true, match = "^[%u%d_]+$" } },
    { token = { type = "string", required = true, match = "^[%u%d_]+$" } },
    { name = { type = "string", required = true } },
  },
}

-- Changes, each a name, or a name and a value separated by a colon.
local operations = {
  type = "record",
  required = false,
  fields = {
    { remove = texts }, { rename = texts }, { replace = texts }, { add = texts }, { append = texts },
  },
}

-- Transforms of headers and queries.
local changes = {
  type = "record",
  fields = { { request = operations }, { query = operations }, { response = operations } },
}

-- The groups of an owner of keys, and those of them that the owner is an admin of, by the tenant's id, a slash and the
-- owner.
local member = { type = "record", fields = { { groups = texts }, { admin = texts } } }

return {
  name = "postern-auth",
  fields = {
    { consumer = typedefs.no_consumer },
    { protocols = typedefs.protocols_http },
    { config = {
        type = "record",
        fields = {
          -- the id that upstreams get as X-Project-ID
          { project = { type = "string", required = true, match = "^[%w_]+$" } },
          -- the environment variable with the key that signs calls to upstreams
          { imported_keys = { type = "boolean", required = false } },
          { signing_key = { type = "string", match = "^[%u%d_]+$" } },
          -- by SHA-256 of the whole key, in lowercase hexadecimal
          { keys = {
              type = "map",
              keys = { type = "string", match = "^[0-9a-f]+$", len_eq = 64 },
              values = key,
          } },
          -- by id; the scopes of keys of the type, for the upstream to read
          { key_types = { type = "map", keys = { type = "string" }, values = key_type } },
          -- by id; a key of any other tenant is refused as such
          { tenants = { type = "map", keys = { type = "string" }, values = tenant } },
          -- for each key without its own or its type's limits, each owner, each address, and for all calls combined
          { limits = limits },
          -- by the id of the Kong route
          { routes = {
              type = "map",
              keys = { type = "string", uuid = true },
              values = policy,
          } },
          -- the ids of Kong routes for calls to a custom domain's host that no domain takes
          { unrouted = { type = "array", required = false, elements = { type = "string", uuid = true } } },
          -- by the id of the version
          { rules = { type = "map", keys = { type = "string" }, values = version_rules } },
          -- by the owner of keys
          { members = { type = "map", keys = { type = "string" }, values = member } },
          { openfga = openfga },
          -- by the id of the environment
          { transforms = { type = "map", keys = { type = "string" }, values = changes } },
          -- by the issuer of their tokens; for routes that accept tokens
          { clients = { type = "map", keys = { type = "string" }, values = client } },
          -- of the project's API, which their tokens may name instead of the app client
          { audience = { type = "string", required = false } },
          { refused = refused },
          { realm = realm },
          -- by id
          { introspection = { type = "map", keys = { type = "string" }, values = endpoint } },
          -- the key owner of calls without a key, if a route accepts them
          { fallback = fallback },
        },
    } },
  },
}
