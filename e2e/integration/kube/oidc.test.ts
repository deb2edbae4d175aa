// SPDX-License-Identifier: Apache-2.0
/** Tests the auth-provider "oidc" with an identity provider in this process. */
import { describe, expect, it } from "@jest/globals";
import { createServer } from "node:https";
import { text } from "node:stream/consumers";
import { createAuthority } from "@switchyard/testing";
import { readKubeconfig } from "@switchyard/kube/kubeconfig";
import { TemporaryDirectory } from "@switchyard/kube/testing";

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Returns a token without a valid signature, which only the API server would verify. */
function idToken(issuer: string, id: string, expiresMs: number): string {
  const seconds = (ms: number) => Math.floor(ms / 1000);
  const claims = { iss: issuer, sub: "alice", aud: "kube", jti: id, iat: seconds(Date.now()), exp: seconds(expiresMs) };
  return `${encode({ alg: "RS256" })}.${encode(claims)}.${encode({ signature: id })}`;
}

/** Starts an identity provider that returns the next token for each refresh token and accepts each only once. */
async function startProvider({ lifeMs = 3_600_000 } = {}) {
  const authority = createAuthority("idp");
  const grants: string[] = [];
  const server = createServer(authority.issueServer(["127.0.0.1"]), (request, response) => {
    void (async () => {
      const form = new URLSearchParams(await text(request));
      const json = { "content-type": "application/json" };
      if (request.url === "/.well-known/openid-configuration") {
        response.writeHead(200, json).end(JSON.stringify({ issuer: url, token_endpoint: `${url}/token` }));
      } else if (form.get("refresh_token") === `refresh-${grants.length}`) {
        grants.push(form.toString());
        const id_token = idToken(url, `id-${grants.length}`, Date.now() + lifeMs);
        const tokens = { access_token: "a", token_type: "bearer", id_token, refresh_token: `refresh-${grants.length}` };
        response.writeHead(200, json).end(JSON.stringify({ ...tokens, expires_in: 3600 }));
      } else {
        response.writeHead(400, json).end(JSON.stringify({ error: "invalid_grant" }));
      }
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `https://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  return {
    url,
    authority: authority.cert,
    /** Bodies of the token requests. */
    grants,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Provider = Awaited<ReturnType<typeof startProvider>>;

/** Returns the credentials of a kubeconfig with a token that expires at `expiresMs`. */
async function logIn(provider: Provider, expiresMs: number, more: object = {}) {
  const config = {
    "idp-issuer-url": provider.url,
    "client-id": "kube",
    "idp-certificate-authority": "idp.crt",
    "id-token": idToken(provider.url, "id-0", expiresMs),
    "refresh-token": "refresh-0",
    ...more,
  };
  const kubeconfig = {
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: "https://api" } }],
    users: [{ name: "u", user: { "auth-provider": { name: "oidc", config } } }],
  };
  const directory = await TemporaryDirectory.of({ config: JSON.stringify(kubeconfig), "idp.crt": provider.authority });
  const { credentials } = await readKubeconfig([directory.file("config")]);
  if (credentials === undefined) throw new TypeError("no credentials");
  return {
    credentials,
    token: async () => String((await credentials.current()).headers["authorization"]),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

/** Returns the id of a token of idToken(). */
function idOf(header: string): unknown {
  const claims: unknown = JSON.parse(Buffer.from(header.split(".")[1] ?? "", "base64url").toString());
  return typeof claims === "object" && claims !== null && "jti" in claims ? claims.jti : undefined;
}

describe("oidc", () => {
  it("uses the id-token of the file while it is valid", async () => {
    await using provider = await startProvider();
    await using it = await logIn(provider, Date.now() + 3_600_000);
    expect(idOf(await it.token())).toBe("id-0");
    expect(provider.grants).toEqual([]);
  });

  it("refreshes an expired id-token and keeps the new one while it is valid", async () => {
    await using provider = await startProvider();
    await using it = await logIn(provider, Date.now() - 60_000);
    expect(idOf(await it.token())).toBe("id-1");
    it.credentials.refused(); // the credentials are loaded again, as after a minute
    expect(idOf(await it.token())).toBe("id-1");
    expect(provider.grants).toHaveLength(1);
  });

  it("sends the client-secret and the next refresh token", async () => {
    await using provider = await startProvider({ lifeMs: 1_000 });
    await using it = await logIn(provider, Date.now() - 60_000, { "client-secret": "s3cret" });
    expect(idOf(await it.token())).toBe("id-1");
    it.credentials.refused();
    expect(idOf(await it.token())).toBe("id-2");
    const [first, second] = provider.grants.map((body) => Object.fromEntries(new URLSearchParams(body)));
    expect(first).toMatchObject({ client_id: "kube", client_secret: "s3cret", refresh_token: "refresh-0" });
    expect(second).toMatchObject({ refresh_token: "refresh-1" });
  });

  it("rejects with BadConfig when the identity provider rejects the refresh", async () => {
    await using provider = await startProvider();
    await using it = await logIn(provider, Date.now() - 60_000, { "refresh-token": "old" });
    await expect(it.token()).rejects.toMatchObject({ code: "BadConfig" });
    await expect(it.token()).rejects.toThrow(/user "u": refresh the id-token at https:.*invalid_grant/);
  });

  it("rejects with BadConfig when the token has expired and there is no refresh token", async () => {
    await using provider = await startProvider();
    await using it = await logIn(provider, Date.now() - 60_000, { "refresh-token": "" });
    await expect(it.token()).rejects.toThrow("the id-token has expired or is missing");
  });

  it("rejects with the connection error when the identity provider is not reachable", async () => {
    const provider = await startProvider();
    await using it = await logIn(provider, Date.now() - 60_000);
    await provider[Symbol.asyncDispose]();
    await expect(it.token()).rejects.toThrow(/user "u": .*ECONNREFUSED/);
  });
});
