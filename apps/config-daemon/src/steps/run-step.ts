// SPDX-License-Identifier: Apache-2.0
/** runNodeStep and runPfStep run a step of any kind. Each file of this folder runs the kinds of one subject. */
import type { Host } from "@switchyard/host";
import type { NodeStep, PfStep } from "@switchyard/plan";
import { runVfSteps } from "./vfs.ts";
import { runKernelSteps } from "./kernel.ts";
import { runFirmwareSteps } from "./firmware.ts";
import { runPortSteps } from "./pf.ts";
import { runOvsBridgeSteps } from "./ovs-bridges.ts";
import { runHostOvsSteps } from "./host-ovs.ts";
import { runEswitchSteps } from "./eswitch.ts";
import { runLinuxBridgeSteps } from "./linux-bridges.ts";
import { runRdmaSteps } from "./rdma.ts";
import { runVdpaSteps } from "./vdpa.ts";
import type { NodeStepContext, StepContext } from "./step-context.ts";

const nodeSteps: {
  readonly [Name in NodeStep["kind"]]: (step: NodeStep<Name>, host: Host, context: NodeStepContext) => Promise<void>;
} = { ...runKernelSteps, ...runFirmwareSteps, ...runHostOvsSteps, ...runRdmaSteps };

const pfSteps: { readonly [Name in PfStep["kind"]]: (step: PfStep<Name>, context: StepContext) => Promise<void> } = {
  ...runVfSteps,
  ...runPortSteps,
  ...runOvsBridgeSteps,
  ...runEswitchSteps,
  ...runLinuxBridgeSteps,
  ...runVdpaSteps,
};

export function runNodeStep<Name extends NodeStep["kind"]>(
  step: NodeStep<Name>,
  host: Host,
  context: NodeStepContext,
): Promise<void> {
  return nodeSteps[step.kind](step, host, context);
}

export function runPfStep<Name extends PfStep["kind"]>(step: PfStep<Name>, context: StepContext): Promise<void> {
  return pfSteps[step.kind](step, context);
}
