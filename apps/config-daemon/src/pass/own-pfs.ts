// SPDX-License-Identifier: Apache-2.0
/**
 * ownPfs records the PFs that Switchyard configures. The record is written before the first change of a PF, so a daemon
 * that is killed in between never leaves a changed PF without a record.
 */
import { defined, parsePciAddress, type InterfaceSpec, type InterfaceStatus } from "@switchyard/api";
import type { Host, PfRecord } from "@switchyard/host";
import { isDeepStrictEqual } from "node:util";
import { allNamesOf } from "../observe/interface-status.ts";
import type { Observation } from "../observe/observe.ts";
import { cardOf, isSameCard } from "../observe/same-card.ts";

/**
 * Records the PFs of `wanted` that the node has, and reports whether a record changed. The initial state of a PF is taken
 * once, from `interfaces`. Rejects with HostError (ENOSPC, EROFS); a PF without a record must not be changed.
 */
export async function ownPfs(
  host: Pick<Host, "records">,
  wanted: readonly InterfaceSpec[],
  { interfaces, records }: Pick<Observation, "interfaces" | "records">,
): Promise<boolean> {
  const byAddress = new Map(interfaces.map((pf) => [pf.pciAddress, pf]));
  let changed = false;
  for (const spec of wanted) {
    const address = parsePciAddress(spec.pciAddress);
    const pf = byAddress.get(spec.pciAddress);
    if (!address.ok || pf === undefined) continue;
    const record = recordOf(spec, pf, records.get(address.value));
    if (isDeepStrictEqual(record, records.get(address.value))) continue;
    await host.records.save(address.value, record);
    changed = true;
  }
  return changed;
}

/** Returns the record that the PF must have. A record of the Go operator is kept unchanged as long as its spec is the same. */
function recordOf(spec: InterfaceSpec, pf: InterfaceStatus, existing: PfRecord | undefined): PfRecord {
  const present = { vendor: pf.vendor ?? "", deviceId: pf.deviceID ?? "" };
  const known = existing !== undefined && isSameCard(existing, present) ? existing : undefined;
  const isUpstreams = known !== undefined && known.card === undefined;
  if (isUpstreams && isDeepStrictEqual(known.spec, spec)) return known;
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

/** A PF has two or three names. The limit keeps the file small if something renames the PF again and again. */
const maxNames = 16;
