// SPDX-License-Identifier: Apache-2.0
/**
 * syncComponents applies rendered components and removes disabled ones, object by object. A refused object does not
 * stop the others.
 */
import { isKubeError, KubeError } from "@switchyard/kube";
import {
  grantsNodeRights,
  runsOnlyWithVfs,
  type InventoryItem,
  type Manifest,
  type RenderedComponent,
} from "@switchyard/render";
import type { Logger } from "@switchyard/service";
import type { ComponentObjects, SyncFailure } from "./component-objects.ts";
import type { ComponentWriters } from "./component-writers.ts";
import { reasonToWait } from "./driver-take-over.ts";
import { nodeIdentityState, rightsAwaited, withheld } from "./node-identity-state.ts";
import { isServing, pendingRollout } from "./rollout.ts";
import { hasFailPolicy, isRegistration, withIgnorePolicy } from "./webhook-registrations.ts";

export interface SyncDeps {
  readonly objects: ComponentObjects;
  readonly write: ComponentWriters;
  readonly log: Logger;
  /** Returns the number of nodes that do not have the label of the driver of ResourceClaims yet, and are to have it. */
  readonly countNodesWithoutDriver: () => number;
}

export interface SyncOutcome {
  /** Objects that the API server refused. */
  readonly failures: readonly SyncFailure[];
  /** Sentences about objects that are not deployed yet and will be without further action. */
  readonly incomplete: readonly string[];
  /** Sentences about DaemonSets with missing or outdated pods, with counts. */
  readonly pending: readonly string[];
  /** Names of these DaemonSets, without those that no node can run. */
  readonly lacking: readonly string[];
  /** Sentences about objects whose fields admission has replaced. */
  readonly replaced: readonly string[];
  /** Sentences about DaemonSets that can run on no node. */
  readonly unplaced?: readonly string[];
  /** Whether an object changed during the pass, so that another pass is needed. */
  readonly isStale: boolean;
}

/**
 * Applies the objects of deployed components, removes the objects of the inventory that are not rendered, and leaves
 * components whose rendering failed, and those that have to wait, unchanged. Rejects with KubeError if the API server is not reachable.
 */
export async function syncComponents(
  deps: SyncDeps,
  components: readonly RenderedComponent[],
  signal: AbortSignal,
): Promise<SyncOutcome> {
  const { objects } = deps;
  const pass: Pass = {
    ...deps,
    components,
    signal,
    failures: [],
    incomplete: [],
    pending: [],
    lacking: [],
    replaced: [],
    isStale: false,
  };

  for (const component of components) {
    if (component.state === "failed") continue;
    const wait = reasonToWait(deps, component);
    if (wait !== undefined) {
      pass.incomplete.push(wait);
      continue;
    }
    await openRegistrations(pass, component);
    for (const manifest of component.objects) {
      const wanted = isRegistration(manifest) ? registrationFor(pass, manifest, component) : manifest;
      if (wanted === undefined) continue;
      const act = grantsNodeRights(manifest) ? grant : apply;
      await attempt(pass, manifest.kind, manifest.metadata.name, () => act(pass, wanted));
    }
    const leftovers = objects.inventory.filter((item) => {
      return item.component === component.name && !component.objects.some((manifest) => isOf(manifest, item));
    });
    for (const item of inOrderOfRemoval(leftovers)) {
      await attempt(pass, item.type.kind, item.name, () => remove(pass, item));
    }
    for (const manifest of component.objects) {
      const { sentence, lacksPods } = rolloutOf(pass, manifest);
      if (sentence !== undefined) pass.pending.push(sentence);
      if (lacksPods) pass.lacking.push(manifest.metadata.name);
    }
  }
  const { failures, incomplete, pending, lacking, replaced, isStale } = pass;
  return { failures, incomplete: [...new Set(incomplete)], pending, lacking, replaced, isStale };
}

/**
 * Removes the objects that the garbage collector does not remove when the SriovOperatorConfig is gone: it cannot own
 * cluster-scoped objects. A webhook registration without a server would block all requests that it selects. Permissions
 * are removed before the policies that limit them, which are the first component.
 */
export async function removeUnowned(deps: SyncDeps, signal: AbortSignal): Promise<SyncOutcome> {
  const { objects } = deps;
  const inventory = objects.inventory.filter((item) => {
    const grantsRights = item.type.kind === "RoleBinding"; // the garbage collector may delete it later than the policies
    return item.namespace === undefined || grantsRights || objects.seen(item)?.hasOwner === false;
  });
  const names = [...new Set(inventory.map(({ component }) => component))].reverse();
  const nothing = names.map((name): RenderedComponent => ({ name, state: "disabled", objects: [] }));
  return syncComponents({ ...deps, objects: { ...objects, inventory } }, nothing, signal);
}

/** One call of syncComponents, with the outcome so far. */
interface Pass extends SyncDeps {
  readonly components: readonly RenderedComponent[];
  readonly signal: AbortSignal;
  readonly failures: SyncFailure[];
  readonly incomplete: string[];
  readonly pending: string[];
  readonly lacking: string[];
  readonly replaced: string[];
  isStale: boolean;
}

async function attempt(pass: Pass, kind: string, name: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    pass.signal.throwIfAborted();
    if (isKubeError(error, "Conflict")) pass.isStale = true;
    else if (isKubeError(error, "ConnectionLost")) throw error;
    else pass.failures.push({ kind, name, error });
  }
}

async function apply({ objects, write, log, signal, failures, replaced }: Pass, manifest: Manifest): Promise<void> {
  const { kind, metadata } = manifest;
  if (!objects.watchOf(objects.itemOf(manifest)).cache.served) {
    const words = "the API server does not serve this kind";
    throw new KubeError(`apply ${kind} ${metadata.name}`, "NotFound", { words });
  }
  if ((await write.apply(manifest, signal)) === "written") log.info({ kind, object: metadata.name }, "applied");
  const { kind: what, message = "" } = write.interference(manifest) ?? {};
  if (what === "contested") failures.push({ kind, name: metadata.name, error: message });
  if (what === "replaced") replaced.push(`${kind} ${metadata.name}: ${message}`);
}

/**
 * Applies an object that grants permissions to nodes, once the policies that limit them are in force. Permissions stay
 * while deleted policies are recreated, which takes a second.
 */
async function grant(pass: Pass, manifest: Manifest): Promise<void> {
  const { objects, components, failures, incomplete } = pass;
  const { kind, metadata } = manifest;
  switch (nodeIdentityState(objects, components, failures)) {
    case "enforced":
      await apply(pass, manifest);
      return;
    case "awaited":
      incomplete.push(rightsAwaited);
      return;
    case "refused":
      await remove(pass, objects.itemOf(manifest));
      failures.push({ kind, name: metadata.name, error: withheld });
  }
}

async function remove({ objects, write, log, signal }: Pass, item: InventoryItem): Promise<void> {
  const seen = objects.seen(item);
  if (seen?.isDeployed !== true || seen.isTerminating) return;
  await write.delete(item, seen, signal);
  log.info({ kind: item.type.kind, object: item.name }, "deleted");
}

/**
 * Lets upstream's registrations ignore failures before any object of the component changes. The first change replaces the pods
 * that answer, and this operator can end after it. It is a write of its own: apply() first takes over upstream's fields, and a
 * registration with failurePolicy Fail that is this operator's counts as one that its pods serve.
 */
async function openRegistrations(pass: Pass, { objects: manifests }: RenderedComponent): Promise<void> {
  const { objects, write, log, signal } = pass;
  for (const manifest of manifests.filter(isRegistration)) {
    const item = objects.itemOf(manifest);
    const registered = objects.seen(item);
    if (registered?.refuses !== true || registered.failsClosed) continue;
    const { kind } = manifest;
    await attempt(pass, kind, item.name, async () => {
      await write.ignoreFailures(item, signal);
      log.info(
        { kind, object: item.name },
        "upstream's registration ignores failures until a pod of this operator serves",
      );
    });
  }
}

/**
 * Returns the webhook registration to apply. Until a pod of the component serves, a new registration is not created,
 * and an existing one ignores failures, so that requests are not refused because no server answers.
 */
function registrationFor(pass: Pass, manifest: Manifest, component: RenderedComponent): Manifest | undefined {
  const { objects, incomplete } = pass;
  const registered = objects.seen(objects.itemOf(manifest));
  if (registered?.failsClosed === true || component.objects.every((object) => serves(pass, object))) return manifest;
  if (registered === undefined) {
    incomplete.push(`${component.name} is registered as a webhook once one of its pods is available`);
    return undefined;
  }
  if (!hasFailPolicy(manifest)) return manifest;
  incomplete.push(`requests that ${component.name} does not answer are admitted until one of its pods is available`);
  return withIgnorePolicy(manifest);
}

/** Reports whether the object is not a DaemonSet, or a DaemonSet with a pod of the current spec that serves. */
function serves({ objects, write }: Pass, manifest: Manifest): boolean {
  if (manifest.kind !== "DaemonSet") return true;
  const item = objects.itemOf(manifest);
  return write.isObserved(item) && isServing(objects.seen(item)?.rollout);
}

function rolloutOf(
  { objects, write }: Pass,
  manifest: Manifest,
): { readonly sentence: string | undefined; readonly lacksPods: boolean } {
  if (manifest.kind !== "DaemonSet") return { sentence: undefined, lacksPods: false };
  const item = objects.itemOf(manifest);
  const rollout = write.isObserved(item) ? objects.seen(item)?.rollout : undefined;
  const sentence = pendingRollout(item.name, rollout, !runsOnlyWithVfs(manifest));
  return { sentence, lacksPods: sentence !== undefined && rollout !== undefined && rollout.desired > 0 };
}

function isOf({ kind, metadata }: Manifest, { type, name }: InventoryItem): boolean {
  return kind === type.kind && metadata.name === name;
}

/** Registrations are removed before their server, and a server before its permissions and configuration. */
function inOrderOfRemoval(items: readonly InventoryItem[]): readonly InventoryItem[] {
  return [
    ...items.filter(({ type }) => isRegistration(type)),
    ...items.filter(({ type }) => !isRegistration(type)).reverse(),
  ];
}
