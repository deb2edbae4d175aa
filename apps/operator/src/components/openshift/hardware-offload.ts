// SPDX-License-Identifier: Apache-2.0
/**
 * Hardware offload of Open vSwitch on the nodes of an OpenShift MachineConfigPool: a MachineConfig that switches it on
 * whenever ovs-vswitchd starts (sriov-operator.md G, smartnic.md 2.6), with upstream's name and content. A changed text
 * reboots all machines of the pool, so a MachineConfig that serves the purpose stays as it is, whatever its text.
 * Usage: `offloadMachineConfig("offload")`, then `machineConfigPoolSummary(pool, offloadConfigName("offload"))`.
 */
import { policyReasons } from "@switchyard/api";
import { isRecord, type KubeObject } from "@switchyard/kube";
import type { Manifest } from "@switchyard/render";
import type { ConditionSummary } from "../../status/condition-summary.ts";
import { recordAt, roleLabel, unitsOf, wasWrittenByUpstream } from "./machine-config.ts";

/** Finds those that are ours. */
export const offloadLabels = {
  "app.kubernetes.io/managed-by": "switchyard-operator",
  "app.kubernetes.io/component": "hardware-offload",
} as const;

/** The control plane's pool, which is left alone. */
export const excludedPool = "master";

const unit = "ovs-vswitchd.service";
const dropIn = "10-hw-offload.conf";

/** Without it, ovs-vsctl waits for ovs-vswitchd, which systemd starts after it. */
const noWait = "--no-wait";

export function offloadConfigName(machineConfigPool: string): string {
  return `00-${machineConfigPool}-ovs-hw-offload`;
}

/** Upstream's since its release 1.2 (March 2023). */
export function offloadMachineConfig(machineConfigPool: string): Manifest & { readonly spec: object } {
  const contents = `[Service]\nExecStartPre=/bin/ovs-vsctl ${noWait} set Open_vSwitch . other_config:hw-offload=true\n`;
  const dropins = [{ name: dropIn, contents }];
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfig",
    metadata: {
      name: offloadConfigName(machineConfigPool),
      labels: { ...offloadLabels, [roleLabel]: machineConfigPool },
    },
    spec: {
      config: { ignition: { version: "3.2.0" }, systemd: { units: [{ name: unit, dropins }] } },
    },
  };
}

/**
 * Whether the MachineConfig already switches offload on in this pool, in any of the texts that upstream's releases have
 * written: then there is nothing to write.
 */
export function hasOffload(config: KubeObject, machineConfigPool: string): boolean {
  return config.metadata.labels?.[roleLabel] === machineConfigPool && switchesOffloadOn(config);
}

/** Whether it is ours or upstream's to delete: by our labels, or by upstream's field manager and content. */
export function isOperatorsOffload(config: KubeObject): boolean {
  const { labels = {} } = config.metadata;
  if (Object.entries(offloadLabels).every(([label, value]) => labels[label] === value)) return true;
  return wasWrittenByUpstream(config) && switchesOffloadOn(config);
}

/** What is harmful about its text, as a sentence; undefined: nothing. */
export function offloadHazard(config: KubeObject): string | undefined {
  const text = offloadText(config);
  if (text === undefined || text.includes(noWait)) return undefined;
  return (
    `the drop-in of ${config.metadata.name} runs ovs-vsctl without ${noWait}, so ovs-vswitchd may fail to start; ` +
    "delete the MachineConfig to have it replaced, which reboots the machines of the pool"
  );
}

/** How far the machines of a MachineConfigPool are with a MachineConfig. */
export function machineConfigPoolSummary(pool: unknown, configName: string): ConditionSummary {
  const spec = recordAt(pool, "spec", "configuration");
  const status = recordAt(pool, "status");
  const sources: readonly unknown[] = Array.isArray(spec["source"]) ? spec["source"] : [];
  const isTaken = sources.some((source) => isRecord(source) && source["name"] === configName);
  const isDone = isTaken && spec["name"] === recordAt(status, "configuration")["name"];
  const [updated, all] = [count(status["updatedMachineCount"]), count(status["machineCount"])];
  const message = `${updated} of ${all} machines updated`;
  const waiting = `waiting for the MachineConfigPool to include MachineConfig ${configName}`;
  return isDone
    ? { state: "ready", reason: policyReasons.configured, message }
    : { state: "progressing", reason: policyReasons.configuring, message: isTaken ? message : waiting };
}

function switchesOffloadOn(config: KubeObject): boolean {
  return /\bother_config:hw-offload=(["']?)true\1(?![\w-])/.test(offloadText(config) ?? "");
}

/** Text of the drop-in. */
function offloadText(config: KubeObject): string | undefined {
  const ofUnit = unitsOf(config).find(({ name }) => name === unit);
  return ofUnit?.dropIns.find(({ name }) => name === dropIn)?.contents;
}

function count(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
