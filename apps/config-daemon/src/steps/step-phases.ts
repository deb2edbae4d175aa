// SPDX-License-Identifier: Apache-2.0
/**
 * Decides what the phases of a boot do of a plan, and what the running daemon does in systemd mode, too. Each kind of step has
 * an answer here, so a new kind does not run before the network is up without somebody having thought about it.
 */
import type { Plan, Step } from "@switchyard/plan";

/**
 * "first": before the network starts, and in the second phase if the first has not done it. "second": only when the network
 * and Open vSwitch have started. "daemon": the effect is kept by a boot, or prepares one, and needs programs of the daemon's
 * image or takes long, so no phase does it.
 */
type From = "first" | "second" | "daemon";

const from: { readonly [Kind in Step["kind"]]: From } = {
  "set-pf-mtu": "first",
  "set-link-up": "first",
  "prepare-switchdev": "first",
  "set-flow-steering": "first",
  "set-num-vfs": "first",
  "set-eswitch-mode": "first",
  "release-pf": "first",
  "enable-no-iommu": "first",
  "set-ovs-offload": "first",
  "restart-ovs": "first",
  "set-rdma-mode": "first",
  "set-persistent-rdma-mode": "first",

  // The settings of a VF need its interface, which the second phase brings back. Modules are loaded for drivers of VFs.
  "bind-driver": "second",
  "set-vf-guid": "second",
  "set-vf-mac": "second",
  "set-vf-mtu": "second",
  "add-vdpa-device": "second",
  "remove-vdpa-device": "second",
  "load-module": "second",

  // Only the routes show that the host uses a PF, and the host is cut off if such a PF becomes a port.
  "set-ovs-bridge": "second",
  "set-linux-bridge": "second",
  // A PF leaves its bridge before other steps change the PF.
  "remove-ovs-bridge": "first",
  "remove-ovs-ports": "first",
  "remove-linux-bridge": "first",

  // After a boot, no VF has settings of a pod.
  "reset-vf": "daemon",
  "set-host-ovs": "daemon",
  "set-kernel-arguments": "daemon",
  "forget-reboots": "daemon",
  reboot: "daemon",
  "set-card-mode": "daemon",
  "set-firmware": "daemon",
  "reset-firmware": "daemon",
};

/** Reports whether the running daemon does the step in systemd mode, and the phases of a boot do not. */
export function isLastingStep({ kind }: Step): boolean {
  return from[kind] === "daemon";
}

/**
 * What the phase before the network does. Bridges are no concern of it, and so are problems with them. The tools that configure
 * externally managed PFs start with the network, so only the second phase judges these PFs.
 */
export function firstPhaseSteps({ steps, problems, ...rest }: Plan): Plan {
  return {
    ...rest,
    steps: steps.filter(({ kind }) => from[kind] === "first"),
    problems: problems.filter(({ code, field }) => code !== "external-mismatch" && !field.startsWith("spec.bridges")),
  };
}

/** What the phase before the kubelet does. */
export function secondPhaseSteps(plan: Plan): Plan {
  return { ...plan, steps: plan.steps.filter((step) => !isLastingStep(step)) };
}
