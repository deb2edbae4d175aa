// SPDX-License-Identifier: Apache-2.0
/**
 * chooseVfMac decides which administrative MAC address a VF gets: that of its interface, else the one that the PF shows for it, else
 * one that is generated and recorded. Without an administrative address, i40e gives the VF another one at each start of its driver, so
 * that a virtual machine or a DPDK application changes its address (i40e_virtchnl_pf.c, 6.12; sriov-operator.md F.6).
 */
import { isUnicast, parseMacAddress, type MacAddress, type PciAddress } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { randomBytes } from "node:crypto";
import { randomAddress, type RandomBytes } from "./choose-macs.ts";

/** A VF, and the addresses that are known of it, the best first. */
export interface VfAddresses {
  readonly pf: PciAddress;
  readonly vfId: number;
  readonly known: readonly (string | undefined)[];
}

/** Rejects with HostError if a generated address cannot be recorded. */
export async function chooseVfMac(
  { records }: Pick<Host, "records">,
  { pf, vfId, known }: VfAddresses,
  random: RandomBytes = randomBytes,
): Promise<MacAddress> {
  const present = known.map(usable).find((mac) => mac !== undefined);
  if (present !== undefined) return present;
  const record = (await records.list()).get(pf);
  if (record === undefined) {
    const words = "the PF has no record";
    throw new HostError({ action: `generate MAC address of VF ${vfId}`, target: pf }, "ENOENT", { words });
  }
  const recorded = usable(record.macs?.[vfId]);
  if (recorded !== undefined) return recorded;
  // Of 46 random bits, so two of a network are practically never equal.
  const mac = usable(randomAddress(6, random));
  if (mac === undefined) throw new Error("the generated MAC address is invalid");
  await records.save(pf, { ...record, macs: { ...record.macs, [vfId]: mac } });
  return mac;
}

function usable(text: string | undefined): MacAddress | undefined {
  const mac = parseMacAddress(text ?? "");
  return mac.ok && isUnicast(mac.value) ? mac.value : undefined;
}
