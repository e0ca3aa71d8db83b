// A single-page application that signs users in with oidc-client-ts and calls its API below
// its own origin. Its settings are what POST /proxy answered: the issuer and the client id.
const page = (heading) => { document.querySelector('h1').textContent = heading; };
const show = (id) => { document.getElementById(id).hidden = false; };
const tell = (name, value) => {
  const term = document.createElement('dt');
  const text = document.createElement('dd');
  term.textContent = name;
  text.textContent = value;
  text.id = name;
  document.getElementById('facts').append(term, text);
};

async function main() {
  const settings = await (await fetch('/settings.json')).json();
  const manager = new oidc.UserManager({
    authority: settings.issuer,
    client_id: settings.client_id,
    redirect_uri: `${location.origin}/callback`,
    silent_redirect_uri: `${location.origin}/callback`,
    scope: 'openid profile email offline_access',
    loadUserInfo: true,
    automaticSilentRenew: false,
  });
  if (location.pathname === '/callback' && window !== window.parent) {
    await manager.signinSilentCallback(); // in the hidden frame
    return;
  }
  if (location.pathname === '/callback') {
    await manager.signinRedirectCallback();
    history.replaceState(null, '', '/');
  }
  const user = await manager.getUser();
  if (!user) {
    page('Signed out');
    show('sign-in');
    document.getElementById('sign-in').onclick = () => manager.signinRedirect();
    return;
  }
  const answer = await fetch('/api/orders', { headers: { Authorization: `Bearer ${user.access_token}` } });
  tell('status', String(answer.status));
  tell('upstream', await answer.text());
  tell('email', user.profile.email ?? '');
  tell('subject', user.profile.sub);
  page('Signed in');
  show('renew');
  show('ask');
  show('sign-out');
  document.getElementById('ask').onclick = () => attempt(async () => {
    const again = await manager.signinSilent({ forceIframeAuth: true });
    tell('again', again.profile.sub);
    tell('same', String(again.profile.sid === user.profile.sid));
    page('Signed in silently');
  });
  document.getElementById('renew').onclick = () => attempt(async () => {
    const renewed = await manager.signinSilent();
    tell('renewed', String(renewed.access_token !== user.access_token));
    page('Renewed');
  });
  document.getElementById('sign-out').onclick = () => attempt(async () => {
    await manager.revokeTokens(['refresh_token']);
    const refused = await fetch(`${settings.issuer}/userinfo`, {
      headers: { Authorization: `Bearer ${(await manager.getUser()).access_token}` },
    });
    tell('userinfo', String(refused.status));
    await manager.removeUser();
    page('Revoked');
  });
}

async function attempt(step) {
  try {
    await step();
  } catch (error) {
    page(`Failed: ${error.message}`);
  }
}

attempt(main);
