// SPDX-License-Identifier: Apache-2.0
/**
 * offloadMachineConfig returns the MachineConfig that enables hardware offload of Open vSwitch whenever ovs-vswitchd
 * starts, with upstream's name and content (sriov-operator.md G, smartnic.md 2.6). A change of its text reboots all
 * machines of the pool, so an existing MachineConfig that enables offload is not changed, whatever its text.
 */
import { labels, policyReasons, upstreamManager } from "@switchyard/api";
import { isRecord, recordAt, type KubeObject } from "@switchyard/kube";
import type { Manifest } from "@switchyard/render";
import type { ConditionSummary } from "../../reports/condition-summary.ts";

export interface ConfiguredUnit {
  readonly name: string;
  readonly contents: string;
  readonly dropIns: readonly { readonly name: string; readonly contents: string }[];
}

/** Labels of the MachineConfigs that this operator creates. */
export const offloadLabels = {
  [labels.managedBy]: "switchyard-operator",
  "app.kubernetes.io/component": "hardware-offload",
} as const;

/** Name of the control plane's pool, which is never changed. */
export const excludedPool = "master";

const unit = "ovs-vswitchd.service";
const dropIn = "10-hw-offload.conf";

/** Without this option, ovs-vsctl waits for ovs-vswitchd, which systemd starts only afterwards. */
const noWait = "--no-wait";

export function offloadConfigName(machineConfigPool: string): string {
  return `00-${machineConfigPool}-ovs-hw-offload`;
}

/** The content is that of upstream since its release 1.2 (March 2023). */
export function offloadMachineConfig(machineConfigPool: string): Manifest & { readonly spec: object } {
  const contents = `[Service]\nExecStartPre=/bin/ovs-vsctl ${noWait} set Open_vSwitch . other_config:hw-offload=true\n`;
  const dropins = [{ name: dropIn, contents }];
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfig",
    metadata: {
      name: offloadConfigName(machineConfigPool),
      labels: { ...offloadLabels, [labels.machineConfigRole]: machineConfigPool },
    },
    spec: {
      config: { ignition: { version: "3.2.0" }, systemd: { units: [{ name: unit, dropins }] } },
    },
  };
}

/** Reports whether the MachineConfig enables offload in this pool, with the text of any release of upstream. */
export function hasOffload(config: KubeObject, machineConfigPool: string): boolean {
  return config.metadata.labels?.[labels.machineConfigRole] === machineConfigPool && enablesOffload(config);
}

/**
 * Reports whether this operator or upstream's created the MachineConfig: by labels, or by field manager and content.
 */
export function isOperatorsOffload(config: KubeObject): boolean {
  const { labels = {} } = config.metadata;
  if (Object.entries(offloadLabels).every(([label, value]) => labels[label] === value)) return true;
  return wasWrittenByUpstream(config) && enablesOffload(config);
}

/** Describes a known problem of the MachineConfig's text; undefined if it has none. */
export function offloadConfigProblem(config: KubeObject): string | undefined {
  const text = offloadText(config);
  if (text === undefined || text.includes(noWait)) return undefined;
  return (
    `the drop-in of ${config.metadata.name} runs ovs-vsctl without ${noWait}, so ovs-vswitchd may fail to start; ` +
    "delete the MachineConfig to have it replaced, which reboots the machines of the pool"
  );
}

/** Returns how many machines of a MachineConfigPool have the MachineConfig. */
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

function enablesOffload(config: KubeObject): boolean {
  return /\bother_config:hw-offload=(["']?)true\1(?![\w-])/.test(offloadText(config) ?? "");
}

/** Returns the text of the systemd drop-in. */
function offloadText(config: KubeObject): string | undefined {
  const ofUnit = unitsOf(config).find(({ name }) => name === unit);
  return ofUnit?.dropIns.find(({ name }) => name === dropIn)?.contents;
}

function count(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/**
 * unitsOf reads the systemd units of an OpenShift MachineConfig, which contains an Ignition configuration. It does not trust the
 * input. Fields that are missing or have another type are empty.
 */
export function unitsOf(config: KubeObject): readonly ConfiguredUnit[] {
  const { units } = recordAt(config, "spec", "config", "systemd");
  return recordsOf(units).map((unit) => ({
    ...namedText(unit),
    dropIns: recordsOf(unit["dropins"]).map(namedText),
  }));
}

/** Reports whether upstream's operator created or changed the object. */
function wasWrittenByUpstream({ metadata: { managedFields = [] } }: KubeObject): boolean {
  return managedFields.some(({ manager }) => manager === upstreamManager);
}

function recordsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function namedText({ name, contents }: Readonly<Record<string, unknown>>) {
  return {
    name: typeof name === "string" ? name : "",
    contents: typeof contents === "string" ? contents : "",
  };
}
