// SPDX-License-Identifier: Apache-2.0
/**
 * createMeasuredOperator returns the operator as a measured service. Its arguments name an image for every component, because
 * the operator does not deploy a component without an image. No kubelet is running, so no image is pulled.
 */
import { minSemiSpaceFlag } from "@switchyard/service/memory";
import { join } from "node:path";
import type { BenchCluster, BenchUser } from "../harness/bench-cluster.ts";
import type { MeasuredOptions } from "../harness/measured-process.ts";
import { createMeasuredService, type MeasuredService } from "../harness/measured-service.ts";
import { operatorNamespace } from "./fleet-objects.ts";

export interface MeasuredOperatorOptions extends Pick<MeasuredOptions, "script" | "fail" | "cpuProf"> {
  readonly cluster: Pick<BenchCluster, "directory">;
  /** With whose rights it connects. */
  readonly user: Pick<BenchUser, "pod">;
  /** Whether it also writes the ConfigMap of the device plugin. */
  readonly writeConfigMap?: boolean;
}

/**
 * Node's flags as in the container. Without them the program restarts itself (libs/service/src/memory.ts), which takes
 * 50 ms.
 */
const inContainer = { nodeFlags: [minSemiSpaceFlag], env: { MALLOC_ARENA_MAX: "1" } };

export function createMeasuredOperator(options: MeasuredOperatorOptions): MeasuredService {
  const { script, fail, cpuProf, cluster, user, writeConfigMap = false } = options;
  return createMeasuredService({
    script,
    ...inContainer,
    pod: user.pod,
    fail,
    cpuProf,
    args: [
      ...["--namespace", operatorNamespace],
      ...images.flatMap((name) => [`--${name}-image`, `registry.example/${name}:1`]),
      ...(writeConfigMap ? ["--write-configmap"] : []),
    ],
    log: join(cluster.directory, "operator.log"),
  });
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
