// SPDX-License-Identifier: Apache-2.0
import { HostError } from "@switchyard/host";
import type { PfStep } from "@switchyard/plan";
import type { StepContext } from "./step-context.ts";

/** Old firmware and drivers do not support smfs. The card then works, but slower (sriov-operator.md F.6). */
const tolerated: ReadonlySet<string> = new Set(["EINVAL", "ENODEV", "EOPNOTSUPP"]);

/** Sets the devlink parameter flow_steering_mode. */
export async function setFlowSteering(step: PfStep<"set-flow-steering">, { host, pf }: StepContext): Promise<void> {
  try {
    await host.devlink.setParameter(pf, "flow_steering_mode", step.to);
  } catch (thrown) {
    if (!(thrown instanceof HostError && tolerated.has(thrown.code))) throw thrown;
  }
}
