// SPDX-License-Identifier: Apache-2.0
/**
 * A kube-controller-manager that is started when our CRDs are there: the garbage collector learns of kinds that come
 * later after half a minute only. It runs what the scenario of a cluster needs, as it is; nodes that have no kubelet
 * are not called lost.
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

/** Disposing it kills it. */
export function startControllerManager({ kubeconfig, dataDir }: ControlPlane, binaries: string): AsyncDisposable {
  const flags = [
    ...[`--kubeconfig=${kubeconfig}`, "--leader-elect=false", "--secure-port=0"],
    `--controllers=${controllers.join(",")}`,
  ];
  const log = join(dataDir, "kube-controller-manager.log");
  const manager = spawnGuarded(join(binaries, "kube-controller-manager"), flags, { log });
  return { [Symbol.asyncDispose]: () => manager.kill() };
}
