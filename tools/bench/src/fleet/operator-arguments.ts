// SPDX-License-Identifier: Apache-2.0
/**
 * The command line of an operator that deploys all that a SriovOperatorConfig can ask for: without an image, a component
 * would cost nothing. No kubelet runs here, so nobody asks for the images.
 * Usage: `createMeasuredService({ script, args: operatorArguments(operatorUser.kubeconfig), … })`
 */
import { operatorNamespace } from "./fleet-objects.ts";

export function operatorArguments(kubeconfig: string): readonly string[] {
  return [
    ...["--kubeconfig", kubeconfig, "--namespace", operatorNamespace],
    ...images.flatMap((name) => [`--${name}-image`, `registry.example/${name}:1`]),
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
