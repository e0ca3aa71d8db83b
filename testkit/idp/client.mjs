// Signs in as the certified openid-client would for an application: takes issuer,
// client id and redirect URI, prints the address that the browser goes to, reads
// the address it comes back to, and prints what it then has, each on one line. In the
// end it revokes all that.
import { createInterface } from 'node:readline';
import { webcrypto } from 'node:crypto';

globalThis.crypto ??= webcrypto; // Debian 12 has Node.js 18, which lacks it
const client = await import('openid-client');

const [issuer, id, redirect] = process.argv.slice(2);
const config = await client.discovery(new URL(issuer), id, undefined, client.None(), {
  execute: [client.allowInsecureRequests],
});
const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const nonce = client.randomNonce();
console.log(client.buildAuthorizationUrl(config, {
  redirect_uri: redirect, scope: 'openid profile email offline_access', state, nonce,
  code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
}).href);

const { value: back } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
const tokens = await client.authorizationCodeGrant(config, new URL(back), {
  pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true,
});
const claims = tokens.claims();
const info = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
await client.tokenRevocation(config, refreshed.refresh_token);
const after = await client
  .fetchUserInfo(config, refreshed.access_token, claims.sub)
  .catch((refused) => refused.cause?.[0]?.parameters?.error);
console.log(JSON.stringify({ sub: claims.sub, email: info.email, again: refreshed.claims().sub, after }));
process.exit(0);
