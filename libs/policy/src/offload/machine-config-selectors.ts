// SPDX-License-Identifier: Apache-2.0
/**
 * Selectors of MachineConfigPools (smartnic.md 2.1, 2.5): which pools an entry of spec.ovnHardwareOffload selects, which
 * nodes a pool has, and by which role label a MachineConfig reaches one pool only. The API server checks little of a pool,
 * so selectors are read as unknown values.
 */
import { labels } from "@switchyard/api";
import type { LabelSelector, LabelSelectorRequirement, MachineConfigPool } from "@switchyard/api";
import { compileLabelSelector, type LabelPredicate, type Labels } from "../nodes/label-selector.ts";

/** The selectors of a MachineConfigPool, parsed. */
export interface PoolSelectors {
  readonly pool: MachineConfigPool;
  readonly nodeSelector: LabelSelector;
  /** Reports whether the pool has a node with these labels. */
  readonly selectsNode: LabelPredicate;
  /** Reports whether the pool gets a MachineConfig with these labels. */
  readonly selectsConfig: LabelPredicate;
  /** Values of the role label that the machineConfigSelector names, in its order. */
  readonly namedRoles: readonly string[];
}

/** Parses the selectors of a pool; undefined if one of them is invalid. */
export function readPoolSelectors(pool: MachineConfigPool): PoolSelectors | undefined {
  const nodeSelector = readSelector(pool.spec?.nodeSelector);
  const configSelector = readSelector(pool.spec?.machineConfigSelector);
  if (nodeSelector === undefined || configSelector === undefined) return undefined;
  const selectsNode = compileLabelSelector(nodeSelector);
  const selectsConfig = compileLabelSelector(configSelector);
  if (!selectsNode.ok || !selectsConfig.ok) return undefined;
  return {
    pool,
    nodeSelector,
    selectsNode: isEmpty(nodeSelector) ? () => false : selectsNode.value,
    // The machine config operator takes an absent selector for nothing and an empty one for everything.
    selectsConfig: isAbsent(pool.spec?.machineConfigSelector) ? () => false : selectsConfig.value,
    namedRoles: rolesIn(configSelector),
  };
}

/**
 * Reports whether a pool's nodeSelector requires all of the labels, by matchLabels or by an expression that means the
 * same: In with this value only, or Exists for a label without value.
 */
export function requiresLabels({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  return Object.entries(labels).every(
    ([key, value]) =>
      (Object.hasOwn(matchLabels, key) && matchLabels[key] === value) ||
      matchExpressions.some(
        ({ key: other, operator, values = [] }) =>
          other === key &&
          ((operator === "In" && values.length === 1 && values[0] === value) ||
            (operator === "Exists" && value === "")),
      ),
  );
}

/**
 * Returns a value of the role label by which the pool gets a MachineConfig and none of the other pools does; the pool's
 * name if possible. Undefined if there is none: a MachineConfig would reach other nodes, too.
 */
export function exclusiveRole(selectors: PoolSelectors, all: readonly PoolSelectors[]): string | undefined {
  const { pool, selectsConfig, namedRoles } = selectors;
  const selectedBy = (role: string) => (selects: LabelPredicate) => selects({ [labels.machineConfigRole]: role });
  return [pool.metadata.name, ...namedRoles].find(
    (role) =>
      role !== "worker" &&
      role !== "master" &&
      selectedBy(role)(selectsConfig) &&
      !all.some((other) => other !== selectors && selectedBy(role)(other.selectsConfig)),
  );
}

function rolesIn({ matchLabels = {}, matchExpressions = [] }: LabelSelector): readonly string[] {
  const exact = matchLabels[labels.machineConfigRole];
  const ofExpressions = matchExpressions.flatMap(({ key, operator, values = [] }) =>
    key === labels.machineConfigRole && operator === "In" ? values : [],
  );
  return exact === undefined ? ofExpressions : [exact, ...ofExpressions];
}

/** Returns the value as a selector, an empty one if it is absent; undefined if it has other types. */
function readSelector(value: unknown): LabelSelector | undefined {
  if (isAbsent(value)) return {};
  if (!isRecord(value)) return undefined;
  const { matchLabels = {}, matchExpressions = [] } = value;
  if (!isLabels(matchLabels) || !Array.isArray(matchExpressions)) return undefined;
  const requirements: unknown[] = matchExpressions;
  return requirements.every(isRequirement) ? { matchLabels, matchExpressions: requirements } : undefined;
}

function isEmpty({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isLabels(value: unknown): value is Labels {
  return isRecord(value) && Object.values(value).every((text) => typeof text === "string");
}

/** compileLabelSelector refuses unknown operators. */
function isRequirement(value: unknown): value is LabelSelectorRequirement {
  return (
    isRecord(value) &&
    typeof value["key"] === "string" &&
    typeof value["operator"] === "string" &&
    (value["values"] === undefined ||
      (Array.isArray(value["values"]) && value["values"].every((text) => typeof text === "string")))
  );
}
