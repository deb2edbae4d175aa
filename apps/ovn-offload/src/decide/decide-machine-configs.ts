// SPDX-License-Identifier: Apache-2.0
/**
 * decideMachineConfigs decides about the MachineConfig of each pool. It is written once, when all hosts of the pool are
 * prepared, because each change reboots all of them; a node without SmartNIC would lose its network. One that hosts run and that
 * somebody has deleted is written again at once: until then, the pool is rolled out without it.
 */
import type { MachineConfigPool } from "@switchyard/api";
import { ovnOffloadMachineConfig, ovnOffloadMachineConfigName } from "@switchyard/render";
import type { OffloadPool } from "@switchyard/policy";
import { isPrepared, type AssignedHost } from "./host.ts";
import type { ObservedCluster, OffloadWrite } from "./observed.ts";

export interface MachineConfigInput {
  readonly observed: ObservedCluster;
  readonly pools: readonly OffloadPool[];
  readonly hosts: readonly AssignedHost[];
  readonly isDnsPlaced: boolean;
}

export interface MachineConfigDecision {
  readonly writes: readonly OffloadWrite[];
  /** By pool: what its MachineConfig waits for. */
  readonly waiting: ReadonlyMap<string, string>;
  /** By MachineConfigPool: why its nodes do not get what has been written. */
  readonly held: ReadonlyMap<string, string>;
  /** By pool: why it cannot be written. */
  readonly refused: ReadonlyMap<string, string>;
}

export function decideMachineConfigs({
  observed,
  pools,
  hosts,
  isDnsPlaced,
}: MachineConfigInput): MachineConfigDecision {
  const writes: OffloadWrite[] = [];
  const waiting = new Map<string, string>();
  const refused = new Map<string, string>();
  const present = new Map(observed.machineConfigs.map((one) => [one.name, one]));
  const existing = new Map((observed.machineConfigPools ?? []).map((pool) => [pool.metadata.name, pool]));
  const selected = new Set(pools.map(({ name }) => name));
  const byPool = Map.groupBy(hosts, ({ pool }) => pool);

  for (const { name, role } of pools) {
    if (role === undefined) continue;
    const config = ovnOffloadMachineConfig({ name, role });
    const configName = ovnOffloadMachineConfigName(name);
    if (observed.foreignMachineConfigs.has(configName)) {
      refused.set(name, `MachineConfig ${configName} was created by another program: delete or rename it`);
      continue;
    }
    const isKept = present.has(configName) || isInUse(configName, existing.get(name), byPool.get(name) ?? []);
    const reason = isKept
      ? undefined
      : (unprepared(byPool.get(name) ?? []) ??
        (isDnsPlaced ? undefined : "waits until pods of DNS are kept off the hosts") ??
        unsettled(existing.get(name)));
    if (reason === undefined) writes.push({ kind: "apply-machine-config", config });
    else waiting.set(name, reason);
  }

  for (const { name, uid, pool } of present.values()) {
    if (selected.has(pool)) continue;
    if ((byPool.get(pool) ?? []).some(({ direction }) => direction === "stay")) {
      waiting.set(pool, "hosts of the pool stay as they are, so its MachineConfig stays");
      continue;
    }
    const reason = existing.has(pool) ? unsettled(existing.get(pool)) : undefined;
    if (reason === undefined) writes.push({ kind: "delete-machine-config", name, uid });
    else waiting.set(pool, reason);
  }
  const held = new Map(
    [...existing].flatMap(([name, pool]) => {
      const reason = stopped(pool);
      return reason === undefined ? [] : [[name, reason] as const];
    }),
  );
  return { writes, waiting, held, refused };
}

/** Reports whether machines of the pool run the MachineConfig, also if the pool is being rolled out without it. */
function isInUse(name: string, pool: MachineConfigPool | undefined, hosts: readonly AssignedHost[]): boolean {
  const rolledOut: unknown = pool?.status?.configuration?.source;
  return (
    (Array.isArray(rolledOut) && rolledOut.some((one: { readonly name?: string } | null) => one?.name === name)) ||
    hosts.some(({ appliedConfigs = [] }) => appliedConfigs.includes(name))
  );
}

/** Returns why the machines of the pool cannot be changed now. */
function unsettled(pool: MachineConfigPool | undefined): string | undefined {
  if (pool === undefined) return "MachineConfigPool does not exist";
  const [wanted, actual] = [pool.spec?.configuration?.name ?? "", pool.status?.configuration?.name ?? ""];
  const isUpdating = hasCondition(pool, "Updating") || wanted === "" || wanted !== actual;
  return stopped(pool) ?? (isUpdating ? `MachineConfigPool ${pool.metadata.name} is updating` : undefined);
}

function stopped(pool: MachineConfigPool): string | undefined {
  const { name } = pool.metadata;
  if (pool.spec?.paused === true) return `MachineConfigPool ${name} is paused`;
  const isDegraded = ["Degraded", "RenderDegraded", "NodeDegraded"].some((type) => hasCondition(pool, type));
  return isDegraded ? `MachineConfigPool ${name} is degraded` : undefined;
}

function hasCondition({ status }: MachineConfigPool, type: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type && condition.status === "True");
}

function unprepared(hosts: readonly AssignedHost[]): string | undefined {
  if (hosts.length === 0) return "the pool has no nodes";
  const others = hosts.filter((host) => host.direction !== "enter" || !isPrepared(host));
  const [first] = others;
  return (
    first && `node ${first.name}${others.length > 1 ? ` and ${others.length - 1} more` : ""} must be prepared first`
  );
}
