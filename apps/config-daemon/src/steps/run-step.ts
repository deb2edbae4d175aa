// SPDX-License-Identifier: Apache-2.0
/**
 * runNodeStep and runPfStep run a step of any kind. Each kind has a file in this folder.
 * Usage: `await runPfStep(step, createStepContext(host, step.pciAddress, timing, signal));`
 */
import type { Host } from "@switchyard/host";
import type { NodeStep, PfStep } from "@switchyard/plan";
import { bindDriver } from "./bind-driver.ts";
import { forgetReboots } from "./forget-reboots.ts";
import { enableNoIommu } from "./enable-no-iommu.ts";
import { loadModule } from "./load-module.ts";
import { reboot } from "./reboot.ts";
import { resetFirmware } from "./reset-firmware.ts";
import { releasePf } from "./release-pf.ts";
import { setFirmware } from "./set-firmware.ts";
import { removeOvsBridge, removeOvsPorts } from "./remove-ovs-bridge.ts";
import { setOvsBridge } from "./set-ovs-bridge.ts";
import { restartOvs, setOvsOffload } from "./set-ovs-offload.ts";
import { setHostOvs } from "./set-host-ovs.ts";
import { setKernelArguments } from "./set-kernel-arguments.ts";
import { prepareSwitchdev } from "./prepare-switchdev.ts";
import { setCardMode } from "./set-card-mode.ts";
import { setEswitchMode } from "./set-eswitch-mode.ts";
import { setFlowSteering } from "./set-flow-steering.ts";
import { removeLinuxBridge, setLinuxBridge } from "./set-linux-bridge.ts";
import { setLinkUp } from "./set-link-up.ts";
import { setPersistentRdmaMode, setRdmaMode } from "./set-rdma-mode.ts";
import { setPfMtu, setVfMtu } from "./set-mtu.ts";
import { setNumVfs } from "./set-num-vfs.ts";
import { setVfGuid } from "./set-vf-guid.ts";
import { setVfMac } from "./set-vf-mac.ts";
import type { NodeStepContext, StepContext } from "./step-context.ts";
import { addVdpaDevice, removeVdpaDevice } from "./vdpa-devices.ts";

const nodeSteps: {
  readonly [Name in NodeStep["kind"]]: (step: NodeStep<Name>, host: Host, context: NodeStepContext) => Promise<void>;
} = {
  "enable-no-iommu": enableNoIommu,
  "load-module": loadModule,
  "set-ovs-offload": setOvsOffload,
  "restart-ovs": restartOvs,
  "set-persistent-rdma-mode": setPersistentRdmaMode,
  "set-rdma-mode": setRdmaMode,
  "set-card-mode": setCardMode,
  "set-firmware": setFirmware,
  "reset-firmware": resetFirmware,
  "set-host-ovs": setHostOvs,
  "set-kernel-arguments": setKernelArguments,
  "forget-reboots": forgetReboots,
  reboot,
};

const pfSteps: { readonly [Name in PfStep["kind"]]: (step: PfStep<Name>, context: StepContext) => Promise<void> } = {
  "set-pf-mtu": setPfMtu,
  "set-link-up": setLinkUp,
  "prepare-switchdev": prepareSwitchdev,
  "set-flow-steering": setFlowSteering,
  "set-num-vfs": setNumVfs,
  "set-eswitch-mode": setEswitchMode,
  "bind-driver": bindDriver,
  "set-vf-guid": setVfGuid,
  "set-vf-mac": setVfMac,
  "set-vf-mtu": setVfMtu,
  "set-ovs-bridge": setOvsBridge,
  "remove-ovs-bridge": removeOvsBridge,
  "remove-ovs-ports": removeOvsPorts,
  "set-linux-bridge": setLinuxBridge,
  "remove-linux-bridge": removeLinuxBridge,
  "add-vdpa-device": addVdpaDevice,
  "remove-vdpa-device": removeVdpaDevice,
  "release-pf": releasePf,
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
