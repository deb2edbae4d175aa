// SPDX-License-Identifier: Apache-2.0
/**
 * createOidcAuthenticator implements the auth-provider "oidc": it sends the id-token of the kubeconfig and refreshes it
 * when it has expired. The one of KubeConfig 2.0.1 cannot refresh. It passes the issuer to openid-client as a string
 * (https://github.com/kubernetes-client/javascript/issues/2202) and omits the client-secret. For a private authority it
 * returns an object that openid-client does not accept as a Response. New refresh tokens stay in memory; the file is
 * not written.
 */
import type { KubeConfig } from "@kubernetes/client-node";
import { readFile } from "node:fs/promises";
import type { OutgoingHttpHeaders } from "node:http";
import * as openid from "openid-client";
import { Agent, fetch } from "undici";
import { trustPublicAuthorities } from "../http/connections.ts";
import { reloadMs } from "../http/credentials.ts";
import { isRecord } from "../kube-object.ts";
import { messageOf } from "./kubeconfig-fields.ts";

type Authenticator = Parameters<KubeConfig["addAuthenticator"]>[0];

/** Name of the provider of users for this authenticator. For the name "oidc", KubeConfig uses its own one. */
export const oidcProviderName = "openid-connect";

/** Returns an authenticator that keeps the tokens of one user. */
export function createOidcAuthenticator(): Authenticator {
  let refreshed: { readonly idToken: string; readonly refreshToken: string | undefined } | undefined;
  return {
    isAuthProvider: ({ authProvider }) => isRecord(authProvider) && authProvider["name"] === oidcProviderName,
    async applyAuthentication({ authProvider }, options: { headers?: OutgoingHttpHeaders }) {
      const config: unknown = isRecord(authProvider) ? authProvider["config"] : undefined;
      const fields = readFields(isRecord(config) ? config : {});
      refreshed ??= { idToken: fields.idToken, refreshToken: fields.refreshToken };
      if (isExpired(refreshed.idToken)) refreshed = await refresh(fields, refreshed.refreshToken);
      options.headers = { ...options.headers, Authorization: `Bearer ${refreshed.idToken}` };
    },
  };
}

interface OidcFields {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly idToken: string;
  readonly refreshToken: string | undefined;
  readonly authority: { readonly data: string } | { readonly file: string } | undefined;
}

function readFields(config: Readonly<Record<string, unknown>>): OidcFields {
  const text = (name: string) => (typeof config[name] === "string" ? config[name] : "");
  const data = text("idp-certificate-authority-data");
  const file = text("idp-certificate-authority");
  return {
    issuer: text("idp-issuer-url"),
    clientId: text("client-id"),
    clientSecret: text("client-secret") || undefined,
    idToken: text("id-token"),
    refreshToken: text("refresh-token") || undefined,
    authority: data ? { data } : file ? { file } : undefined,
  };
}

async function refresh({ issuer, clientId, clientSecret, authority }: OidcFields, refreshToken: string | undefined) {
  const server = URL.parse(issuer);
  if (refreshToken === undefined || server === null || clientId === "") {
    throw new Error(
      "the id-token has expired or is missing; to refresh it, set refresh-token, client-id and idp-issuer-url",
    );
  }
  if (authority === undefined) trustPublicAuthorities();
  const custom = authority && { [openid.customFetch]: fetchTrusting(await readAuthority(authority)) };
  try {
    const client = await openid.discovery(server, clientId, clientSecret, undefined, custom);
    const { id_token: idToken, refresh_token: next = refreshToken } = await openid.refreshTokenGrant(
      client,
      refreshToken,
    );
    if (idToken === undefined) throw new Error("the response has no id_token");
    return { idToken, refreshToken: next };
  } catch (error) {
    throw new Error(`refresh the id-token at ${server.origin}: ${messageOf(error)}${oauthError(error)}`);
  }
}

/** Returns the OAuth error code, such as "invalid_grant" (RFC 6749 5.2). */
function oauthError(thrown: unknown): string {
  return isRecord(thrown) && typeof thrown["error"] === "string" ? ` (${thrown["error"]})` : "";
}

/** Returns the certificate in PEM format. */
async function readAuthority(authority: NonNullable<OidcFields["authority"]>): Promise<string> {
  return "data" in authority ? Buffer.from(authority.data, "base64").toString() : readFile(authority.file, "utf8");
}

function fetchTrusting(ca: string): openid.CustomFetch {
  const dispatcher = new Agent({ connect: { ca } });
  return async (url, { body, headers, method, redirect, signal }) => {
    const request = { body: body ?? null, headers, method, redirect, signal: signal ?? null };
    const answer = await fetch(url, { ...request, dispatcher });
    return new Response(await answer.text(), { status: answer.status, headers: [...answer.headers] });
  };
}

/** Reports whether the token may expire before the next load. The API server verifies its signature. */
function isExpired(idToken: string): boolean {
  try {
    const claims: unknown = JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString());
    return isRecord(claims) && typeof claims["exp"] === "number" && claims["exp"] * 1000 - reloadMs <= Date.now();
  } catch {
    return true;
  }
}
