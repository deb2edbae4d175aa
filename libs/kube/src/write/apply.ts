// SPDX-License-Identifier: Apache-2.0
/**
 * Writes what a controller wants by server-side apply, under a field manager of its own, and only when something
 * differs: a converged cluster sees no writes, also after a restart.
 *
 * What differs is asked of the object. Its managedFields say which fields our last apply set; these, with their values of
 * now, are what stands of our intent. Where that is not what we want now, the intent is sent: a value that someone
 * changed, a field or list entry that we no longer want, and a new one all show. Caches keep a digest of it, so they may
 * project all else away (owned-fields.ts).
 *
 * A server can store an intent in other words ("0.1" as "100m", a default within an atomic list), and then it differs
 * for ever. So what became of the last intent is remembered here: after a start, such an object costs one request that
 * changes nothing. Who writes intents as the server would costs none.
 *
 * Usage: `await writer.apply({ metadata: { name }, spec }, signal)`.
 */
import { adoptFields } from "./adopt-fields.ts";
import type { Observations, Observed } from "../cache/cache.ts";
import { equalJson } from "../json/equal-json.ts";
import { isKubeError, KubeError } from "../http/kube-error.ts";
import { applyConfiguration, withoutEmpty, type Intent, type StatusIntent, type Wanted } from "./intent.ts";
import {
  isKubeObject,
  keyOf,
  type KubeObject,
  type ObjectMeta,
  type ObjectName,
  type ResourceType,
} from "../kube-object.ts";
import { intentDigest, observe } from "./owned-fields.ts";
import { objectPath } from "../http/resource-path.ts";
import { isBehind } from "../cache/resource-version.ts";
import { metadataOnly, type Transport } from "../http/transport.ts";

/** Rejects with KubeError. */
export interface Writer<T extends KubeObject> {
  /** Creates the object or makes it so; what other managers own stays, unless the intent has it too. */
  apply(intent: Intent<T>, signal?: AbortSignal, options?: ApplyOptions): Promise<WriteResult>;
  /** The same for the status subresource. "NotFound" if there is no such object. */
  applyStatus(intent: StatusIntent<T>, signal?: AbortSignal): Promise<WriteResult>;
  /**
   * Asks for the deletion of this very object as it was seen: with its uid and resourceVersion, as far as given.
   * "Conflict" if it has changed since: look again. That it is gone already is success.
   */
  delete(object: { readonly metadata: ObjectMeta }, signal?: AbortSignal): Promise<void>;
}

export interface ApplyOptions {
  /** "Conflict", instead of taking fields over, where other managers own some of the intent's with other values. */
  readonly force?: boolean;
  /** resourceVersion as the cache has it: "Conflict" if somebody else has written the object since. */
  readonly seenVersion?: string;
}

/** Whether the object has changed, so that its cache will hear of it. */
export type WriteResult = "written" | "unchanged";

export interface WriterOptions {
  readonly transport: Transport;
  readonly type: ResourceType;
  /** The field manager; one for each controller, the same over all releases. */
  readonly manager: string;
  /** For intents that name none. */
  readonly namespace?: string;
  /** Of this type, with `manager` among its managers. Without it, each apply begins with a GET. */
  readonly cache?: Observations;
  /**
   * Programs that wrote such objects before us, by update, under these field managers. What they own of an object
   * becomes ours when we first write it, so that what we do not want of it goes; their metadata stays as it is.
   */
  readonly adopts?: readonly string[];
}

export function createWriter<T extends KubeObject>(options: WriterOptions): Writer<T> {
  const { transport, type, manager, namespace, cache, adopts = [] } = options;
  const lastApplied = new Map<string, Applied>();
  let tidyAt = tidyLeast;
  if (cache?.tracks(manager) === false) throw new RangeError(`the cache of ${type.kind} does not track "${manager}"`);

  return {
    apply: ({ metadata, ...fields }, signal, options) => apply({ metadata, fields }, signal, options),
    applyStatus: ({ metadata: { name, namespace, uid }, status }, signal) =>
      apply({ metadata: { name, namespace, ...(uid && { uid }) }, fields: { status }, subresource: "status" }, signal),

    async delete({ metadata }, signal) {
      if (metadata.deletionTimestamp !== undefined) return;
      const { uid, resourceVersion } = metadata;
      const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid, resourceVersion } };
      try {
        await transport.request({ method: "DELETE", path: objectPath(type, placed(metadata)), body, signal });
      } catch (error) {
        if (!isKubeError(error, "NotFound")) throw error;
      }
    },
  };

  async function apply(
    wanted: Wanted,
    signal?: AbortSignal,
    { force = true, seenVersion }: ApplyOptions = {},
  ): Promise<WriteResult> {
    const { subresource = "" } = wanted;
    const name = placed(wanted.metadata);
    const body = applyConfiguration(type, name, wanted);
    const digest = intentDigest(body);
    const key = `${subresource}/${keyOf(name)}`;

    const last = lastApplied.get(key);

    if (last?.digest === digest && isUnderWay(last)) return "unchanged";
    const seen = cache ? cache.observed(name) : await read(name, signal);
    const inherited = adopts.filter((other) => seen?.updatedBy(other, subresource));
    if (inherited.length > 0) {
      await adoptFields({ transport, path: objectPath(type, name), subresource, manager, from: inherited, signal });
    } else if (stands(digest, seen?.owned(manager, subresource), seen, last)) return "unchanged";

    const send = (content: object, expected = expectedVersion(seenVersion, last)) =>
      transport.request({
        method: "PATCH",
        path: objectPath(type, name, wanted.subresource),
        query: { fieldManager: manager, force },
        contentType: "application/apply-patch+yaml",
        accept: metadataOnly,
        body: { ...content, metadata: { ...body.metadata, resourceVersion: expected } },
        signal,
      });
    const answer = await send(body).catch(async (error: unknown) => {
      const lean = withoutEmpty(body);
      if (!isKubeError(error, "Invalid") || equalJson(lean, body)) throw error;
      // A map whose entries all go, but which is wanted empty, becomes null on the server, which then refuses that (seen
      // on 1.36). First the entries, then: an empty map.
      const emptied = versionOf(await send(lean));
      return send(body, seenVersion && emptied);
    });
    const resourceVersion = versionOf(answer);
    remember(key, { name, digest, resourceVersion, became: undefined });
    return resourceVersion === seen?.resourceVersion ? "unchanged" : "written";
  }

  /** Objects come and go, and nobody applies to those that are gone: they are forgotten whenever there are twice as many. */
  function remember(key: string, applied: Applied): void {
    lastApplied.set(key, applied);
    if (cache === undefined || lastApplied.size < tidyAt) return;
    for (const [other, last] of lastApplied) {
      if (cache.observed(last.name) === undefined && !isUnderWay(last)) lastApplied.delete(other);
    }
    tidyAt = Math.max(tidyLeast, 2 * lastApplied.size);
  }

  /** The caller knows the object from the cache, which may not have heard of our own last write. */
  function expectedVersion(seen: string | undefined, last: Applied | undefined): string | undefined {
    return seen !== undefined && last !== undefined && isBehind(seen, last.resourceVersion)
      ? last.resourceVersion
      : seen;
  }

  /** Whether the cache has yet to hear of it. */
  function isUnderWay(applied: Applied): boolean {
    return cache?.position !== undefined && isBehind(cache.position, applied.resourceVersion);
  }

  /** Whether the intent of this digest was applied and holds. */
  function stands(digest: string, owned: string | undefined, seen: Observed | undefined, last?: Applied): boolean {
    if (owned === digest) return true;
    if (last?.digest !== digest) return false;
    if (seen?.resourceVersion === last.resourceVersion) last.became = owned;
    return owned !== undefined && owned === last.became;
  }

  async function read(name: ObjectName, signal?: AbortSignal): Promise<Observed | undefined> {
    try {
      const object = await transport.request({ method: "GET", path: objectPath(type, name), signal });
      return isKubeObject(object) ? observe(object, [manager]) : undefined;
    } catch (error) {
      if (isKubeError(error, "NotFound")) return undefined;
      throw error;
    }
  }

  function placed(metadata: ObjectName): ObjectName {
    return type.namespaced
      ? { name: metadata.name, namespace: metadata.namespace ?? namespace }
      : { name: metadata.name };
  }
}

/** What was sent last for an object. */
interface Applied {
  readonly name: ObjectName;
  readonly digest: string;
  readonly resourceVersion: string;
  /** Digest of the fields that were ours when the server had taken it. */
  became: string | undefined;
}

// How many to remember before it is worth a look which of them are gone.
const tidyLeast = 256;

function versionOf(answer: unknown): string {
  if (isKubeObject(answer) && answer.metadata.resourceVersion !== undefined) return answer.metadata.resourceVersion;
  throw new KubeError("read the answer to an apply", "UnexpectedResponse");
}
