// SPDX-License-Identifier: Apache-2.0
/**
 * Checks what a spec says about the embedded switch of a PF.
 * Usage: `const problem = modeProblem(wanted, pf); const problems = missingRepresentors(wanted, pf, "spec.interfaces[0]");`
 */
import type { InterfaceSpec, InterfaceStatus } from "@switchyard/api";
import { smartNicModelOf } from "@switchyard/policy";
import { parseEswitchMode } from "./plan-eswitch.ts";
import { quote, type PlanProblem } from "./problem.ts";

/** Returns why the PF cannot have the mode. The whole PF is then left unchanged. */
export function modeProblem(
  { eSwitchMode }: InterfaceSpec,
  pf: InterfaceStatus,
): Pick<PlanProblem, "code" | "message"> | undefined {
  const { pciAddress } = pf;
  const wanted = parseEswitchMode(eSwitchMode);
  if (wanted === undefined) {
    const message = `${quote(eSwitchMode)} is not supported; supported values are "legacy" and "switchdev"`;
    return { code: "unsupported", message };
  }
  if (wanted === "switchdev" && pf.totalvfs === undefined) {
    return { code: "no-sriov", message: `"${wanted}" requested, but ${pciAddress} has no SR-IOV capability` };
  }
  if (wanted === "switchdev" && pf.hasESwitch === false) {
    const owner = smartNicModelOf(pf) === undefined ? "" : "; the card's own system has it";
    const message = `"${wanted}" requested, but driver ${pf.driver ?? ""} offers no eswitch for ${pciAddress}${owner}`;
    return { code: "unsupported", message };
  }
  return undefined;
}

/** Reports VFs without a representor, which have no connection: a pod that uses one would not notice why. */
export function missingRepresentors(wanted: InterfaceSpec, pf: InterfaceStatus, field: string): readonly PlanProblem[] {
  if (wanted.externallyManaged === true || pf.eSwitchMode !== "switchdev") return [];
  const { pciAddress, Vfs: vfs = [] } = pf;
  const missing = vfs.filter(({ representorName }) => !representorName).map(({ vfID }) => vfID);
  if (missing.length === 0) return [];
  const [noun, verb] = missing.length === 1 ? ["VF", "has"] : ["VFs", "have"];
  const message = `${noun} ${missing.join(", ")} of ${pciAddress} ${verb} no representor`;
  return [{ code: "missing-representor", field: `${field}.eSwitchMode`, pciAddress, message }];
}
