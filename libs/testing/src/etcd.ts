// SPDX-License-Identifier: Apache-2.0
/**
 * The one thing that tests ask of etcd itself: to forget its past, so that a watch from an old resourceVersion is
 * answered 410 Gone. Through etcd's JSON gateway, `/v3/kv/*` (etcd API v3).
 * Usage: `const revision = await compactEtcd("http://127.0.0.1:2379")`
 */
import { TestingError } from "./testing-error.ts";

/** Drops all history up to the present revision, which it returns; the present objects stay. */
export async function compactEtcd(url: string): Promise<number> {
  const { header } = await post(`${url}/v3/kv/range`, { key: Buffer.of(0).toString("base64"), count_only: true });
  const revision = Number(header?.revision);
  if (!Number.isSafeInteger(revision)) throw new TestingError("etcd", `${url}: an answer without a revision`);
  await post(`${url}/v3/kv/compaction`, { revision: `${revision}`, physical: true });
  return revision;
}

interface EtcdAnswer {
  /** int64, so a string in JSON. */
  readonly header?: { readonly revision?: string };
}

async function post(url: string, body: object): Promise<EtcdAnswer> {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  const answer: unknown = await response.json();
  if (response.ok && typeof answer === "object" && answer !== null) return answer;
  throw new TestingError("etcd", `POST ${url}: ${response.status} ${JSON.stringify(answer)}`);
}
