// SPDX-License-Identifier: Apache-2.0
/**
 * toNodeReport keeps of a SriovNetworkNodeState what ovn-offload needs: the PFs, the mode of the SmartNIC and VF 0. The VFs of
 * 1,000 nodes would be 100 MB of JSON.
 * Usage: `const report = toNodeReport(state);`
 */
import { defined, type InterfaceStatus, type SriovNetworkNodeState } from "@switchyard/api";
import { managementPf, smartNicsOf, statusPfs } from "@switchyard/policy";
import type { NodeReport } from "../decide/observed.ts";

export function toNodeReport({ metadata, spec = {}, status = {} }: SriovNetworkNodeState): NodeReport {
  const interfaces = statusPfs(status);
  const card = smartNicsOf(interfaces)[0]?.pfs ?? [];
  const pf = managementPf(interfaces);
  const vf = pf?.Vfs?.find(({ vfID }) => vfID === 0);
  return {
    isCurrent: status.observedGeneration !== undefined && status.observedGeneration >= (metadata.generation ?? 0),
    interfaces: interfaces.map(keepIdentity),
    hostNetwork: status.system?.hostNetwork,
    managementVf: vf && { name: vf.name ?? "" },
    vfsExist: pf !== undefined && isReserved(spec, pf) && card.every((one) => hasVfs(spec, one)),
    openVSwitchDisabled: status.system?.openVSwitchDisabled === true,
  };
}

type Spec = NonNullable<SriovNetworkNodeState["spec"]>;

function isReserved(spec: Spec, { pciAddress }: InterfaceStatus): boolean {
  const groups = spec.interfaces?.find((one) => one.pciAddress === pciAddress)?.vfGroups ?? [];
  return groups.some(({ reservedFor }) => reservedFor === "ovn-management-port");
}

function hasVfs(spec: Spec, { pciAddress, numVfs = 0, Vfs = [] }: InterfaceStatus): boolean {
  const wanted = spec.interfaces?.find((one) => one.pciAddress === pciAddress)?.numVfs ?? 0;
  return numVfs >= wanted && Vfs.length >= wanted;
}

function keepIdentity({ pciAddress, vendor, deviceID, cardMode }: InterfaceStatus): InterfaceStatus {
  return { pciAddress, ...defined({ vendor, deviceID, cardMode }) };
}
