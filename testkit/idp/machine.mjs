// Gets a token for a machine as the certified openid-client does: takes issuer, client id,
// secret, scope and resource, and prints the token endpoint's answer, or its error.
import { webcrypto } from 'node:crypto';

globalThis.crypto ??= webcrypto; // Debian 12 has Node.js 18, which lacks it
const client = await import('openid-client');

const [issuer, id, secret, scope, resource] = process.argv.slice(2);
const config = await client.discovery(new URL(issuer), id, secret, client.ClientSecretBasic(secret), {
  execute: [client.allowInsecureRequests],
});
const answer = await client
  .clientCredentialsGrant(config, { scope, resource })
  .catch((refused) => ({ error: refused.error }));
console.log(JSON.stringify(answer));
process.exit(0);
