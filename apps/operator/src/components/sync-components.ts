// SPDX-License-Identifier: Apache-2.0
/**
 * Brings the cluster to what was rendered, object by object: one that is refused does not stop the others.
 * Usage: `const outcome = await syncComponents({ objects, write, log }, rendered.components, signal);`
 */
import { isKubeError, KubeError } from "@switchyard/kube";
import { grantsNodeRights, type InventoryItem, type Manifest, type RenderedComponent } from "@switchyard/render";
import type { Logger } from "@switchyard/service";
import type { ComponentObjects } from "./component-objects.ts";
import type { ComponentWriters } from "./component-writers.ts";
import { nodeIdentityState, rightsAwaited, withheld } from "./node-rights.ts";
import { isRegistration, withIgnorePolicy, hasFailPolicy } from "./webhook-registrations.ts";
import { isServing, pendingRollout } from "./rollout.ts";

export interface SyncDeps {
  readonly objects: ComponentObjects;
  readonly write: ComponentWriters;
  readonly log: Logger;
}

export interface SyncOutcome {
  /** What the API server refused. */
  readonly failures: readonly SyncFailure[];
  /** Objects that are not deployed as they are asked for yet, and will be by themselves; sentences. */
  readonly incomplete: readonly string[];
  /** Pods that are missing of what is deployed, with their counts; sentences. */
  readonly pending: readonly string[];
  /** Something changed while it was looked at: look again. */
  readonly isStale: boolean;
}

export interface SyncFailure {
  readonly kind: string;
  readonly name: string;
  readonly error: unknown;
}

/**
 * Applies what is deployed, removes what of the inventory is not, and leaves what failed to be rendered as it is. Rejects
 * with KubeError when the API server is away.
 */
export async function syncComponents(
  { objects, write, log }: SyncDeps,
  components: readonly RenderedComponent[],
  signal: AbortSignal,
): Promise<SyncOutcome> {
  const failures: SyncFailure[] = [];
  const incomplete: string[] = [];
  const pending: string[] = [];
  let isStale = false;

  for (const component of components) {
    if (component.state === "failed") continue;
    for (const manifest of component.objects) {
      const wanted = isRegistration(manifest) ? registrationFor(manifest, component) : manifest;
      if (wanted === undefined) continue;
      const act = grantsNodeRights(manifest) ? grant : apply;
      await attempt(manifest.kind, manifest.metadata.name, () => act(wanted));
    }
    const leftovers = objects.inventory.filter((item) => {
      return item.component === component.name && !component.objects.some((manifest) => isOf(manifest, item));
    });
    for (const item of inOrderOfRemoval(leftovers)) await attempt(item.type.kind, item.name, () => remove(item));
    pending.push(...component.objects.flatMap((manifest) => rolloutOf(manifest) ?? []));
  }
  return { failures, incomplete: [...new Set(incomplete)], pending, isStale };

  async function attempt(kind: string, name: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      signal.throwIfAborted();
      if (isKubeError(error, "Conflict")) isStale = true;
      else if (isKubeError(error, "ConnectionLost")) throw error;
      else failures.push({ kind, name, error });
    }
  }

  async function apply(manifest: Manifest): Promise<void> {
    const { kind, metadata } = manifest;
    if (!objects.watchOf(objects.itemOf(manifest)).cache.served) {
      throw new KubeError(`apply ${kind} ${metadata.name}`, "NotFound", {
        words: "the API server does not serve this kind",
      });
    }
    if ((await write.apply(manifest, signal)) === "written") log.info({ kind, object: metadata.name }, "applied");
  }

  /** Rights that are there stay while policies that somebody deleted come back, which takes a second. */
  async function grant(manifest: Manifest): Promise<void> {
    const { kind, metadata } = manifest;
    switch (nodeIdentityState(objects, components, failures)) {
      case "enforced":
        await apply(manifest);
        return;
      case "awaited":
        incomplete.push(rightsAwaited);
        return;
      case "refused":
        await remove(objects.itemOf(manifest));
        failures.push({ kind, name: metadata.name, error: withheld });
    }
  }

  async function remove(item: InventoryItem): Promise<void> {
    const seen = objects.seen(item);
    if (seen?.isDeployed !== true || seen.isTerminating) return;
    await write.delete(item, seen, signal);
    log.info({ kind: item.type.kind, object: item.name }, "deleted");
  }

  /** Before a pod of ours serves, nothing is registered, and of what is there nothing begins to refuse what nobody answers. */
  function registrationFor(manifest: Manifest, { name, objects: all }: RenderedComponent): Manifest | undefined {
    const registered = objects.seen(objects.itemOf(manifest));
    if (registered?.failsClosed === true || all.every(serves)) return manifest;
    if (registered === undefined) {
      incomplete.push(`${name} is registered as a webhook once one of its pods is available`);
      return undefined;
    }
    if (!hasFailPolicy(manifest)) return manifest;
    incomplete.push(`requests that ${name} does not answer are admitted until one of its pods is available`);
    return withIgnorePolicy(manifest);
  }

  /** Whether it is no DaemonSet, or one with a pod of ours that answers. */
  function serves(manifest: Manifest): boolean {
    if (manifest.kind !== "DaemonSet") return true;
    const item = objects.itemOf(manifest);
    return write.isObserved(item) && isServing(objects.seen(item)?.rollout);
  }

  function rolloutOf(manifest: Manifest): string | undefined {
    if (manifest.kind !== "DaemonSet") return undefined;
    const item = objects.itemOf(manifest);
    return pendingRollout(item.name, write.isObserved(item) ? objects.seen(item)?.rollout : undefined);
  }
}

/**
 * Removes what the garbage collector does not: without a SriovOperatorConfig nothing is deployed, and what lies outside
 * of namespaces cannot be owned by it. A webhook that is registered and does not serve refuses everything. Rights go before
 * the policies that limit them, which are the first component.
 */
export async function removeUnowned(deps: SyncDeps, signal: AbortSignal): Promise<SyncOutcome> {
  const { objects } = deps;
  const inventory = objects.inventory.filter((item) => {
    const isRight = item.type.kind === "RoleBinding"; // the garbage collector may take it later than its policies
    return item.namespace === undefined || isRight || objects.seen(item)?.hasOwner === false;
  });
  const names = [...new Set(inventory.map(({ component }) => component))].reverse();
  const nothing = names.map((name): RenderedComponent => ({ name, state: "disabled", objects: [] }));
  return syncComponents({ ...deps, objects: { ...objects, inventory } }, nothing, signal);
}

function isOf({ kind, metadata }: Manifest, { type, name }: InventoryItem): boolean {
  return kind === type.kind && metadata.name === name;
}

/** What calls a server goes before the server, and a server before what it is allowed and lives from. */
function inOrderOfRemoval(items: readonly InventoryItem[]): readonly InventoryItem[] {
  return [
    ...items.filter(({ type }) => isRegistration(type)),
    ...items.filter(({ type }) => !isRegistration(type)).reverse(),
  ];
}
