// SPDX-License-Identifier: Apache-2.0
/**
 * The record of what is ours, written before the act, so that whatever a killed daemon leaves behind is known to be ours.
 */
import { parsePciAddress, type InterfaceSpec, type InterfaceStatus } from "@switchyard/api";
import type { Host, PfRecord } from "@switchyard/host";
import { isDeepStrictEqual } from "node:util";
import { allNamesOf, isAbout } from "../observe/interface-status.ts";

/**
 * Records the PFs of `wanted` that the node has; whether a record changed. What a PF was like before us is taken once,
 * from `found`. Rejects with HostError (ENOSPC, EROFS): nothing may be done to a PF that is not recorded.
 */
export async function ownPfs(
  host: Pick<Host, "records">,
  wanted: readonly InterfaceSpec[],
  found: readonly InterfaceStatus[],
): Promise<boolean> {
  const records = await host.records.list();
  const byAddress = new Map(found.map((pf) => [pf.pciAddress, pf]));
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

/** The record as it must be; upstream's stays as it is while the spec does. */
function recordOf(spec: InterfaceSpec, pf: InterfaceStatus, existing: PfRecord | undefined): PfRecord {
  const { vendor = "", deviceID: deviceId = "" } = pf;
  const known = existing !== undefined && isAbout(existing, { vendor, deviceId }) ? existing : undefined;
  const isUpstreams = known !== undefined && known.card === undefined;
  if (isUpstreams && isDeepStrictEqual(known.spec, spec)) return known;
  const initial = known === undefined ? initialOf(pf) : known.initial;
  const before = known?.names ?? (known?.spec.name ? [known.spec.name] : []);
  const names = [...new Set([...allNamesOf(pf), ...before])].slice(0, mostNames);
  return { spec, ...(initial === undefined ? {} : { initial }), names, card: `${vendor}:${deviceId}` };
}

/** A PF has two or three names; who renames it for ever fills no disk. */
const mostNames = 16;

function initialOf(pf: InterfaceStatus): NonNullable<PfRecord["initial"]> {
  return {
    ...(pf.mtu === undefined ? {} : { mtu: pf.mtu }),
    ...(pf.eSwitchMode === undefined ? {} : { eSwitchMode: pf.eSwitchMode }),
  };
}
