// SPDX-License-Identifier: Apache-2.0
/**
 * How the measured operator is started: as in a container, and so that it deploys all that a SriovOperatorConfig can ask
 * for: without an image, a component would cost nothing. No kubelet runs here, so nobody asks for the images.
 * Usage: `createMeasuredService({ script, ...inContainer, pod: operatorUser.pod, args: operatorArguments(options), … })`
 */
import { roomForYoung } from "@switchyard/service";
import { operatorNamespace } from "./fleet-objects.ts";
import type { FleetOptions } from "./fleet-options.ts";

/** With these, a program needs not start itself anew (libs/service/src/memory.ts), which takes 50 ms. */
export const inContainer = { nodeFlags: [roomForYoung], env: { MALLOC_ARENA_MAX: "1" } };

export function operatorArguments({ writeConfigMap }: Pick<FleetOptions, "writeConfigMap">): readonly string[] {
  return [
    ...["--namespace", operatorNamespace],
    ...images.flatMap((name) => [`--${name}-image`, `registry.example/${name}:1`]),
    ...(writeConfigMap ? ["--write-configmap"] : []),
  ];
}

const images = [
  "config-daemon",
  "device-plugin-config",
  "device-plugin",
  "webhook",
  "injector",
  "metrics-exporter",
  "kube-rbac-proxy",
  "sriov-cni",
  "ib-sriov-cni",
  "ovs-cni",
  "rdma-cni",
  "accelerated-bridge-cni",
];
