-- SPDX-License-Identifier: Apache-2.0
--
-- The requirements of a version's routes: scopes, groups, and ownership of objects. The rules are those of the hosted
-- gateway, and decide in the same way.

local objects = require "kong.plugins.postern-auth.objects"
local openfga = require "kong.plugins.postern-auth.openfga"
local paths = require "kong.plugins.postern-auth.paths"
local templates = require "kong.plugins.postern-auth.templates"

local rules = {}

local sub = string.sub


local decoded = templates.decoded


-- The segments of a normalized path, decoded once. A slash at the end is ignored.
local function plain_segments(path)
  local out = {}
  for segment in path:gmatch("/([^/]*)") do
    out[#out + 1] = decoded(segment)
  end
  if out[#out] == "" then
    out[#out] = nil
  end
  return out
end


local function add(root, rule)
  local at = templates.place(root, rule.path)
  rule.object = objects.compile(rule.owner, rule.path)
  rule.remembered = objects.compile(rule.remember, rule.path, true)
  rule.forgotten = objects.compile(rule.forget, rule.path)
  at.methods, at.implied = at.methods or {}, at.implied or {}
  for _, method in ipairs(rule.methods) do
    at.methods[method] = rule
    if method == "GET" then
      at.implied.HEAD = rule
    end
  end
end


-- The rules of a version's configuration, for rules.refusal, or nil.
function rules.store(settings)
  if not settings then
    return nil
  end
  local root, tracks = {}, false
  for _, rule in ipairs(settings.list or {}) do
    add(root, rule)
    tracks = tracks or rule.remembered ~= nil or rule.forgotten ~= nil
  end
  return { root = root, deny = settings.deny, read_write = settings.read_write, tracks = tracks }
end


-- The most specific rule for segments and a method. For one path, it is the rule that names the method, or else for
-- HEAD the one for GET, or else the one for all methods.
local function match(root, segments, method)
  return templates.find(root, segments, 1, function(at)
    return at.methods[method] or at.implied[method] or at.methods["*"]
  end)
end


-- Reports whether scopes, separated by spaces, satisfy one: by its name, by its family as in orders:*, or by *.
local function has_scope(scopes, one)
  for have in scopes:gmatch("%S+") do
    if have == one or have == "*" then
      return true
    end
    if #have > 2 and sub(have, -2) == ":*" and sub(one, 1, #have - 1) == sub(have, 1, -2) then
      return true
    end
  end
  return false
end


local SAFE = { GET = true, HEAD = true, OPTIONS = true }


local function contains(list, one)
  for _, have in ipairs(list or {}) do
    if have == one then
      return true
    end
  end
  return false
end


local function is_in(caller, rule)
  local held = caller.groups
  if rule.role == "admin" then
    held = caller.admin
  end
  for _, group in ipairs(rule.groups) do
    if contains(held, group) then
      return true
    end
  end
  return false
end


-- The refusal of a caller who does not own an object, or nil.
local function judge_owner(caller, object)
  if not object or not caller.owns then
    return "not_owner"
  end
  local owns = caller.owns(object)
  if owns == nil then
    return "ownership_unavailable"
  end
  return not owns and "not_owner" or nil
end


-- The refusal of a caller by the rule of its route, or nil, and the scope that it lacks. The segments are those of one
-- reading of the path.
local function judge(store, method, caller, rule, segments)
  local refusal = caller.token and "token_scope" or "insufficient_scope"
  if not rule and store.deny then
    return "no_rule"
  end
  local needed = rule and rule.scopes or {}
  local by_method = SAFE[method] and "read" or "write"
  if store.read_write and caller.key and #needed == 0 and not has_scope(caller.scopes, by_method) then
    return refusal, by_method
  end
  for _, scope in ipairs(needed) do
    if not has_scope(caller.scopes, scope) then
      return refusal, scope
    end
  end
  if rule and rule.groups and rule.groups[1] and not is_in(caller, rule) then
    return "not_in_group"
  end
  if rule and rule.object then
    return judge_owner(caller, objects.text(rule.object, segments))
  end
  return nil
end


-- The refusal of a call, nil if it may continue, and the scope that the caller lacks. The path is normalized, and
-- begins below the prefix of the route. The caller has scopes, separated by spaces, groups, and admin: the groups that
-- it is an admin of; key and token say where the scopes come from. owns reports whether it owns an object, nil if that
-- is unknown; without owns, it owns nothing.
function rules.refusal(store, method, path, caller)
  local segments = plain_segments(path)
  local rule = match(store.root, segments, method)
  local refusal, scope = judge(store, method, caller, rule, segments)
  if refusal or not paths.has_readings(path) then
    return refusal, scope
  end
  for _, reading in ipairs(paths.readings) do
    segments = reading(path)
    local other = match(store.root, segments, method)
    if other ~= rule or (rule and rule.object) then
      refusal, scope = judge(store, method, caller, other, segments)
    end
    if refusal then
      return refusal, scope
    end
  end
  return nil
end


-- The groups of the user or app that owns the key of a call. A key of a tenant other than its owner's doesn't get them.
local function member_of(members, whose)
  local tenant = whose.owner and whose.headers["X-Tenant-ID"]
  return tenant and members[tenant .. "/" .. whose.owner] or {}
end


-- The groups of a caller for Kong's acl, which runs after the rules of some routes: all by which a rule may have let
-- the caller in, or nil.
function rules.groups(members, whose)
  local member = member_of(members, whose)
  local groups, admin = member.groups, member.admin
  if whose.groups then
    groups, admin = whose.groups, whose.admin_of
  end
  if not admin or not admin[1] then
    return groups
  end
  local all = {}
  for _, list in ipairs({ groups or {}, admin }) do
    for _, group in ipairs(list) do
      all[#all + 1] = group
    end
  end
  return all
end


-- The caller that rules check: the user of the token, or, for a call with only a key, the user who owns the key. A call
-- without a credential has neither scopes nor groups.
local function asked_of(members, whose)
  local member = member_of(members, whose)
  return {
    scopes = whose.headers["X-Authenticated-Scope"] or "",
    groups = whose.groups or member.groups,
    admin = whose.groups and (whose.admin_of or {}) or member.admin,
    token = whose.of_token,
    key = whose.kong_credential ~= nil,
  }
end


-- The caller's name in relations: the user of the token, or else the owner of the key, or the app client that calls for
-- itself; nil for a call without a credential.
local function user_of(whose)
  return whose.subject or whose.owner
end


-- Reports whether the caller owns an object, once for each object.
local function owner_check(server, whose)
  local tenant, user = whose.headers["X-Tenant-ID"], user_of(whose)
  if not openfga.ready(server) or not tenant or not user then
    return nil
  end
  local known = {}
  return function(object)
    if known[object] == nil then
      known[object] = openfga.owns(server, tenant, user, object)
    end
    return known[object]
  end
end


-- The path of the call below the environment.
local function path_below(policy)
  return sub(kong.request.get_path(), #(policy.prefix or "") + 1)
end


-- The refusal of this call by the rules of its route's version, or nil, and the scope that the caller lacks.
function rules.refused(state, policy, whose)
  local store = policy.rules and state.rules[policy.rules]
  if not store then
    return nil
  end
  local asked = asked_of(state.members, whose)
  asked.owns = state.openfga and owner_check(state.openfga, whose)
  return rules.refusal(store, kong.request.get_method(), path_below(policy), asked)
end


-- The change of owners after a 2xx response to this call: {server, user, tenant, rule, segments}, or nil.
function rules.tracked(state, policy, whose)
  local store = policy.rules and state.rules[policy.rules]
  if not store or not store.tracks or not openfga.ready(state.openfga) then
    return nil
  end
  local segments = plain_segments(path_below(policy))
  local rule = match(store.root, segments, kong.request.get_method())
  local tenant, user = whose.headers["X-Tenant-ID"], user_of(whose)
  if not rule or not tenant or not user or not (rule.remembered or rule.forgotten) then
    return nil
  end
  return { server = state.openfga, user = user, tenant = tenant, rule = rule, segments = segments }
end


return rules
