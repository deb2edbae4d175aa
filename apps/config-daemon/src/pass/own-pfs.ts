// SPDX-License-Identifier: Apache-2.0
/**
 * ownPfs records the PFs that Switchyard configures. The record is written before the first change of a PF, so a daemon
 * that is killed in between never leaves a changed PF without a record.
 */
import { defined, parsePciAddress, type InterfaceSpec, type InterfaceStatus } from "@switchyard/api";
import type { Host, PfRecord } from "@switchyard/host";
import { numVfsToHave, type Step } from "@switchyard/plan";
import { isDeepStrictEqual } from "node:util";
import { allNamesOf } from "../observe/interface-status.ts";
import type { Observation } from "../observe/observe.ts";
import { cardOf, isSameCard } from "../observe/same-card.ts";
import { vfBefore } from "../steps/vfs-before.ts";

/** Returns what the record of a PF must have of the settings of new VFs. `recorded` is what it has. */
export type OwnedVfs = (
  spec: InterfaceSpec,
  pf: InterfaceStatus,
  recorded: PfRecord["initialVfs"],
) => PfRecord["initialVfs"];

/**
 * Records the PFs of `wanted` that the node has, and reports whether a record changed. The initial state of a PF is taken
 * once, from `interfaces`, and so are its VFs if `changesVfs`: the steps remove them or their drivers. `macsToAssign` are the VFs
 * whose address the steps assign. Rejects with HostError (ENOSPC, EROFS); a PF without a record must not be changed.
 */
export async function ownPfs(
  host: Pick<Host, "records">,
  wanted: readonly InterfaceSpec[],
  {
    interfaces,
    records,
    changesVfs,
    macsToAssign,
    initialVfsOf,
  }: Pick<Observation, "interfaces" | "records"> & {
    readonly changesVfs: (pciAddress: string) => boolean;
    readonly macsToAssign: (pciAddress: string) => readonly number[];
    readonly initialVfsOf: OwnedVfs;
  },
): Promise<boolean> {
  const byAddress = new Map(interfaces.map((pf) => [pf.pciAddress, pf]));
  let changed = false;
  for (const spec of wanted) {
    const address = parsePciAddress(spec.pciAddress);
    const pf = byAddress.get(spec.pciAddress);
    if (!address.ok || pf === undefined) continue;
    const existing = records.get(address.value);
    const vfsBefore = vfsBeforeOf(spec, pf, { existing, isChanged: changesVfs(pf.pciAddress) });
    const unassignedMacs = unassignedOf(existing, macsToAssign(pf.pciAddress));
    const initialVfs = initialVfsOf(spec, pf, existing && isOfCard(existing, pf) ? existing.initialVfs : undefined);
    const record = { ...recordOf(spec, pf, existing), ...defined({ vfsBefore, unassignedMacs }) };
    const next = { ...record, ...defined({ initialVfs }) };
    if (isDeepStrictEqual(next, existing)) continue;
    await host.records.save(address.value, next);
    // Plans do not depend on the settings of new VFs.
    changed ||= !isDeepStrictEqual(record, existing && withoutInitialVfs(existing));
  }
  return changed;
}

/** Returns the record that the PF must have. A record of the Go operator is kept unchanged as long as its spec is the same. */
function recordOf(spec: InterfaceSpec, pf: InterfaceStatus, existing: PfRecord | undefined): PfRecord {
  const present = { vendor: pf.vendor ?? "", deviceId: pf.deviceID ?? "" };
  const known = existing !== undefined && isSameCard(existing, present) ? existing : undefined;
  const isUpstreams = known !== undefined && known.card === undefined;
  if (isUpstreams && isDeepStrictEqual(known.spec, spec)) return withoutChanges(known);
  // If another tool configured the PF until now, a reset must restore what that tool left.
  const isFirst = known === undefined || (known.spec.externallyManaged === true && spec.externallyManaged !== true);
  const initial = isFirst ? defined({ mtu: pf.mtu, eSwitchMode: pf.eSwitchMode }) : known.initial;
  const before = known?.names ?? (known?.spec.name ? [known.spec.name] : []);
  const names = [...new Set([...allNamesOf(pf), ...before])].slice(0, maxNames);
  const { firmware, guids, macs, numVfsWithoutMemory } = known ?? {};
  // Another number in between shows that somebody works on it, so the driver may be asked again.
  const fewerVfs = known?.fewerVfs?.requested === spec.numVfs ? known?.fewerVfs : undefined;
  return {
    spec,
    ...defined({ initial, firmware, guids, macs, numVfsWithoutMemory, fewerVfs }),
    names,
    card: cardOf(present),
  };
}

function withoutChanges({ vfsBefore: _, unassignedMacs: _macs, initialVfs: _vfs, ...record }: PfRecord): PfRecord {
  return record;
}

function withoutInitialVfs({ initialVfs: _, ...record }: PfRecord): PfRecord {
  return record;
}

function isOfCard(record: PfRecord, { vendor = "", deviceID: deviceId = "" }: InterfaceStatus): boolean {
  return isSameCard(record, { vendor, deviceId });
}

function unassignedOf({ unassignedMacs = [] }: Partial<PfRecord> = {}, toAssign: readonly number[]) {
  const all = [...new Set([...unassignedMacs, ...toAssign])].sort((a, b) => a - b);
  return all.length === 0 ? undefined : all;
}

/** Removes the VFs from the records whose addresses these steps have assigned. Rejects with HostError. */
export async function recordAssignedMacs({ records }: Pick<Host, "records">, done: readonly Step[]): Promise<void> {
  const byPf = Map.groupBy(
    done.flatMap((step) => (step.kind === "set-vf-mac" ? [step] : [])),
    ({ pciAddress }) => pciAddress,
  );
  if (byPf.size === 0) return;
  for (const [pf, { unassignedMacs = [], ...record }] of await records.list()) {
    const assigned = new Set((byPf.get(pf) ?? []).map(({ vfId }) => vfId));
    const left = unassignedMacs.filter((vfId) => !assigned.has(vfId));
    if (left.length === unassignedMacs.length) continue;
    await records.save(pf, { ...record, ...(left.length > 0 && { unassignedMacs: left }) });
  }
}

/**
 * Returns the VFs that come back if the host refuses the change of the PF. What is recorded stays until the change is done: the
 * present VFs may be those of a daemon that was killed meanwhile.
 */
function vfsBeforeOf(
  spec: InterfaceSpec,
  pf: InterfaceStatus,
  { existing, isChanged }: { readonly existing: PfRecord | undefined; readonly isChanged: boolean },
): PfRecord["vfsBefore"] {
  if (spec.externallyManaged === true || isDone(spec, pf)) return undefined;
  const present = { vendor: pf.vendor ?? "", deviceId: pf.deviceID ?? "" };
  if (existing?.vfsBefore !== undefined && isSameCard(existing, present)) return existing.vfsBefore;
  const { numVfs: count = 0, Vfs: vfs = [] } = pf;
  if (!isChanged || count === 0) return undefined;
  return { count, vfs: vfs.map(({ vfID, driver, adminMac }) => vfBefore(vfID, { driver, mac: adminMac })) };
}

function isDone(spec: InterfaceSpec, pf: InterfaceStatus): boolean {
  if (numVfsToHave(spec, pf) !== (pf.numVfs ?? 0)) return false;
  return (spec.numVfs ?? 0) === 0 || (spec.eSwitchMode || "legacy") === (pf.eSwitchMode || "legacy");
}

/** A PF has two or three names. The limit keeps the file small if something renames the PF again and again. */
const maxNames = 16;
