// SPDX-License-Identifier: Apache-2.0
/** runNodeStep and runPfStep run a step of any kind. Each kind has a file in this folder. */
import type { Host } from "@switchyard/host";
import type { NodeStep, PfStep } from "@switchyard/plan";
import { bindDriver, setNumVfs, setVfGuid, setVfMac } from "./vfs.ts";
import { enableNoIommu, forgetReboots, loadModule, reboot, setKernelArguments } from "./kernel.ts";
import { resetFirmware, setCardMode, setFirmware } from "./firmware.ts";
import { releasePf, setLinkUp, setPfMtu, setVfMtu } from "./pf.ts";
import { removeOvsBridge, removeOvsPorts, setOvsBridge } from "./ovs-bridges.ts";
import { restartOvs, setHostOvs, setOvsOffload } from "./host-ovs.ts";
import { prepareSwitchdev, setEswitchMode, setFlowSteering } from "./eswitch.ts";
import { removeLinuxBridge, setLinuxBridge } from "./linux-bridges.ts";
import { setPersistentRdmaMode, setRdmaMode } from "./rdma.ts";
import type { NodeStepContext, StepContext } from "./step-context.ts";
import { addVdpaDevice, removeVdpaDevice } from "./vdpa.ts";

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
