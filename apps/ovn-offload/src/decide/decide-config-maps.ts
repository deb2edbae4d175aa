// SPDX-License-Identifier: Apache-2.0
/**
 * decideConfigMaps decides about the ConfigMaps by which OVN-Kubernetes finds the management ports. Keys of others stay to the
 * byte. A ConfigMap that ovn-offload created is deleted once it is empty.
 */
import { labels } from "@switchyard/api";
import {
  envOverridesPatch,
  managementPortCount,
  managementPortForm,
  managementPortsPatch,
  managementResource,
  managementResourceKey,
  ownKeyAnnotation,
  type ManagementPortCount,
} from "@switchyard/render";
import { isPrepared, needsShared, type AssignedHost } from "./host.ts";
import type { ConfigMapRole, ObservedCluster, ObservedConfigMap, OffloadWrite } from "./observed.ts";

export interface ConfigMapDecision {
  readonly writes: readonly OffloadWrite[];
  /** Name of the management ports' resource; undefined if the cluster's network operator uses none. */
  readonly resource: string | undefined;
  readonly problems: readonly string[];
}

export function decideConfigMaps(observed: ObservedCluster, hosts: readonly AssignedHost[]): ConfigMapDecision {
  const { managementPorts, envOverrides, hardwareOffload } = observed.configMaps;
  const form = formOf(observed);
  const published = new Set(hosts.filter(isPublishable).map(({ name }) => name));
  const kept = new Set(hosts.filter((host) => !published.has(host.name) && keepsKey(host)).map(({ name }) => name));
  const ports = managementPortsPatch(managementPorts.present?.data ?? {}, { published, kept });
  const usesLines = form === "name";
  const lines = envOverridesPatch(envOverrides.present?.data ?? {}, {
    published: usesLines ? published : new Set(),
    // A cluster that was upgraded keeps the lines of its hosts until they leave: both forms name the same interface.
    kept: usesLines ? kept : new Set([...kept, ...published]),
  });
  const isWanted = form === "resource" && hosts.some(needsShared);
  const data = hardwareOffload.present?.data ?? {};
  const isOwnKey = hardwareOffload.present?.annotations[ownKeyAnnotation] === managementResourceKey;
  const chosen = managementResource(data, { prefix: observed.resourcePrefix, isWanted, isOwn: isOwnKey });
  const setsKey = typeof chosen.patch[managementResourceKey] === "string";
  const note = setsKey && !isOwnKey ? managementResourceKey : !isWanted && isOwnKey ? null : undefined;
  return {
    writes: [
      ...write("managementPorts", managementPorts, ports.patch),
      ...write("envOverrides", envOverrides, lines.patch),
      ...write(
        "hardwareOffload",
        hardwareOffload,
        chosen.patch,
        note === undefined ? {} : { [ownKeyAnnotation]: note },
      ),
    ],
    resource: chosen.resource,
    problems: [
      ...(chosen.problem === undefined ? [] : [chosen.problem]),
      ...foreignKeys("ovn-management-ports", ports.foreign),
      ...foreignKeys("env-overrides", lines.foreign),
    ],
  };
}

/**
 * Returns how many VFs of each host are management ports. Only the network operator that finds them by their resource reads the
 * setting.
 */
export function managementPortsPerHost(observed: ObservedCluster): ManagementPortCount {
  if (formOf(observed) !== "resource") return { count: 1 };
  return managementPortCount(observed.configMaps.hardwareOffload.present?.data ?? {});
}

/**
 * Returns in which form OVN-Kubernetes reads management ports; undefined outside of OpenShift. While the version is not known, because the
 * ClusterVersion or its kind is absent, the form stays the one of the labels that hosts have.
 */
function formOf({ machineConfigPools, openshiftVersion, nodes }: ObservedCluster): "name" | "resource" | undefined {
  if (machineConfigPools === undefined) return undefined;
  const hasResource = nodes.some(({ metadata }) => metadata.labels?.[labels.ovnManagementResource] !== undefined);
  return openshiftVersion === undefined && hasResource ? "resource" : managementPortForm(openshiftVersion);
}

/** Reports whether nothing of ovn-offload is left in the ConfigMap of the network operator. */
export function isResourceRestored({ hardwareOffload }: ObservedCluster["configMaps"]): boolean {
  return hardwareOffload.present?.annotations[ownKeyAnnotation] === undefined;
}

function isPublishable(host: AssignedHost): boolean {
  const { direction, marker, pool, isApplied, isNamed, isPublished } = host;
  if (direction !== "enter" || marker !== pool) return false;
  return isPublished || (isApplied === true && isNamed && isPrepared(host));
}

/** A key that exists stays while the node has the label that makes OVN-Kubernetes read it. */
function keepsKey({ direction, isApplied, isLabelled }: AssignedHost): boolean {
  return direction !== "leave" || isLabelled || isApplied !== false;
}

function write(
  role: ConfigMapRole,
  { isPossible, present }: ObservedConfigMap,
  data: Readonly<Record<string, string | null>>,
  annotations: Readonly<Record<string, string | null>> = {},
): readonly OffloadWrite[] {
  if (!isPossible || Object.keys(data).length + Object.keys(annotations).length === 0) return emptied(role, present);
  if (present === undefined && Object.values(data).every((value) => value === null)) return [];
  return [{ kind: "patch-config-map", role, resourceVersion: present?.metadata.resourceVersion, data, annotations }];
}

function emptied(role: ConfigMapRole, present: ObservedConfigMap["present"]): readonly OffloadWrite[] {
  if (present?.isOwn !== true || Object.keys(present.data).length > 0) return [];
  return [{ kind: "delete-config-map", role, resourceVersion: present.metadata.resourceVersion }];
}

function foreignKeys(name: string, nodes: readonly string[]): readonly string[] {
  if (nodes.length === 0) return [];
  return [`ConfigMap ${name} has another value for ${nodes.slice(0, 4).join(", ")}, which was set by another program`];
}
