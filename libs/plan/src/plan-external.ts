// SPDX-License-Identifier: Apache-2.0
/**
 * Compares an externally managed PF with its spec (upstream's proposal "externally managed PF"). Another tool creates its VFs
 * and sets its eswitch mode, link type, MTU and link state. Switchyard never changes these, so the PF must already have what
 * the spec requests.
 */
import type { InterfaceSpec, InterfaceStatus } from "@switchyard/api";
import type { PlanProblem } from "./problem.ts";

/** Returns the differences because of which the VFs of the PF cannot be used, either; empty if there are none. */
export function externalMismatches(wanted: InterfaceSpec, pf: InterfaceStatus, field: string): readonly PlanProblem[] {
  const problems: PlanProblem[] = [];
  const report = (name: string, asked: string, actual: string): void => {
    problems.push(mismatch(pf, `${field}.${name}`, `${asked} requested, but`, actual));
  };
  const [wantedMode, mode] = [wanted.eSwitchMode || "legacy", pf.eSwitchMode || "legacy"];
  if (wantedMode !== mode) report("eSwitchMode", `"${wantedMode}"`, `in ${mode} mode`);
  if (wanted.linkType && pf.linkType && wanted.linkType.toUpperCase() !== pf.linkType.toUpperCase()) {
    report("linkType", `"${wanted.linkType}"`, `has link type ${pf.linkType}`);
  }
  const [numVfs, existing] = [wanted.numVfs ?? 0, pf.numVfs ?? 0];
  if (numVfs > existing) report("numVfs", `${numVfs} VFs`, `has ${existing}`);
  return problems;
}

/** Returns the problem of an MTU that is larger than that of the PF. The VFs are configured without it. */
export function externalMtuMismatch(
  wanted: InterfaceSpec,
  pf: InterfaceStatus,
  field: string,
): PlanProblem | undefined {
  const mtu = wanted.mtu ?? 0;
  if (pf.mtu === undefined || mtu <= pf.mtu) return undefined;
  return mismatch(pf, `${field}.mtu`, `MTU ${mtu} requested, but`, `has MTU ${pf.mtu}`);
}

function mismatch({ pciAddress }: InterfaceStatus, field: string, asked: string, actual: string): PlanProblem {
  const message = `${asked} ${pciAddress} is externally managed and ${actual}`;
  return { code: "external-mismatch", field, pciAddress, message };
}
