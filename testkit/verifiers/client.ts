// Calls a server with the client that openapi-typescript makes of its OpenAPI document. Types are checked when it is
// compiled, so that a schema that a generator can't read is found there.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const base = process.argv[2]!;
const anonymous = createClient<paths>({ baseUrl: base });

function must<T>(what: string, answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) {
    throw new Error(`${what}: ${JSON.stringify(answer.error)}`);
  }
  return answer.data;
}

const created = must(
  "create a proxy",
  await anonymous.POST("/proxy", {
    body: { target: "http://127.0.0.1:9", name: "shop", requests_auth: { mode: "authenticate" } },
  }),
);
const api = createClient<paths>({ baseUrl: base, headers: { Authorization: `Bearer ${created.workspace_key}` } });
const project = created.project.id;

const key = must(
  "create a key",
  await api.POST("/api/v1/projects/{project}/keys", {
    params: { path: { project } },
    body: { owner: "billing", limits: { minute: 60 } },
  }),
);
if (!key.key.startsWith("pst_")) {
  throw new Error("the answer has no key");
}

const changed = must(
  "change the key",
  await api.PATCH("/api/v1/keys/{key}", {
    params: { path: { key: key.id }, header: { "If-Match": key.etag } },
    body: { description: "For the invoices" },
  }),
);
const limits: Record<string, number> | null = changed.limits;
if (limits?.minute !== 60) {
  throw new Error(`limits: ${JSON.stringify(limits)}`);
}

const owners: string[] = [];
let cursor: string | undefined;
do {
  const page = must(
    "list keys",
    await api.GET("/api/v1/projects/{project}/keys", {
      params: { path: { project }, query: { limit: 1, cursor } },
    }),
  );
  owners.push(...page.items.map((one) => one.owner));
  cursor = page.next_cursor ?? undefined;
} while (cursor !== undefined);

const { error } = await api.POST("/api/v1/projects/{project}/keys", {
  params: { path: { project } },
  body: { owner: "" },
});
const problem: components["schemas"]["Problem"] | undefined = error;

console.log(JSON.stringify({ owners: owners.sort(), refused: problem?.errors?.[0]?.pointer }));
