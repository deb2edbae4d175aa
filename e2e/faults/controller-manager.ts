// SPDX-License-Identifier: Apache-2.0
/**
 * startControllerManager starts a kube-controller-manager with the controllers that the scenarios need. Start it after
 * the CRDs are created, because the garbage collector discovers later kinds only after 30 s. It has no controller that
 * reports nodes without a kubelet as lost.
 * Usage: `await using manager = startControllerManager(cluster, binaries);`
 */
import { spawnGuarded, type ControlPlane } from "@switchyard/testing";
import { join } from "node:path";

const controllers = [
  "garbage-collector-controller",
  "namespace-controller",
  "daemonset-controller",
  "disruption-controller",
  "pod-garbage-collector-controller",
  "validatingadmissionpolicy-status-controller",
];

/** Disposing the result kills the process. */
export function startControllerManager({ kubeconfig, dataDir }: ControlPlane, binaries: string): AsyncDisposable {
  const flags = [
    ...[`--kubeconfig=${kubeconfig}`, "--leader-elect=false", "--secure-port=0"],
    `--controllers=${controllers.join(",")}`,
  ];
  const log = join(dataDir, "kube-controller-manager.log");
  const manager = spawnGuarded(join(binaries, "kube-controller-manager"), flags, { log });
  return { [Symbol.asyncDispose]: () => manager.kill() };
}
