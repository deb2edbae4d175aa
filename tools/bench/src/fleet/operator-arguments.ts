// SPDX-License-Identifier: Apache-2.0
/**
 * operatorArguments are the arguments of the measured operator. They name an image for every component, because the
 * operator does not deploy a component without an image. No kubelet is running, so no image is pulled.
 * Usage: `createMeasuredService({ script, ...inContainer, pod, args: operatorArguments(options), log, fail })`
 */
import { roomForYoung } from "@switchyard/service/memory";
import { operatorNamespace } from "./fleet-objects.ts";
import type { FleetOptions } from "./fleet-options.ts";

/**
 * Node's flags as in the container. Without them the program restarts itself (libs/service/src/memory.ts), which takes
 * 50 ms.
 */
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
