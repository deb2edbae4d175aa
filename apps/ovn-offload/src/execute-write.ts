// SPDX-License-Identifier: Apache-2.0
/** createExecutor makes the function that sends one OffloadWrite to the API server. Each write can be repeated. */
import {
  configMaps,
  defined,
  dnses,
  machineConfigs,
  networkAttachmentDefinitions,
  nodes,
  sriovNetworkNodePolicies,
  type Node,
  type SriovNetworkNodePolicy,
} from "@switchyard/api";
import { collectionPath, createWriter, metadataOnly, objectPath } from "@switchyard/kube";
import type { KubeObject, Transport } from "@switchyard/kube";
import { ovnOffloadMark, type ConfigMapName, type OffloadNetworkWrite } from "@switchyard/render";
import type { OffloadCaches } from "./caches/offload-caches.ts";
import type { ConfigMapRole, OffloadWrite } from "./decide/observed.ts";
import { fieldManagers } from "./field-managers.ts";
import type { ForeignMachineConfigs } from "./foreign-machine-configs.ts";

export interface ExecutorDeps {
  readonly transport: Transport;
  readonly caches: OffloadCaches;
  readonly namespace: string;
  readonly foreign: ForeignMachineConfigs;
}

/** Rejects with KubeError: "Conflict" if the object has changed since the write was decided. */
export type Execute = (
  write: OffloadWrite,
  maps: Readonly<Record<ConfigMapRole, ConfigMapName>>,
  signal: AbortSignal,
) => Promise<void>;

const manager = fieldManagers.objects;

export function createExecutor({ transport, caches, namespace, foreign }: ExecutorDeps): Execute {
  const nodeWriter = createWriter<Node>({ transport, type: nodes, manager, cache: caches.nodes });
  const policyWriter = createWriter<SriovNetworkNodePolicy>({
    ...{ transport, type: sriovNetworkNodePolicies, manager, namespace, cache: caches.policies },
  });
  const configWriter = createWriter<KubeObject>({
    ...{ transport, type: machineConfigs, manager, cache: caches.machineConfigs },
  });

  return async function execute(write, maps, signal) {
    switch (write.kind) {
      case "label-node":
        // The uid keeps an apply from creating a node that was deleted meanwhile.
        await nodeWriter.apply({ metadata: { name: write.node, uid: write.uid, labels: write.labels } }, signal);
        return;
      case "taint-node":
        await patch(objectPath(nodes, { name: write.node }), {
          metadata: { resourceVersion: write.resourceVersion },
          spec: { taints: write.taints },
        });
        return;
      case "apply-policy": {
        const { metadata, spec } = write.policy;
        const stored = caches.policies.get(metadata.name)?.spec;
        const nodeSelector = selectorPatch(stored?.nodeSelector, spec.nodeSelector);
        const nicSelector = selectorPatch(stored?.nicSelector, spec.nicSelector);
        // An apply keeps keys of selectors that other field managers own.
        if (nodeSelector !== undefined || nicSelector !== undefined) {
          const body = { spec: defined({ nodeSelector, nicSelector }) };
          await patch(objectPath(sriovNetworkNodePolicies, { name: metadata.name, namespace }), body);
        }
        await policyWriter.apply({ metadata, spec }, signal);
        return;
      }
      case "delete-policy":
        await policyWriter.delete(
          { metadata: { name: write.name, namespace, ...defined({ uid: write.uid }) } },
          signal,
        );
        return;
      case "apply-machine-config": {
        const { metadata, spec } = write.config;
        const { name } = metadata;
        const isForeign = caches.machineConfigs.get(name) === undefined && (await foreign.isTaken(name, signal));
        if (!isForeign) await configWriter.apply({ metadata, ...{ spec } }, signal);
        return;
      }
      case "delete-machine-config":
        await configWriter.delete({ metadata: { name: write.name, uid: write.uid } }, signal);
        return;
      case "patch-config-map":
        await patchConfigMap(write, maps[write.role]);
        return;
      case "delete-config-map": {
        const { name, namespace: at } = maps[write.role];
        await createWriter<KubeObject>({ transport, type: configMaps, manager, namespace: at }).delete(
          { metadata: { name, resourceVersion: write.resourceVersion } },
          signal,
        );
        return;
      }
      case "write-network":
        await writeNetwork(write);
        return;
      case "delete-network": {
        const { name, namespace: at, resourceVersion } = write;
        const writer = createWriter<KubeObject>({
          ...{ transport, type: networkAttachmentDefinitions, manager, namespace: at },
        });
        await writer.delete({ metadata: { name, resourceVersion } }, signal);
        return;
      }
      case "patch-dns":
        await patch(objectPath(dnses, { name: "default" }), {
          ...write.patch,
          metadata: { ...write.patch.metadata, resourceVersion: write.resourceVersion },
        });
    }

    async function patch(path: string, body: object): Promise<void> {
      const contentType = "application/merge-patch+json";
      const query = { fieldManager: manager };
      await transport.request({ method: "PATCH", path, query, contentType, accept: metadataOnly, body, signal });
    }

    /** A network that another program creates at the same moment stays: the request is refused. */
    async function writeNetwork({ network, resourceVersion }: OffloadNetworkWrite): Promise<void> {
      const { metadata, spec } = network;
      if (resourceVersion !== undefined) {
        const body = { metadata: { resourceVersion, annotations: metadata.annotations }, spec };
        await patch(objectPath(networkAttachmentDefinitions, metadata), body);
        return;
      }
      const path = collectionPath(networkAttachmentDefinitions, metadata.namespace);
      const query = { fieldManager: manager };
      await transport.request({ method: "POST", path, query, accept: metadataOnly, body: network, signal });
    }

    async function patchConfigMap(
      { resourceVersion, data, annotations }: Extract<OffloadWrite, { readonly kind: "patch-config-map" }>,
      { namespace: at, name }: ConfigMapName,
    ): Promise<void> {
      const address = { name, namespace: at };
      if (resourceVersion !== undefined) {
        await patch(objectPath(configMaps, address), { metadata: { resourceVersion, annotations }, data });
        return;
      }
      const body = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { ...address, labels: ovnOffloadMark, annotations },
        data,
      };
      const path = collectionPath(configMaps, at);
      const query = { fieldManager: manager };
      await transport.request({ method: "POST", path, query, accept: metadataOnly, body, signal });
    }
  };
}

/**
 * Returns a merge patch that makes a selector the wanted one; undefined if it has no other keys. It sets the wanted keys at the same
 * time, so that the policy never selects more than that.
 */
function selectorPatch(stored: object = {}, wanted: object = {}): object | undefined {
  const others = Object.keys(stored).filter((key) => !Object.hasOwn(wanted, key));
  if (others.length === 0) return undefined;
  return { ...Object.fromEntries(others.map((key) => [key, null])), ...wanted };
}
