// A real provider of OpenID Connect (npm `oidc-provider`) on 127.0.0.1: node oidc_real.mjs MODULES PORT RETURN SKEW
// MODULES is the folder with `oidc-provider` in it, RETURN where browsers are sent back to, SKEW how many seconds its
// clock is ahead. Whoever signs in there with any password is who they say they are.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, port, back, skew] = process.argv.slice(2);
const now = Date.now;
Date.now = () => now() + Number(skew) * 1000;

const found = createRequire(`${modules}/`).resolve("oidc-provider");
const { Provider } = await import(pathToFileURL(found));
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: "maia-tests", client_secret: "a+secret of the tests", redirect_uris: [back] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.org`, email_verified: id !== "mallory", name: `${id} Élan` }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
