// SPDX-License-Identifier: Apache-2.0
/**
 * Hardware offload of Open vSwitch on the nodes of an OpenShift MachineConfigPool: a MachineConfig that switches it on
 * whenever ovs-vswitchd starts (sriov-operator.md G, smartnic.md 2.6), under upstream's name.
 * Usage: `offloadMachineConfig("offload")`, then `judgeMachineConfigPool(pool, offloadConfigName("offload"))`.
 */
import { policyReasons } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import type { Manifest } from "@switchyard/render";
import type { Judgement } from "../judgement.ts";

/** Finds those that are ours. */
export const offloadLabels = {
  "app.kubernetes.io/managed-by": "switchyard-operator",
  "app.kubernetes.io/component": "hardware-offload",
} as const;

/** The control plane's pool, which is left alone. */
export const excludedPool = "master";

export function offloadConfigName(machineConfigPool: string): string {
  return `00-${machineConfigPool}-ovs-hw-offload`;
}

export function offloadMachineConfig(machineConfigPool: string): Manifest & { readonly spec: object } {
  const contents = "[Service]\nExecStartPre=/bin/ovs-vsctl set Open_vSwitch . other_config:hw-offload=true\n";
  const dropins = [{ name: "10-hw-offload.conf", contents }];
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfig",
    metadata: {
      name: offloadConfigName(machineConfigPool),
      labels: { ...offloadLabels, "machineconfiguration.openshift.io/role": machineConfigPool },
    },
    spec: {
      config: { ignition: { version: "3.2.0" }, systemd: { units: [{ name: "ovs-vswitchd.service", dropins }] } },
    },
  };
}

/** How far the machines of a MachineConfigPool are with a MachineConfig. */
export function judgeMachineConfigPool(pool: unknown, configName: string): Judgement {
  const spec = recordAt(recordAt(pool, "spec"), "configuration");
  const status = recordAt(pool, "status");
  const sources: readonly unknown[] = Array.isArray(spec["source"]) ? spec["source"] : [];
  const isTaken = sources.some((source) => recordAt({ source }, "source")["name"] === configName);
  const isDone = isTaken && spec["name"] === recordAt(status, "configuration")["name"];
  const [updated, all] = [count(status["updatedMachineCount"]), count(status["machineCount"])];
  const message = `${updated} of ${all} machines updated`;
  return isDone
    ? { state: "ready", reason: policyReasons.configured, message }
    : { state: "progressing", reason: policyReasons.configuring, message: isTaken ? message : "waits for its turn" };
}

function recordAt(value: unknown, name: string): Readonly<Record<string, unknown>> {
  const inner = isRecord(value) ? value[name] : undefined;
  return isRecord(inner) ? inner : {};
}

function count(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
