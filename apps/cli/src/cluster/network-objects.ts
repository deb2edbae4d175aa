// SPDX-License-Identifier: Apache-2.0
/**
 * NetworkObjects are the objects of OpenShift and OVN-Kubernetes that OVN on SmartNICs depends on, in the input: pools, the
 * version of the cluster, and ConfigMaps and the DNS that others also write.
 */
import {
  clusterVersions,
  dnses,
  machineConfigPools,
  networkAttachmentDefinitions,
  type MachineConfigPool,
  type ResourceType,
} from "@switchyard/api";
import {
  defaultOffloadNetwork,
  managementPortForm,
  offloadConfigMaps,
  plainManagementPorts,
  presentOffloadNetwork,
  type ConfigMapName,
  type DnsPlacementSource,
  type PresentOffloadNetwork,
} from "@switchyard/render";
import { isJsonObject, labelOf, textAt, type JsonObject, type Manifest } from "../json.ts";

export interface NetworkObjects {
  readonly machineConfigPools: readonly MachineConfigPool[];
  /** The data of a ConfigMap of networkConfigMaps; empty if it is not in the input. */
  readonly dataOf: (configMap: ConfigMapName) => Readonly<Record<string, string>>;
  /** The annotations of such a ConfigMap. */
  readonly annotationsOf: (configMap: ConfigMapName) => Readonly<Record<string, string>>;
  /** The DNS "default"; one without settings if it is not in the input. */
  readonly dns: DnsPlacementSource;
  /** NetworkAttachmentDefinitions in the namespace in which ovn-offload writes its own. */
  readonly networks: readonly PresentOffloadNetwork[];
  /** OpenShift's version, "4.16.3"; undefined if it is unknown. */
  readonly openshiftVersion: string | undefined;
}

/** The ConfigMaps that OVN-Kubernetes or OpenShift's network operator read. */
export const networkConfigMaps = {
  ...offloadConfigMaps,
  plainManagementPorts: { namespace: "ovn-kubernetes", name: plainManagementPorts },
} as const satisfies Readonly<Record<string, ConfigMapName>>;

const configMapLabels = new Set(
  Object.values(networkConfigMaps).map((name) => labelOf({ kind: "ConfigMap", ...name })),
);

/** `add` returns false for an object that is none of these. If one is given more than once, the last one counts. */
export function createNetworkObjects(): { add(manifest: Manifest): boolean; objects(): NetworkObjects } {
  const pools = new Map<string, MachineConfigPool>();
  const configMaps = new Map<string, JsonObject>();
  const singles = new Map<string, JsonObject>();
  const networks = new Map<string, JsonObject>();
  return {
    add(manifest) {
      const { object, kind, apiVersion, name } = manifest;
      const label = labelOf(manifest);
      if (isPool(object)) pools.set(name, object);
      else if (kind === "ConfigMap" && apiVersion === "v1" && configMapLabels.has(label)) configMaps.set(label, object);
      else if (isOfType(manifest, networkAttachmentDefinitions) && isForPods(manifest)) networks.set(name, object);
      else if (isOfType(manifest, dnses) || isOfType(manifest, clusterVersions)) singles.set(label, object);
      else return false;
      return true;
    },
    objects: () => ({
      machineConfigPools: [...pools.values()],
      dataOf: (configMap) => textsIn(configMaps.get(labelOf({ kind: "ConfigMap", ...configMap }))?.["data"]),
      annotationsOf(configMap) {
        const metadata = configMaps.get(labelOf({ kind: "ConfigMap", ...configMap }))?.["metadata"];
        return textsIn(isJsonObject(metadata) ? metadata["annotations"] : undefined);
      },
      networks: [...networks].map(([name, { metadata, spec }]) => {
        const { labels, annotations } = isJsonObject(metadata) ? metadata : {};
        const texts = { labels: textsIn(labels), annotations: textsIn(annotations) };
        return presentOffloadNetwork({ metadata: { name, ...texts }, ...(isJsonObject(spec) && { spec }) });
      }),
      dns: toDns(singles.get("DNS/default")),
      openshiftVersion: versionOf(singles.get("ClusterVersion/version")),
    }),
  };
}

/** selectOffloadPools expects other types in the spec of a pool. */
function isPool(object: unknown): object is MachineConfigPool {
  const { group, version, kind } = machineConfigPools;
  return (
    isJsonObject(object) &&
    object["kind"] === kind &&
    object["apiVersion"] === `${group}/${version}` &&
    Boolean(textAt(object["metadata"], "name"))
  );
}

function isOfType({ kind, apiVersion }: Manifest, type: ResourceType): boolean {
  return kind === type.kind && apiVersion === `${type.group}/${type.version}`;
}

function isForPods({ namespace = "default" }: Manifest): boolean {
  return namespace === defaultOffloadNetwork.namespace;
}

/** The members of a map that are texts. */
function textsIn(value: unknown): Readonly<Record<string, string>> {
  const members = isJsonObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(members.flatMap(([key, text]) => (typeof text === "string" ? [[key, text]] : [])));
}

function toDns(object: JsonObject | undefined): DnsPlacementSource {
  const { metadata, spec } = object ?? {};
  const placement = isJsonObject(spec) ? spec["nodePlacement"] : undefined;
  const managementState = textAt(spec, "managementState");
  const nodeSelector = isJsonObject(placement) ? placement["nodeSelector"] : undefined;
  const tolerations = isJsonObject(placement) ? placement["tolerations"] : undefined;
  return {
    metadata: { annotations: textsIn(isJsonObject(metadata) ? metadata["annotations"] : undefined) },
    spec: {
      ...(managementState !== undefined && { managementState }),
      ...(isJsonObject(placement) && {
        nodePlacement: {
          ...(nodeSelector !== undefined && { nodeSelector: textsIn(nodeSelector) }),
          ...(Array.isArray(tolerations) && { tolerations: tolerations.map(textsIn) }),
        },
      }),
    },
  };
}

/** The version that the cluster has, or updates to. */
function versionOf(object: JsonObject | undefined): string | undefined {
  const status = object?.["status"];
  return textAt(isJsonObject(status) ? status["desired"] : undefined, "version");
}

/** Reports whether OpenShift's network operator reads the resource of VF 0, and not ovnkube its name. */
export function readsManagementResource({ openshiftVersion }: Pick<NetworkObjects, "openshiftVersion">): boolean {
  return managementPortForm(openshiftVersion) === "resource";
}
