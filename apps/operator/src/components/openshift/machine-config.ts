// SPDX-License-Identifier: Apache-2.0
/**
 * What a MachineConfig of OpenShift says of systemd units: an Ignition configuration, read without trust.
 * Usage: `unitsOf(config).some(({ name }) => name === "ovs-vswitchd.service")`.
 */
import { upstreamManager } from "@switchyard/api";
import { isRecord, type KubeObject } from "@switchyard/kube";

/** Names the MachineConfigPools that take the MachineConfig. */
export const roleLabel = "machineconfiguration.openshift.io/role";

export interface ConfiguredUnit {
  readonly name: string;
  readonly contents: string;
  readonly dropIns: readonly { readonly name: string; readonly contents: string }[];
}

/** What is missing, or of another type, is empty. */
export function unitsOf(config: KubeObject): readonly ConfiguredUnit[] {
  const { units } = recordAt(config, "spec", "config", "systemd");
  return recordsOf(units).map((unit) => ({
    ...namedText(unit),
    dropIns: recordsOf(unit["dropins"]).map(namedText),
  }));
}

/** Whether upstream's operator made or changed it. */
export function wasWrittenByUpstream({ metadata: { managedFields = [] } }: KubeObject): boolean {
  return managedFields.some(({ manager }) => manager === upstreamManager);
}

/** The object at the end of the path; empty where there is none. */
export function recordAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> {
  let inner: unknown = value;
  for (const name of path) inner = isRecord(inner) ? inner[name] : undefined;
  return isRecord(inner) ? inner : {};
}

function recordsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function namedText({ name, contents }: Readonly<Record<string, unknown>>) {
  return {
    name: typeof name === "string" ? name : "",
    contents: typeof contents === "string" ? contents : "",
  };
}
