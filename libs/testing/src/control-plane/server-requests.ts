// SPDX-License-Identifier: Apache-2.0
/**
 * compactEtcd compacts etcd, so that a watch from an old resourceVersion fails with 410 Gone. It uses the JSON gateway of
 * etcd (API v3, path /v3/kv).
 */
import { request } from "node:https";
import type { KeyPair } from "./certificates.ts";
import { TestingError } from "../testing-error.ts";

/** Drops the history up to the current revision and returns that revision. Current objects stay. */
export async function compactEtcd(url: string): Promise<number> {
  const { header } = await post(`${url}/v3/kv/range`, { key: Buffer.of(0).toString("base64"), count_only: true });
  const revision = Number(header?.revision);
  if (!Number.isSafeInteger(revision)) throw new TestingError("etcd", `${url}: the response has no revision`);
  await post(`${url}/v3/kv/compaction`, { revision: `${revision}`, physical: true });
  return revision;
}

interface EtcdAnswer {
  /** int64, which is a string in JSON. */
  readonly header?: { readonly revision?: string };
}

async function post(url: string, body: object): Promise<EtcdAnswer> {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  const answer: unknown = await response.json();
  if (response.ok && typeof answer === "object" && answer !== null) return answer;
  throw new TestingError("etcd", `POST ${url}: ${response.status} ${JSON.stringify(answer)}`);
}

/**
 * probe requests a path of an API server and returns only the HTTP status, to find out when the server is ready.
 * Resolves with the HTTP status, or undefined without a response within two seconds.
 */
export function probe(url: string, credentials: KeyPair & { readonly ca: string }): Promise<number | undefined> {
  return new Promise((resolve) => {
    const sent = request(url, { ...credentials, agent: false, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => {
      resolve(undefined);
    });
    sent.end();
  });
}
