// SPDX-License-Identifier: Apache-2.0
/**
 * The record of what is ours, written before the act, so that whatever a killed daemon leaves behind is known to be ours.
 */
import { parsePciAddress, type InterfaceSpec, type InterfaceStatus } from "@switchyard/api";
import type { Host, PfRecord } from "@switchyard/host";
import { isDeepStrictEqual } from "node:util";

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
    const existing = records.get(address.value);
    const initial = existing === undefined ? initialOf(pf) : existing.initial;
    const record: PfRecord = { spec, ...(initial === undefined ? {} : { initial }) };
    if (isDeepStrictEqual(record, existing)) continue;
    await host.records.save(address.value, record);
    changed = true;
  }
  return changed;
}

function initialOf(pf: InterfaceStatus): NonNullable<PfRecord["initial"]> {
  return {
    ...(pf.mtu === undefined ? {} : { mtu: pf.mtu }),
    ...(pf.eSwitchMode === undefined ? {} : { eSwitchMode: pf.eSwitchMode }),
  };
}
