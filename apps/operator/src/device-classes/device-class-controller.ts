// SPDX-License-Identifier: Apache-2.0
/**
 * startDeviceClassController starts "device-classes", which keeps the class of all VFs and one DeviceClass for each resource of the
 * policies, while a node gives VFs to ResourceClaims. Pods that request such a resource in `resources.limits` get a claim of its class.
 *
 * Classes of other operators with these names are taken over; claims and templates name them. A class is deleted if Switchyard manages
 * it, and neither a policy nor the spec of a node has its resource, or no node uses claims any longer. So a class stays while nodes keep
 * their configuration because policies may have been lost. Classes that users have written under other names stay.
 */
import { deviceClasses, labels, type DeviceClass, type SriovNetworkNodePolicy } from "@switchyard/api";
import {
  createWriter,
  equalJson,
  fromCache,
  type Cache,
  type CacheChange,
  type Reconcile,
  type Writer,
} from "@switchyard/kube";
import { renderDeviceClasses } from "@switchyard/render";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import { changesUseOfNode, changesUseOfPool, usesClaims } from "../facts/claim-use.ts";
import { fieldManagers } from "../field-managers.ts";
import type { OperatorContext } from "../operator-context.ts";

export interface DeviceClassDeps {
  readonly classes: Pick<Cache<DeviceClass>, "list">;
  readonly policies: Pick<Cache<SriovNetworkNodePolicy>, "list">;
  readonly states: { readonly list: () => readonly Pick<CachedNodeState, "spec">[] };
  readonly resourcePrefix: string;
  /** Returns undefined while there is no SriovOperatorConfig: then nothing is written. */
  readonly usesClaims: () => boolean | undefined;
  readonly writer: Pick<Writer<DeviceClass>, "apply" | "delete">;
}

/** The only key: a name can depend on other resources. */
const allClasses = "all";

const managed = { key: labels.managedBy, value: "switchyard-operator" };

export function createDeviceClassReconciler({ classes, policies, states, ...deps }: DeviceClassDeps): Reconcile {
  return async function reconcile(_key, signal) {
    const usesClaims = deps.usesClaims();
    if (usesClaims === undefined) return undefined;
    const resourceNames = [
      ...policies.list().map(({ spec }) => spec.resourceName),
      ...states.list().flatMap(resourcesOf),
    ];
    const wanted = usesClaims ? renderDeviceClasses({ prefix: deps.resourcePrefix, resourceNames }) : [];
    for (const { metadata, spec } of wanted) {
      const own = { ...metadata.labels, [managed.key]: managed.value };
      await deps.writer.apply({ metadata: { name: metadata.name, labels: own }, spec }, signal);
    }
    const names = new Set(wanted.map(({ metadata }) => metadata.name));
    for (const { metadata } of classes.list()) {
      const isOurs = metadata.labels?.[managed.key] === managed.value;
      if (isOurs && !names.has(metadata.name)) await deps.writer.delete({ metadata: { name: metadata.name } }, signal);
    }
    return undefined;
  };
}

/** The resources of the spec of a node, which can be several times in it. */
function resourcesOf({ spec }: Pick<CachedNodeState, "spec">): readonly string[] {
  const groups = (spec.interfaces ?? []).flatMap(({ vfGroups = [] }) => vfGroups);
  return groups.flatMap(({ resourceName }) => resourceName || []);
}

function changesResources({ before, after }: CacheChange<CachedNodeState>): boolean {
  if (before?.spec === after?.spec) return false; // the cache shares what is equal
  return !equalJson(before && resourcesOf(before), after && resourcesOf(after));
}

export function startDeviceClassController(context: OperatorContext): void {
  const { transport, caches, settings, rules } = context;
  const { deviceClasses: classes, policies, pools, states, operatorConfigs } = caches;
  context.start({
    name: "device-classes",
    parallel: 1,
    reads: [classes, policies, pools, states, operatorConfigs],
    reconcile: createDeviceClassReconciler({
      classes,
      policies,
      states,
      resourcePrefix: settings.components.resourcePrefix,
      usesClaims: () => (rules() === undefined ? undefined : usesClaims(context)),
      writer: createWriter<DeviceClass>({
        transport,
        type: deviceClasses,
        manager: fieldManagers.deviceClasses,
        cache: classes,
      }),
    }),
    sources: [
      fromCache(classes, () => [allClasses]),
      fromCache(policies, ({ before, after }) =>
        before?.spec.resourceName === after?.spec.resourceName ? [] : [allClasses],
      ),
      fromCache(pools, (change) => (changesUseOfPool(change) ? [allClasses] : [])),
      fromCache(states, (change) => (changesUseOfNode(change) || changesResources(change) ? [allClasses] : [])),
      fromCache(operatorConfigs, ({ before, after }) => (equalJson(before?.spec, after?.spec) ? [] : [allClasses])),
    ],
  });
}
