// SPDX-License-Identifier: Apache-2.0
/**
 * createWriter makes a Writer, which applies objects by server-side apply under its own field manager and skips writes
 * that change nothing. A converged cluster sees no writes, also after a restart.
 *
 * The writer decides from the object whether a write is needed. Its managedFields name the fields that the manager's last
 * apply set. These fields with their current values are compared with the intent, as digests (owned-fields.ts). They
 * differ when someone changed a value, when the intent has a new field, and when it no longer has a field or list entry.
 * Caches keep the digest, so they can drop all other fields.
 *
 * The server can store an intent in another form, such as "0.1" as "100m" or with a default inside an atomic list. Then
 * the digests always differ. The writer therefore remembers the stored form of the last intent (applied-intents.ts). After
 * a start, such an object costs one request that changes nothing, unless the intent is written in the server's form.
 *
 * Usage: `await createWriter({ transport, type, manager: "switchyard-example", cache }).apply({ metadata: { name } }, signal)`.
 */
import { adoptFields } from "./adopt-fields.ts";
import { AppliedIntents, hasIntent, type AppliedIntent } from "./applied-intents.ts";
import { isBehind, type Observations, type ObservedObject } from "../cache/cache.ts";
import type { Clock } from "../clock.ts";
import { equalJson } from "../json/equal-json.ts";
import { cutTexts } from "../json/texts.ts";
import { isKubeError, KubeError } from "../http/kube-error.ts";
import { applyConfiguration, withoutEmpty, type Intent, type StatusIntent, type Wanted } from "./intent.ts";
import {
  isKubeObject,
  isRecord,
  keyOf,
  type KubeObject,
  type ObjectMeta,
  type ObjectName,
  type ResourceType,
} from "../kube-object.ts";
import { intentDigest, observeObject } from "../cache/owned-fields.ts";
import { OtherManagers, type Interference } from "./other-managers.ts";
import { metadataOnly, objectPath, type Transport } from "../http/transport.ts";

/** All methods reject with KubeError. */
export interface Writer<T extends KubeObject> {
  /** Creates or updates the object. Fields of other managers stay, unless the intent has them too. */
  apply(intent: Intent<T>, signal?: AbortSignal, options?: ApplyOptions): Promise<WriteResult>;
  /** Updates the status subresource. Rejects with "NotFound" if the object does not exist. */
  applyStatus(intent: StatusIntent<T>, signal?: AbortSignal): Promise<WriteResult>;
  /**
   * Reports whether the object has the status that this writer has applied last, as far as the cache can know it. False if somebody
   * has changed, removed or replaced it since. True without such a status, and without a cache.
   */
  showsStatus(object: { readonly metadata: ObjectName }): boolean;
  /**
   * Reports whether the cache has the last write of apply(), or a later one. Between taking over the fields of another program and
   * the write, the cache can have a version that is neither the one before nor that of the write. True without such a write.
   */
  shows(object: { readonly metadata: ObjectName }): boolean;
  /** Returns what others do to the fields that this writer applies; undefined without `watchOthers`. */
  interference(object: { readonly metadata: ObjectName }): Interference | undefined;
  /** The same for the status that this writer applies. */
  statusInterference(object: { readonly metadata: ObjectName }): Interference | undefined;
  /**
   * Deletes the object if it still has the given uid and resourceVersion, as far as they are given. Rejects with "Conflict"
   * if it has changed. Succeeds if the object does not exist.
   */
  delete(object: { readonly metadata: ObjectMeta }, signal?: AbortSignal): Promise<void>;
}

export interface ApplyOptions {
  /** False: reject with "Conflict" if another manager owns a field of the intent with another value. Default: true. */
  readonly force?: boolean | undefined;
  /** The object's resourceVersion in the cache. Rejects with "Conflict" if someone else has written the object since. */
  readonly seenVersion?: string | undefined;
}

/** Whether the object has changed, so that its cache will receive an event. */
export type WriteResult = "written" | "unchanged";

export interface WriterOptions {
  readonly transport: Transport;
  readonly type: ResourceType;
  /** Field manager: one for each controller, the same in all releases. */
  readonly manager: string;
  /** Namespace of intents without one. */
  readonly namespace?: string | undefined;
  /** Cache of this type, with `manager` among its managers. Without a cache, each apply starts with a GET. */
  readonly cache?: Observations | undefined;
  /**
   * Field managers of programs that wrote these objects by update before Switchyard. The first write takes over their
   * fields, except metadata, so that fields which the intent does not have are removed.
   */
  readonly adopts?: readonly string[] | undefined;
  /**
   * Clock for interference(). With it, the writer notices who else sets its fields, and lets a pod template or a status that is
   * contested rest for minutes. Answers to writes then are whole objects.
   */
  readonly watchOthers?: Clock | undefined;
}

/** Throws RangeError if the cache does not track the manager. */
export function createWriter<T extends KubeObject>(options: WriterOptions): Writer<T> {
  const { transport, type, manager, cache } = options;
  if (cache?.tracks(manager) === false) throw new RangeError(`the cache of ${type.kind} does not track "${manager}"`);
  const others = options.watchOthers && new OtherManagers(options.watchOthers, manager);
  const context = { ...options, applied: new AppliedIntents(cache), others };
  const { maxStatusTextBytes } = type;
  /** One text that is too long would make the API server refuse the whole status. */
  const fitting = <Status>(status: Status): Status =>
    maxStatusTextBytes === undefined ? status : cutTexts(status, maxStatusTextBytes);

  return {
    apply: ({ metadata, ...fields }, signal, applyOptions) =>
      applyIntent(context, { metadata, fields }, { ...applyOptions, signal }),
    applyStatus: ({ metadata: { name, namespace, uid }, status }, signal) =>
      applyIntent(
        context,
        { metadata: { name, namespace, uid }, fields: { status: fitting(status) }, subresource: "status" },
        { signal },
      ),

    showsStatus({ metadata }) {
      const name = nameIn(options, metadata);
      const last = context.applied.get(intentKey("status", name));
      const seen = cache?.observed(name);
      if (last === undefined || seen === undefined || context.applied.isPending(last)) return true;
      if (seen.resourceVersion === last.resourceVersion) return true;
      return hasIntent(last.digest, { owned: seen.owned(manager, "status"), last });
    },

    shows({ metadata }) {
      const last = context.applied.get(intentKey("", nameIn(options, metadata)));
      return last === undefined || !context.applied.isPending(last);
    },

    interference: ({ metadata }) => others?.interference(intentKey("", nameIn(options, metadata))),
    statusInterference: ({ metadata }) => others?.interference(intentKey("status", nameIn(options, metadata))),

    async delete({ metadata }, signal) {
      if (metadata.deletionTimestamp !== undefined) return;
      const { uid, resourceVersion } = metadata;
      const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid, resourceVersion } };
      const path = objectPath(type, nameIn(options, metadata));
      try {
        await transport.request({ method: "DELETE", path, body, signal });
      } catch (error) {
        if (!isKubeError(error, "NotFound")) throw error;
      }
      others?.forget(intentKey("", nameIn(options, metadata)));
    },
  };
}

function intentKey(subresource: string, name: ObjectName): string {
  return `${subresource}/${keyOf(name)}`;
}

interface Context extends WriterOptions {
  readonly applied: AppliedIntents;
  readonly others: OtherManagers | undefined;
}

interface Call extends ApplyOptions {
  readonly signal: AbortSignal | undefined;
}

async function applyIntent(context: Context, wanted: Wanted, call: Call): Promise<WriteResult> {
  const { transport, type, manager, cache, adopts = [], applied, others } = context;
  const { subresource = "" } = wanted;
  const { force = true, seenVersion, signal } = call;
  const name = nameIn(context, wanted.metadata);
  const body = applyConfiguration(type, name, wanted);
  const digest = intentDigest(body);
  const key = intentKey(subresource, name);
  const last = applied.get(key);
  if (last?.digest === digest && applied.isPending(last)) return "unchanged";

  const seen = cache ? cache.observed(name) : await observeByGet(context, name, signal);
  const owned = seen?.owned(manager, subresource);
  applied.see(key, seen, owned);
  const inherited = adopts.filter((other) => seen?.updatedBy(other, subresource));
  if (inherited.length > 0) {
    await adoptFields({ transport, path: objectPath(type, name), subresource, manager, from: inherited, signal });
  } else if (hasIntent(digest, { owned, last: applied.get(key) }) && others?.mustRetry(key) !== true) {
    return "unchanged";
  }
  const timeless = others && digestWithoutTimes(body, digest);
  // The last write was this intent, and the object does not have it any longer.
  const isChangedByOthers = others !== undefined && seen !== undefined && isRepeated(context, last, timeless, owned);
  if (isChangedByOthers && others.mustHold(key, body)) return "unchanged";
  const changed = isChangedByOthers && others.mustAsk(key) ? await readObject(context, name, signal) : undefined;

  const expected = expectedVersion(seenVersion, last);
  const path = objectPath(type, name, wanted.subresource);
  const stored = await sendApply(context, { path, body, force, expected, signal });
  const resourceVersion = versionOf(stored);
  // The version of an object never decreases, also if it is created again, unless the server has lost writes.
  if ([seen, last].some((known) => known !== undefined && isBehind(resourceVersion, known.resourceVersion))) {
    applied.forget();
    cache?.doubt();
  }
  applied.set(key, { name, digest, timeless, resourceVersion, storedDigest: undefined });
  const isWritten = resourceVersion !== seen?.resourceVersion;
  if (isChangedByOthers && isWritten) others.restored(key, body, changed);
  if (isKubeObject(stored)) others?.applied(key, body, stored);
  return isWritten ? "written" : "unchanged";
}

/** Reports whether the object had this intent, apart from the times of conditions, and does not have the last one any longer. */
function isRepeated(
  { applied }: Context,
  last: AppliedIntent | undefined,
  timeless: string | undefined,
  owned: string | undefined,
): boolean {
  if (last === undefined || last.timeless !== timeless || applied.isPending(last)) return false;
  return !hasIntent(last.digest, { owned, last });
}

/**
 * Returns the digest of an intent without lastTransitionTime in its conditions. A condition that another manager has set to another
 * status gets a new time with each write.
 */
function digestWithoutTimes(body: Readonly<Record<string, unknown>>, digest: string): string {
  const status = body["status"];
  if (!isRecord(status) || !Array.isArray(status["conditions"])) return digest;
  const conditions = status["conditions"].map((condition: unknown) =>
    isRecord(condition) ? { ...condition, lastTransitionTime: undefined } : condition,
  );
  return intentDigest({ ...body, status: { ...status, conditions } });
}

interface ApplyRequest {
  readonly path: string;
  readonly body: ReturnType<typeof applyConfiguration>;
  readonly force: boolean;
  /** The resourceVersion that the object must have; undefined for any. */
  readonly expected: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Returns the object as the server has stored it; only its metadata unless others are watched. */
async function sendApply({ transport, manager, others }: Context, request: ApplyRequest): Promise<unknown> {
  const { path, body, force, expected, signal } = request;
  const send = (content: object, resourceVersion: string | undefined): Promise<unknown> =>
    transport.request({
      method: "PATCH",
      path,
      query: { fieldManager: manager, force },
      contentType: "application/apply-patch+yaml",
      ...(others === undefined && { accept: metadataOnly }),
      body: { ...content, metadata: { ...body.metadata, resourceVersion } },
      signal,
    });
  try {
    return await send(body, expected);
  } catch (error) {
    const lean = withoutEmpty(body);
    if (!isKubeError(error, "Invalid") || equalJson(lean, body)) throw error;
    // When an apply removes all entries of a map that the intent has as an empty map, the server stores null and then
    // rejects it (seen with Kubernetes 1.36). So the entries are removed first, and the empty map is applied after that.
    const emptied = versionOf(await send(lean, expected));
    return send(body, expected && emptied);
  }
}

/** The caller's version may be older than the writer's own last write, which the cache may not have seen yet. */
function expectedVersion(seen: string | undefined, last: AppliedIntent | undefined): string | undefined {
  const isOlder = seen !== undefined && last !== undefined && isBehind(seen, last.resourceVersion);
  return isOlder ? last.resourceVersion : seen;
}

async function observeByGet(
  context: Context,
  name: ObjectName,
  signal?: AbortSignal,
): Promise<ObservedObject | undefined> {
  const object = await readObject(context, name, signal);
  return object && observeObject(object, [context.manager]);
}

/** Returns undefined if the object does not exist. */
async function readObject(
  { transport, type }: Context,
  name: ObjectName,
  signal?: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    const object = await transport.request({ method: "GET", path: objectPath(type, name), signal });
    return isKubeObject(object) ? object : undefined;
  } catch (error) {
    if (isKubeError(error, "NotFound")) return undefined;
    throw error;
  }
}

function nameIn({ type, namespace }: WriterOptions, metadata: ObjectName): ObjectName {
  return type.namespaced
    ? { name: metadata.name, namespace: metadata.namespace ?? namespace }
    : { name: metadata.name };
}

function versionOf(answer: unknown): string {
  if (isKubeObject(answer) && answer.metadata.resourceVersion !== undefined) return answer.metadata.resourceVersion;
  throw new KubeError("apply", "UnexpectedResponse", { words: "the response has no metadata.resourceVersion" });
}
