// Asks an issuer about tokens as the certified openid-client does for a client with a
// secret: takes issuer, client id and secret, reads a token a line and prints the answer to
// each. "revoke TOKEN" revokes one first.
import { createInterface } from 'node:readline';
import { webcrypto } from 'node:crypto';

globalThis.crypto ??= webcrypto; // Debian 12 has Node.js 18, which lacks it
const client = await import('openid-client');

const [issuer, id, secret] = process.argv.slice(2);
const config = await client.discovery(new URL(issuer), id, secret, client.ClientSecretBasic(secret), {
  execute: [client.allowInsecureRequests],
});
for await (const line of createInterface({ input: process.stdin })) {
  const [token, revoke] = line.split(' ').reverse();
  if (revoke) await client.tokenRevocation(config, token);
  console.log(JSON.stringify(await client.tokenIntrospection(config, token)));
}
process.exit(0);
