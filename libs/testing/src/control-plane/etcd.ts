// SPDX-License-Identifier: Apache-2.0
/**
 * What tests do to the data of an etcd beside its API server: compact it, remember it, and bring it back to what was
 * remembered. The requests are those of the JSON gateway (API v3, path /v3/kv), in which keys and values are base64.
 */
import { TestingError } from "../testing-error.ts";

/** The objects in etcd, by key. */
export type EtcdData = ReadonlyMap<string, EtcdValue>;

interface EtcdValue {
  readonly value: string;
  readonly revision: string;
}

/**
 * The objects of the API server. It has another key, compact_rev_key, of which it remembers the version: without it, it ends
 * at its next compaction.
 */
const objects = { from: "/registry/", to: "/registry0" };
/** etcd's default for --max-txn-ops. */
const operationsAtOnce = 128;
/** The API server creates and deletes these for the definitions of kinds. Deleted by others, they are created again. */
const derived = { from: "/registry/apiregistration.k8s.io/", to: "/registry/apiregistration.k8s.io0" };
/** What the API server itself writes again and again. */
const volatile = ["/registry/leases/", "/registry/masterleases/", "/registry/events/"];

/** Drops the history up to the current revision and returns that revision. Current objects stay. */
export async function compactEtcd(url: string): Promise<number> {
  const { header } = await post(url, "range", { key: base64(objects.from), count_only: true });
  const revision = Number(header?.revision);
  if (!Number.isSafeInteger(revision)) throw new TestingError("etcd", `${url}: the response has no revision`);
  await post(url, "compaction", { revision: `${revision}`, physical: true });
  return revision;
}

/** Reads all objects, in the order of the keys. */
export async function readEtcd(url: string, keysOnly: "keys" | "values" = "values"): Promise<EtcdData> {
  const { kvs = [] } = await post(url, "range", {
    key: base64(objects.from),
    range_end: base64(objects.to),
    keys_only: keysOnly === "keys",
  });
  return new Map(kvs.map(({ key, value = "", mod_revision: revision }) => [key, { value, revision }]));
}

/**
 * Deletes all keys that are not in `data`, and writes the values of those that were written since, except what the API server
 * writes itself. Watches of the API server see these as changes. Returns the deleted keys, as texts, and the data with its
 * present revisions.
 */
export async function resetEtcd(url: string, data: EtcdData): Promise<{ deleted: readonly string[]; data: EtcdData }> {
  const before = await readEtcd(url, "keys");
  const bounds = [objects.from, ...[...data.keys()].map(text), derived.from, derived.to].toSorted(inOrderOfBytes);
  const gaps = bounds
    .map((from, at) => ({ from, to: bounds[at + 1] ?? objects.to }))
    .filter(({ from }) => from < derived.from || from >= derived.to)
    .map(({ from, to }) => ({ request_delete_range: { key: base64(`${from}\0`), range_end: base64(to) } }));
  const changed = [...data].filter(([key, { revision }]) => !isVolatile(key) && before.get(key)?.revision !== revision);
  const puts = changed.map(([key, { value }]) => ({ request_put: { key, value } }));
  const operations = [...gaps, ...puts];
  for (let at = 0; at < operations.length; at += operationsAtOnce) {
    await post(url, "txn", { success: operations.slice(at, at + operationsAtOnce) });
  }
  const after = await readEtcd(url, "keys");
  return {
    deleted: [...before.keys()].filter((key) => !data.has(key)).map(text),
    data: new Map(
      [...data].map(([key, { value, revision }]) => [key, { value, revision: after.get(key)?.revision ?? revision }]),
    ),
  };
}

/** Whether both have the same revisions of the same keys, except what the API server writes itself. */
export function isSameData(one: EtcdData, other: EtcdData): boolean {
  const lasting = (data: EtcdData) => [...data].filter(([key]) => !isVolatile(key));
  const others = lasting(other);
  return (
    lasting(one).length === others.length && others.every(([key, { revision }]) => one.get(key)?.revision === revision)
  );
}

function isVolatile(key: string): boolean {
  const path = text(key);
  return volatile.some((prefix) => path.startsWith(prefix));
}

interface EtcdAnswer {
  /** int64 is a string in JSON. */
  readonly header?: { readonly revision?: string };
  readonly kvs?: readonly { readonly key: string; readonly value?: string; readonly mod_revision: string }[];
}

async function post(url: string, method: string, body: object): Promise<EtcdAnswer> {
  const response = await fetch(`${url}/v3/kv/${method}`, { method: "POST", body: JSON.stringify(body) });
  const answer: unknown = await response.json();
  if (response.ok && typeof answer === "object" && answer !== null) return answer;
  throw new TestingError("etcd", `POST ${url}/v3/kv/${method}: ${response.status} ${JSON.stringify(answer)}`);
}

function inOrderOfBytes(one: string, other: string): number {
  return Buffer.from(one).compare(Buffer.from(other));
}

function base64(key: string): string {
  return Buffer.from(key).toString("base64");
}

function text(key: string): string {
  return Buffer.from(key, "base64").toString();
}
