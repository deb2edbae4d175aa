// SPDX-License-Identifier: Apache-2.0
/**
 * runAfxdpStep runs a step of any kind.
 * Usage: `await runAfxdpStep(step, createAfxdpStepContext(host, step.device, { timing, signal }));`
 */
import type { AfxdpStep } from "@switchyard/plan";
import { activateSubfunction } from "./activate-subfunction.ts";
import { createSubfunction } from "./create-subfunction.ts";
import { deactivateSubfunction } from "./deactivate-subfunction.ts";
import { deleteSubfunction } from "./delete-subfunction.ts";
import { releaseDevice } from "./release-device.ts";
import { setEswitchMode } from "./set-eswitch-mode.ts";
import { setLinkUp, setMtu, setQueues } from "./set-interface.ts";
import { setSubfunctionMac } from "./set-subfunction-mac.ts";
import type { AfxdpStepContext } from "./step-context.ts";

const steps: {
  readonly [Name in AfxdpStep["kind"]]: (step: AfxdpStep<Name>, context: AfxdpStepContext) => Promise<void>;
} = {
  "set-eswitch-mode": setEswitchMode,
  "set-link-up": setLinkUp,
  "set-mtu": setMtu,
  "set-queues": setQueues,
  "create-subfunction": createSubfunction,
  "set-subfunction-mac": setSubfunctionMac,
  "activate-subfunction": activateSubfunction,
  "deactivate-subfunction": deactivateSubfunction,
  "delete-subfunction": deleteSubfunction,
  "release-device": releaseDevice,
};

export function runAfxdpStep<Name extends AfxdpStep["kind"]>(
  step: AfxdpStep<Name>,
  context: AfxdpStepContext,
): Promise<void> {
  return steps[step.kind](step, context);
}
