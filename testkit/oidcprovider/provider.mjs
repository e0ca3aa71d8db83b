// Runs the certified oidc-provider on a free port of 127.0.0.1, with dynamic
// client registration (RFC 7591) and its own development pages for signing in.
// Prints its issuer on one line and ends with its standard input, so that it
// does not outlive the test that started it.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

process.stdin.resume();
process.stdin.on('end', () => process.exit(0));

// Any name signs in. What is known of a person follows from the name.
async function findAccount(_, name) {
  const claims = {
    sub: name,
    name: `${name} of the issuer`,
    email: `${name}@example.com`,
    email_verified: !name.startsWith('unverified'),
  };
  return { accountId: name, claims: async () => claims };
}

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    findAccount,
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    features: { registration: { enabled: true }, introspection: { enabled: true }, revocation: { enabled: true } },
    // As most issuers do it: claims in the ID token, not only at userinfo.
    conformIdTokenClaims: false,
    pkce: { required: () => false },
    cookies: { keys: ['of no value: the process ends with the test'] },
  });
  server.on('request', provider.callback());
  console.log(issuer);
});
