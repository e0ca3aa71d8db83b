// Runs the certified oidc-provider on a free port of 127.0.0.1, with dynamic
// client registration (RFC 7591) and its own development pages for signing in.
// Prints its issuer on one line and ends with its standard input, so that it
// does not outlive the test that started it.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import Provider from 'oidc-provider';

const commands = createInterface({ input: process.stdin });
commands.on('close', () => process.exit(0));

// The newest key comes first: it is the one that signs.
const keys = [];
function addKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  keys.unshift({ ...privateKey.export({ format: 'jwk' }), kid: `key-${keys.length + 1}`, use: 'sig', alg: 'RS256' });
}

// Any name signs in. What is known of a person follows from the name.
async function findAccount(_, name) {
  const claims = {
    sub: name,
    name: `${name} of the issuer`,
    email: `${name}@example.com`,
    email_verified: name.startsWith('unstated') ? undefined : !name.startsWith('unverified'),
  };
  return { accountId: name, claims: async () => claims };
}

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const start = () => new Provider(issuer, {
    jwks: { keys },
    findAccount,
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    features: { registration: { enabled: true }, introspection: { enabled: true }, revocation: { enabled: true } },
    // As most issuers do it: claims in the ID token, not only at userinfo.
    conformIdTokenClaims: false,
    pkce: { required: () => false },
    cookies: { keys: ['of no value: the process ends with the test'] },
  });
  addKey();
  let answer = start().callback();
  server.on('request', (req, res) => answer(req, res));
  // What is registered outlives a provider: the package keeps it for all of them.
  commands.on('line', (line) => {
    if (line !== 'rotate') return;
    addKey();
    answer = start().callback();
    console.log('rotated');
  });
  console.log(issuer);
});
