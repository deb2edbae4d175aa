// SPDX-License-Identifier: Apache-2.0
/**
 * readOffload reads what ovn-offload has written, and everything that must be restored when nothing is selected any more.
 */
import {
  conditionTypes,
  labels,
  machineConfigs,
  nodes as nodeType,
  operatorConfigName,
  sriovNetworkNodePolicies,
  sriovOperatorConfigs,
} from "@switchyard/api";
import { collectionPath, isRecord, objectPath } from "@switchyard/kube";
import { operatorNamespace } from "../fleet/fleet-objects.ts";
import type { PlainClient } from "../harness/plain-client.ts";
import { openshiftNamespaces } from "./offload-objects.ts";

export interface OffloadView {
  /** Nodes with the label of their pool. */
  readonly marked: number;
  /** Nodes with the label of the network operator. */
  readonly labelled: number;
  /** Keys in the ConfigMap ovn-management-ports. */
  readonly published: number;
  /** MachineConfigs of ovn-offload. */
  readonly machineConfigs: number;
  readonly policies: number;
  readonly isDnsPlaced: boolean;
  /** Status of the condition HardwareOffload; undefined if it does not exist. */
  readonly condition: unknown;
  /** All labels and taints of nodes, policies, MachineConfigs, ConfigMaps, DNS and the status, for comparisons. */
  readonly all: string;
}

const managedBy = "app.kubernetes.io/managed-by=switchyard-ovn-offload";

export async function readOffload(client: PlainClient): Promise<OffloadView> {
  const read = async (path: string): Promise<Fields> =>
    fields(JSON.parse(await client.request({ method: "GET", path })));
  const list = async (path: string) => items(await read(path));
  const nodes = (await list(collectionPath(nodeType))).map(({ metadata, spec }) => ({
    name: fields(metadata)["name"],
    labels: fields(fields(metadata)["labels"]),
    taints: fields(spec)["taints"],
  }));
  const configs = await list(`${collectionPath(machineConfigs)}?labelSelector=${encodeURIComponent(managedBy)}`);
  const policies = await list(collectionPath(sriovNetworkNodePolicies, operatorNamespace));
  const maps: Fields[] = [];
  for (const namespace of openshiftNamespaces) maps.push(...(await list(`/api/v1/namespaces/${namespace}/configmaps`)));
  const ports = maps.find(({ metadata }) => fields(metadata)["name"] === "ovn-management-ports");
  const dns = await read("/apis/operator.openshift.io/v1/dnses/default");
  const address = { name: operatorConfigName, namespace: operatorNamespace };
  const { status } = await read(objectPath(sriovOperatorConfigs, address));
  const { conditions } = fields(status);
  const condition = (Array.isArray(conditions) ? conditions.map(fields) : []).find(({ type }) => {
    return type === conditionTypes.hardwareOffload;
  });
  const placement = JSON.stringify(fields(dns["spec"])["nodePlacement"] ?? {});
  const has = (label: string) => nodes.filter((node) => Object.hasOwn(node.labels, label)).length;
  const named = [...configs, ...policies].map(({ kind, metadata, spec }) => [kind, fields(metadata)["name"], spec]);
  const data = maps.map(({ metadata, data: content }) => [fields(metadata)["name"], content]);
  const { annotations } = fields(dns["metadata"]);
  return {
    marked: has(labels.ovnOffloadPool),
    labelled: has("network.operator.openshift.io/dpu-host"),
    machineConfigs: configs.length,
    policies: policies.length,
    published: Object.keys(fields(ports?.["data"])).length,
    isDnsPlaced: placement.includes("switchyard.io/dns-eligible"),
    condition: condition?.["status"],
    all: JSON.stringify({ nodes, named, data, dns: [annotations, dns["spec"]], status: fields(status) }),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function items({ items: all }: Fields): readonly Fields[] {
  return Array.isArray(all) ? all.map(fields) : [];
}
