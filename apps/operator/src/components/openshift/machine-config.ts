// SPDX-License-Identifier: Apache-2.0
/**
 * unitsOf reads the systemd units of an OpenShift MachineConfig, which contains an Ignition configuration. It does not
 * trust the input.
 * Usage: `unitsOf(config).some(({ name }) => name === "ovs-vswitchd.service")`.
 */
import { upstreamManager } from "@switchyard/api";
import { isRecord, type KubeObject } from "@switchyard/kube";

/** Label of a MachineConfig that names the MachineConfigPools to which it applies. */
export const roleLabel = "machineconfiguration.openshift.io/role";

export interface ConfiguredUnit {
  readonly name: string;
  readonly contents: string;
  readonly dropIns: readonly { readonly name: string; readonly contents: string }[];
}

/** Fields that are missing or have another type are empty. */
export function unitsOf(config: KubeObject): readonly ConfiguredUnit[] {
  const { units } = recordAt(config, "spec", "config", "systemd");
  return recordsOf(units).map((unit) => ({
    ...namedText(unit),
    dropIns: recordsOf(unit["dropins"]).map(namedText),
  }));
}

/** Reports whether upstream's operator created or changed the object. */
export function wasWrittenByUpstream({ metadata: { managedFields = [] } }: KubeObject): boolean {
  return managedFields.some(({ manager }) => manager === upstreamManager);
}

/** Returns the object at the end of the path, or an empty object. */
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
