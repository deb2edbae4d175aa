// SPDX-License-Identifier: Apache-2.0
/**
 * mergeMachineConfigs merges MachineConfigs as OpenShift's machine config operator does (smartnic.md 2.2): those with the role
 * worker first, each group by name. Later values that are not null win for each field of a unit and for each file; drop-ins and kernel arguments
 * add up.
 * Usage: `const spec = mergeMachineConfigs(configs);`
 */
import { labels, type LabelSelector } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";

type Fields = Readonly<Record<string, unknown>>;

/** The parts of a MachineConfig that are merged. */
export interface MachineConfigSource {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: unknown;
}

export interface MergedMachineConfig {
  readonly config: {
    readonly ignition: { readonly version: string };
    readonly storage?: { readonly files: readonly Fields[] };
    readonly systemd?: { readonly units: readonly Fields[] };
  };
  readonly kernelArguments?: readonly string[];
}

export function mergeMachineConfigs(configs: readonly MachineConfigSource[]): MergedMachineConfig {
  const rank = ({ metadata: { labels: own = {}, name } }: MachineConfigSource): string =>
    `${own[labels.machineConfigRole] === "worker" ? 0 : 1} ${name}`;
  const sorted = configs.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
  const specs = sorted.map(({ spec }) => fields(spec));
  const ignitions = specs.map(({ config }) => fields(config));
  const files = mergeBy(
    "path",
    ignitions.flatMap(({ storage }) => list(fields(storage)["files"])),
  );
  const units = mergeBy(
    "name",
    ignitions.flatMap(({ systemd }) => list(fields(systemd)["units"])),
    mergeUnit,
  );
  const kernelArguments = specs.flatMap(({ kernelArguments: texts }) =>
    Array.isArray(texts) ? texts.map(String) : [],
  );
  return {
    config: {
      ignition: { version: "3.5.0" },
      ...(files.length > 0 && { storage: { files } }),
      ...(units.length > 0 && { systemd: { units } }),
    },
    ...(kernelArguments.length > 0 && { kernelArguments }),
  };
}

function mergeUnit(older: Fields, newer: Fields): Fields {
  const dropins = mergeBy("name", [...list(older["dropins"]), ...list(newer["dropins"])]);
  return { ...older, ...withoutNulls(newer), ...(dropins.length > 0 && { dropins }) };
}

/** Merges objects that have the same text in the field `key`. The order is that of their first appearance. */
function mergeBy(
  key: string,
  all: readonly Fields[],
  merge: (older: Fields, newer: Fields) => Fields = (older, newer) => ({ ...older, ...withoutNulls(newer) }),
): readonly Fields[] {
  const merged = new Map<unknown, Fields>();
  for (const each of all) {
    const older = merged.get(each[key]);
    merged.set(each[key], older === undefined ? each : merge(older, each));
  }
  return [...merged.values()];
}

function withoutNulls(newer: Fields): Fields {
  return Object.fromEntries(Object.entries(newer).filter(([, value]) => value !== null));
}

function fields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function list(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Whether the machine config operator takes an object with these labels. An absent or empty selector selects nothing. */
export function selects(selector: LabelSelector | undefined, labels: Readonly<Record<string, string>>): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  if (Object.keys(matchLabels).length + matchExpressions.length === 0) return false;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      switch (operator) {
        case "In":
          return value !== undefined && values.includes(value);
        case "NotIn":
          return value === undefined || !values.includes(value);
        case "Exists":
          return value !== undefined;
        case "DoesNotExist":
          return value === undefined;
      }
    })
  );
}
