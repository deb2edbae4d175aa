// SPDX-License-Identifier: Apache-2.0
/**
 * unitsOf reads the systemd units of an OpenShift MachineConfig, which contains an Ignition configuration. It does not
 * trust the input.
 * Usage: `unitsOf(config).some(({ name }) => name === "ovs-vswitchd.service")`.
 */
import { upstreamManager } from "@switchyard/api";
import { isRecord, type KubeObject, recordAt } from "@switchyard/kube";

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

function recordsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function namedText({ name, contents }: Readonly<Record<string, unknown>>) {
  return {
    name: typeof name === "string" ? name : "",
    contents: typeof contents === "string" ? contents : "",
  };
}
